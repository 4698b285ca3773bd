//! `coverage`: lists the lines of Go code that a fuzzer never reaches. Each needs a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use fitout_testkit::paths;

const REASONS: &str = "crates/helm/functions/tests/uncovered.txt";
/// The packages that Go instruments. Go writes counters only where the main package is instrumented too.
const PACKAGES: &str = "./functions,text/template,github.com/Masterminds/sprig/v3,helm.sh/helm/v4/pkg/engine";
const SOURCES: [&str; 4] = [
    "text/template/exec.go",
    "text/template/funcs.go",
    "github.com/Masterminds/sprig/v3/",
    "helm.sh/helm/v4/pkg/engine/funcs.go",
];

#[derive(Args)]
pub(crate) struct Options {
    /// The fuzzer
    #[arg(value_enum)]
    fuzzer: Fuzzer,
    /// Number of generated templates
    #[arg(long, default_value_t = 40_000)]
    templates: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fuzzer {
    /// Templates with all functions, against Go's text/template, sprig and Helm's functions
    Functions,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let Fuzzer::Functions = options.fuzzer;
    let folder = paths::cache()?.join("coverage");
    let profile = measure(&folder, options.templates)?;
    let sources = sources(&profile)?;
    for (file, lines) in &sources {
        println!("{file}: {} of {} statements are never reached", lines.missed, lines.statements);
    }
    let reasons = fs::read_to_string(paths::checkout().join(REASONS)).with_context(|| format!("read {REASONS}"))?;
    let wrong = differences(&sources, &listed(&reasons)?);
    ensure!(wrong.is_empty(), "{REASONS} does not match the coverage:\n  {}", wrong.join("\n  "));
    Ok(())
}

/// Runs the fuzzer against instrumented oracles, with the same templates each time so that the result is stable.
fn measure(folder: &Path, templates: u64) -> Result<String> {
    let data = folder.join("data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    fs::create_dir_all(&data)?;
    let mut build = Command::new("go");
    build
        .args(["build", "-cover", "-coverpkg", PACKAGES, "-o"])
        .arg(folder.join("oracle-functions"))
        .arg("./functions");
    succeed(build.current_dir(paths::checkout().join("testbed/oracle")))?;
    let mut fuzzer = Command::new(env!("CARGO"));
    fuzzer
        .args(["test", "--quiet", "--package", "fitout-helm-functions", "--test", "live_oracle", "--locked", "--"])
        .args(["--exact", "templates_make_the_same_of_values"])
        .current_dir(paths::checkout())
        .env("FITOUT_ORACLES", folder)
        .env("GOCOVERDIR", &data)
        .env("FITOUT_SEED", "1")
        .env("FITOUT_FUZZ_SECONDS", u64::from(u32::MAX).to_string())
        .env("FITOUT_FUZZ_TEMPLATES", templates.to_string());
    succeed(&mut fuzzer)?;
    let profile = folder.join("profile.txt");
    let written = |flag: &str, path: &Path| format!("{flag}={}", path.display());
    succeed(Command::new("go").args(["tool", "covdata", "textfmt", &written("-i", &data), &written("-o", &profile)]))?;
    fs::read_to_string(&profile).with_context(|| format!("read {}", profile.display()))
}

fn succeed(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    ensure!(command.status().with_context(|| format!("run {name}"))?.success(), "{name} failed");
    Ok(())
}

/// A block of statements.
struct Block {
    lines: RangeInclusive<u32>,
    statements: u32,
    reached: bool,
}

/// The coverage of a file by lines.
#[derive(Debug, Default)]
struct Lines {
    reached: BTreeSet<u32>,
    unreached: BTreeSet<u32>,
    statements: u32,
    missed: u32,
}

/// Parses a profile. Blocks begin and end within lines, so a line may belong to several. It counts as reached where one of
/// its blocks is, unless it is the only line of a block that is not.
fn sources(profile: &str) -> Result<BTreeMap<&str, Lines>> {
    let mut blocks: BTreeMap<&str, Vec<Block>> = BTreeMap::new();
    for line in profile.lines().skip(1) {
        let (file, rest) = line.rsplit_once(':').context("a line of the profile names a file")?;
        let block = block(rest).with_context(|| format!("a line of the profile: {line}"))?;
        if SOURCES.iter().any(|source| file.starts_with(source)) && block.statements > 0 {
            blocks.entry(file).or_default().push(block);
        }
    }
    Ok(blocks.into_iter().map(|(file, blocks)| (file, lines(&blocks))).collect())
}

fn block(text: &str) -> Option<Block> {
    let [place, statements, count] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let (from, to) = place.split_once(',')?;
    let line = |place: &str| place.split('.').next()?.parse::<u32>().ok();
    Some(Block { lines: line(from)?..=line(to)?, statements: statements.parse().ok()?, reached: count != "0" })
}

fn lines(blocks: &[Block]) -> Lines {
    let mut all = Lines::default();
    for Block { lines, statements, reached } in blocks {
        all.statements += statements;
        if *reached {
            all.reached.extend(lines.clone());
        } else {
            all.missed += statements;
        }
    }
    for Block { lines, .. } in blocks.iter().filter(|block| !block.reached) {
        let own: Vec<_> = lines.clone().filter(|line| !all.reached.contains(line)).collect();
        all.unreached.extend(if own.is_empty() { vec![*lines.start()] } else { own });
    }
    all
}

/// The lines that have a reason, by file.
fn listed(text: &str) -> Result<BTreeMap<&str, Vec<RangeInclusive<u32>>>> {
    let mut all: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    let mut file = None;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((place, reason)) = line.split_once(' ') else {
            file = Some(line);
            continue;
        };
        let (from, to) = place.split_once('-').unwrap_or((place, place));
        let (Ok(from), Ok(to)) = (from.parse(), to.parse()) else {
            bail!("{REASONS}: {line}: expected a line or a range of lines")
        };
        ensure!(!reason.trim().is_empty(), "{REASONS}: {line}: the reason is missing");
        all.entry(file.with_context(|| format!("{REASONS}: {line}: no file is named before"))?)
            .or_default()
            .push(from..=to);
    }
    Ok(all)
}

/// Lines that are never reached and have no reason, and lines that are reached and have one.
fn differences(sources: &BTreeMap<&str, Lines>, listed: &BTreeMap<&str, Vec<RangeInclusive<u32>>>) -> Vec<String> {
    let unknown = listed.keys().filter(|file| !sources.contains_key(*file));
    let mut wrong: Vec<_> = unknown.map(|file| format!("{file}: no such file in the coverage")).collect();
    for (file, lines) in sources {
        let ranges = listed.get(file).map_or(&[][..], Vec::as_slice);
        let without = lines.unreached.iter().filter(|line| !ranges.iter().any(|range| range.contains(line)));
        for (from, to) in runs(without.copied()) {
            wrong.push(format!("{file}: {from}-{to} is never reached: add a reason, or templates that reach it"));
        }
        for range in ranges {
            let reached = |line: &u32| lines.reached.contains(line) && !lines.unreached.contains(line);
            if let Some(line) = range.clone().find(reached) {
                wrong.push(format!("{file}: {line} is reached: remove its reason"));
            } else if !range.clone().any(|line| lines.unreached.contains(&line)) {
                wrong.push(format!("{file}: {} has no statements", range.start()));
            }
        }
    }
    wrong
}

/// Runs of consecutive lines, each as its first and last line.
fn runs(lines: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => runs.push((line, line)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "mode: set\n\
        text/template/exec.go:1.10,3.12 2 1\n\
        text/template/exec.go:3.12,5.3 1 0\n\
        text/template/exec.go:6.2,6.9 0 0\n\
        text/template/exec.go:2.5,2.9 1 0\n\
        text/template/other.go:1.1,9.9 4 0\n";

    fn wrong(reasons: &str) -> Vec<String> {
        differences(&sources(PROFILE).unwrap(), &listed(reasons).unwrap())
    }

    #[test]
    fn unreached_line_needs_a_reason() {
        assert_eq!(wrong("# why\ntext/template/exec.go\n2 it is short\n4-5 it cannot happen\n"), Vec::<String>::new());
        let [short, long] = &wrong("")[..] else { panic!("expected two runs") };
        assert!(short.starts_with("text/template/exec.go: 2-2 is never reached"), "{short}");
        assert!(long.starts_with("text/template/exec.go: 4-5 is never reached"), "{long}");
    }

    #[test]
    fn reached_line_has_no_reason() {
        let said = wrong("text/template/exec.go\n2-3 a\n4-5 b\n6 c\n").join("\n");
        assert!(said.contains("exec.go: 3 is reached") && said.contains("exec.go: 6 has no statements"), "{said}");
        assert!(wrong("no.go\n1 a\n").join("\n").contains("no.go: no such file"));
    }

    #[test]
    fn list_of_reasons_is_valid() -> Result<()> {
        let all = listed(include_str!("../../crates/helm/functions/tests/uncovered.txt"))?;
        assert!(all.keys().all(|file| SOURCES.iter().any(|source| file.starts_with(source))), "{all:?}");
        assert!(listed("a.go\nx-y z\n").is_err() && listed("1-2 before any file\n").is_err());
        Ok(())
    }
}
