//! Charts rendered by us and by Helm's own packages, in one process each and as commands; and how the time grows.

#![allow(clippy::unwrap_used, reason = "a measurement")]

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options};
use fitout_helm_chart::values::{self, Release};
use fitout_helm_chart::{Chart, File, template};
use fitout_helm_functions::{Environment, Replay};
use fitout_testkit::{Oracle, Programs};
use serde_json::{Value as Json, json};

/// In process: how much faster, on the geometric mean; and no chart may be slower.
const IN_PROCESS: f64 = 5.0;
/// The command: how much faster, and what part of the memory it may take.
const COMMAND: f64 = 10.0;
const MEMORY: f64 = 1.0 / 3.0;
/// What twice as many dependencies may cost, and how much faster `tpl` has to be.
const GROWTH: f64 = 2.2;
const TPL: f64 = 20.0;
/// How often each is measured in turn with Helm; the best turn counts.
const TURNS: usize = 7;

fn main() -> Result<()> {
    let programs = Programs::get()?;
    let mut oracle = Oracle::start("oracle-render")?;
    let mut missed = Vec::new();
    in_process(&programs, &mut oracle, &mut missed)?;
    commands(&programs, &mut missed)?;
    growth(&mut oracle, &mut missed)?;
    ensure!(missed.is_empty(), "{}", missed.join("; "));
    Ok(())
}

fn check(met: bool, missed: &mut Vec<String>, bar: String) {
    println!("{} {bar}", if met { "  met:" } else { "  MISSED:" });
    if !met {
        missed.push(bar);
    }
}

fn mean(ratios: &[f64]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "there are few")]
    let count = ratios.len() as f64;
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count).exp()
}

/// The files of a chart, as they are.
fn files(dir: &Path) -> Result<Vec<File>> {
    let mut found = Vec::new();
    walk(dir, "", &mut found)?;
    Ok(found)
}

fn walk(dir: &Path, prefix: &str, found: &mut Vec<File>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            walk(&path, &format!("{name}/"), found)?;
        } else {
            found.push(File::new(name, fs::read(&path)?));
        }
    }
    Ok(())
}

/// The time of one render, from files in memory to sorted documents.
fn once(files: &[File]) -> Result<Duration> {
    let files = files.to_vec();
    let begin = Instant::now();
    let mut warnings = Vec::new();
    let chart = Chart::from_files(files, &mut warnings).map_err(|error| anyhow::anyhow!("{error}"))?;
    let release = Release { name: "release".into(), namespace: "space".into(), revision: 1, is_upgrade: false };
    let capabilities = Capabilities::assumed(KubeVersion::parse("1.36.0").map_err(anyhow::Error::msg)?);
    let world: Rc<dyn Environment> = Rc::new(Replay::default());
    let given = values::load(b"").map_err(|error| anyhow::anyhow!("{error}"))?;
    let rendered = template(chart, &given, &release, &capabilities, &world, &Options::default(), &mut warnings)?;
    let took = begin.elapsed();
    drop(rendered);
    Ok(took)
}

fn ours(files: &[File], times: u32) -> Result<f64> {
    let mut total = Duration::ZERO;
    for _ in 0..times {
        total += once(files)?;
    }
    Ok((total / times).as_secs_f64() * 1000.0)
}

fn theirs(oracle: &mut Oracle, chart: &Path, times: u32) -> Result<Option<f64>> {
    let answer = oracle.ask(&[json!({ "chart": chart, "times": times })])?.remove(0);
    if answer["error"].is_string() {
        return Ok(None);
    }
    let nanos = |step: &str| answer[step].as_f64().unwrap_or_default();
    Ok(Some((nanos("load") + nanos("render") + nanos("sort")) / 1e6))
}

fn in_process(programs: &Programs, oracle: &mut Oracle, missed: &mut Vec<String>) -> Result<()> {
    println!("{:28} {:>10} {:>10} {:>7}", "in process", "Helm", "ours", "ratio");
    let mut ratios = Vec::new();
    for (name, path) in programs.charts()? {
        // What Helm refuses is not measured.
        let Some(first) = theirs(oracle, &path, 1)? else { continue };
        let times = if first < 20.0 { 10 } else { 2 };
        let files = files(&path)?;
        // Helm's packages render it without its dependencies; its command, and we, do not.
        if once(&files).is_err_and(|error| error.to_string().contains("missing in charts/ directory")) {
            continue;
        }
        let (mut helm, mut fitout) = (f64::MAX, f64::MAX);
        for _ in 0..TURNS {
            helm = helm.min(theirs(oracle, &path, times)?.context("it did a moment ago")?);
            fitout = fitout.min(ours(&files, times).with_context(|| name.clone())?);
        }
        let ratio = helm / fitout;
        println!("{name:28} {helm:>7.2} ms {fitout:>7.2} ms {ratio:>6.1}x");
        ratios.push(ratio);
    }
    let least = ratios.iter().copied().fold(f64::MAX, f64::min);
    let mean = mean(&ratios);
    let bar = format!("in process {mean:.1} times as fast on the mean of {} charts (bar {IN_PROCESS})", ratios.len());
    check(mean >= IN_PROCESS, missed, bar);
    check(least >= 1.0, missed, format!("the slowest chart is {least:.1} times as fast (bar 1)"));
    Ok(())
}

/// The best time in milliseconds, and the memory in megabytes.
fn command(oracle: &mut Oracle, words: &[&str]) -> Result<(f64, f64)> {
    let (mut wall, mut memory) = (f64::MAX, f64::MAX);
    for _ in 0..TURNS {
        let answer: Json = oracle.ask(&[json!(words)])?.remove(0);
        ensure!(!answer["error"].is_string(), "{answer}");
        wall = wall.min(answer["wall"].as_f64().unwrap_or_default() / 1e6);
        memory = memory.min(answer["memory"].as_f64().unwrap_or_default() / 1000.0);
    }
    Ok((wall, memory))
}

fn commands(programs: &Programs, missed: &mut Vec<String>) -> Result<()> {
    let oracle = &mut Oracle::start("oracle-command")?;
    let fitout = PathBuf::from(std::env::var_os("FITOUT").context("FITOUT names the program")?);
    let (helm, fitout) = (programs.helm(), fitout.display().to_string());
    println!("\n{:28} {:>10} {:>10} {:>7} {:>9} {:>9} {:>6}", "command", "Helm", "ours", "ratio", "Helm", "ours", "");
    let (mut speeds, mut memories) = (Vec::new(), Vec::new());
    for (name, path) in programs.charts()? {
        let rest = ["template", "release", &path.display().to_string(), "--kube-version", "1.36.0"].map(str::to_owned);
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let helm = command(oracle, &[&[&*helm.to_string_lossy()], &rest[..]].concat())?;
        let ours = command(oracle, &[&[&fitout, "chart"], &rest[..]].concat())?;
        let (speed, memory) = (helm.0 / ours.0, ours.1 / helm.1);
        println!(
            "{name:28} {:>7.1} ms {:>7.1} ms {speed:>6.1}x {:>6.1} MB {:>6.1} MB {memory:>5.2}",
            helm.0, ours.0, helm.1, ours.1
        );
        speeds.push(speed);
        memories.push(memory);
    }
    let (speed, most) = (mean(&speeds), memories.iter().copied().fold(0.0, f64::max));
    check(speed >= COMMAND, missed, format!("the command is {speed:.1} times as fast on the mean (bar {COMMAND})"));
    check(most <= MEMORY, missed, format!("the command takes at most {most:.2} of the memory (bar {MEMORY:.2})"));
    Ok(())
}

/// A chart with so many dependencies.
fn with_subcharts(count: usize) -> Vec<File> {
    let mut files = vec![
        File::new("Chart.yaml", "apiVersion: v2\nname: top\nversion: 0.1.0\n"),
        File::new("values.yaml", "global: {team: a}\n"),
    ];
    for number in 0..count {
        let dir = format!("charts/sub{number}");
        let about = format!("apiVersion: v2\nname: sub{number}\nversion: 0.1.0\n");
        files.push(File::new(format!("{dir}/Chart.yaml"), about.as_str()));
        files.push(File::new(
            format!("{dir}/values.yaml"),
            "image: {name: web, tag: v1}\nreplicas: 3\nlabels: {a: b, c: d}\n",
        ));
        let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Chart.Name }}\n  labels: {{- toYaml \
                        .Values.labels | nindent 4 }}\ndata:\n  image: {{ .Values.image.name }}:{{ .Values.image.tag }}\n  \
                        team: {{ .Values.global.team }}\n";
        files.push(File::new(format!("{dir}/templates/all.yaml"), template));
    }
    files
}

fn growth(oracle: &mut Oracle, missed: &mut Vec<String>) -> Result<()> {
    println!("\ngrowth");
    let (small, large) = (with_subcharts(50), with_subcharts(100));
    let (mut fifty, mut hundred) = (f64::MAX, f64::MAX);
    for _ in 0..4 * TURNS {
        fifty = fifty.min(ours(&small, 3)?);
        hundred = hundred.min(ours(&large, 3)?);
    }
    let ratio = hundred / fifty;
    let bar = format!("100 dependencies take {hundred:.2} ms, 50 take {fifty:.2} ms: {ratio:.2} times (bar {GROWTH})");
    check(ratio <= GROWTH, missed, bar);
    let dir = std::env::temp_dir().join(format!("fitout-tpl-{}", std::process::id()));
    fs::create_dir_all(dir.join("templates"))?;
    fs::write(dir.join("Chart.yaml"), "apiVersion: v2\nname: many\nversion: 0.1.0\n")?;
    fs::write(dir.join("values.yaml"), "text: '{{ .Release.Name }}-{{ .Values.suffix }}'\nsuffix: x\n")?;
    let template = "{{ range $i := until 2000 }}\nk{{ $i }}: {{ tpl $.Values.text $ }}\n{{ end }}\n";
    fs::write(dir.join("templates/all.yaml"), template)?;
    let tpl = files(&dir)?;
    let (mut helm, mut fitout) = (f64::MAX, f64::MAX);
    for _ in 0..TURNS {
        helm = helm.min(theirs(oracle, &dir, 2)?.context("Helm renders it")?);
        fitout = fitout.min(ours(&tpl, 5)?);
    }
    fs::remove_dir_all(&dir)?;
    let ratio = helm / fitout;
    check(
        ratio >= TPL,
        missed,
        format!("2,000 calls of tpl: Helm {helm:.1} ms, ours {fitout:.2} ms: {ratio:.1} times (bar {TPL})"),
    );
    Ok(())
}
