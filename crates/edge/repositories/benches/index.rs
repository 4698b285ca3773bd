//! Reading a whole index of 25 MB: ours over HTTP, and Helm's from a file, each in a process of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement")]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fitout_repositories::{Access, Answer, IndexedChart, Sources, Validators};
use fitout_snapshot::{ChartLocation, chart_definitions};
use fitout_testkit::Programs;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// How much faster, and what part of the memory.
const SPEED: f64 = 5.0;
const MEMORY: f64 = 0.25;
/// How often each is measured in turn with Helm; the best turn counts.
const TURNS: usize = 5;
const CHARTS: usize = 500;
const VERSIONS: usize = 40;
const ETAG: &str = "\"one\"";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "--read") {
        let has = |name: &str| words.iter().any(|word| word == name);
        return read(&words[at + 1], has("--unchanged"), has("--definitions"));
    }
    compare()
}

/// Reads an index in this process, and prints the result as JSON.
fn read(repository: &str, is_known: bool, with_definitions: bool) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let sources = Sources::default();
    let known = is_known.then(|| Validators { etag: Some(ETAG.to_owned()), last_modified: None });
    let count = |found: &mut (usize, usize), chart: IndexedChart| {
        let versions = if with_definitions {
            let location = ChartLocation { repository, chart: &chart.name };
            chart_definitions(&chart.versions, &location).0.len()
        } else {
            chart.versions.len()
        };
        *found = (found.0 + 1, found.1 + versions);
    };
    let processor = processor_time()?;
    let begin = Instant::now();
    let answer = runtime.block_on(sources.index(repository, known.as_ref(), &Access::default(), count))?;
    let took = begin.elapsed();
    let processor = processor_time()? - processor;
    let (charts, versions) = match &answer {
        Answer::Unchanged => (0, 0),
        Answer::Changed(index) => index.charts,
    };
    println!(
        "{}",
        json!({
            "time": u64::try_from(took.as_nanos())?,
            "processor": processor,
            "memory": kilobytes("VmHWM")?,
            "charts": charts,
            "versions": versions,
        })
    );
    Ok(())
}

/// The processor time of this process in milliseconds.
#[allow(clippy::cast_precision_loss, reason = "there are few")]
fn processor_time() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/schedstat")?;
    Ok(text.split(' ').next().context("no time")?.parse::<u64>()? as f64 / 1e6)
}

fn kilobytes(name: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
    Ok(line.trim_start_matches(':').trim().trim_end_matches(" kB").parse()?)
}

fn compare() -> Result<()> {
    let dir = std::env::temp_dir().join(format!("fitout-index-{}", std::process::id()));
    fs::create_dir_all(&dir)?;
    let result = compare_in(&dir);
    fs::remove_dir_all(&dir)?;
    result
}

fn compare_in(dir: &Path) -> Result<()> {
    let text = index();
    let path = dir.join("index.yaml");
    fs::write(&path, &text)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    let megabytes = megabytes(text.len() as u64 / 1000);
    let repository = serve(text.into_bytes(), encoder.finish()?)?;
    let own = std::env::current_exe()?.display().to_string();
    let helm = Programs::get()?.oracle("oracle-index")?.display().to_string();
    let (path, gzipped) = (path.display().to_string(), format!("{repository}/gzipped"));
    let rows = [
        ("Helm", vec![helm.as_str(), &path]),
        ("ours", vec![&own, "--read", &repository]),
        ("ours, gzipped", vec![&own, "--read", &gzipped]),
        ("ours, defined", vec![&own, "--read", &repository, "--definitions"]),
        ("ours, unchanged", vec![&own, "--read", &repository, "--unchanged"]),
    ];
    println!("an index of {megabytes:.1} MB, {CHARTS} charts with {VERSIONS} versions each");
    println!("{:16} {:>10} {:>10} {:>10}", "", "time", "processor", "memory");
    let mut best = [(f64::MAX, f64::MAX, f64::MAX); 5];
    for _ in 0..TURNS {
        for ((name, words), best) in rows.iter().zip(&mut best) {
            let found = run(words).with_context(|| (*name).to_owned())?;
            let expected = if name.ends_with("unchanged") { json!([0, 0]) } else { json!([CHARTS, CHARTS * VERSIONS]) };
            ensure!(json!([found["charts"], found["versions"]]) == expected, "{name} found {found}");
            let number = |key: &str| found[key].as_f64().unwrap_or_default();
            best.0 = best.0.min(number("time") / 1e6);
            best.1 = best.1.min(number("processor"));
            best.2 = best.2.min(number("memory") / 1000.0);
        }
    }
    for ((name, _), (time, processor, memory)) in rows.iter().zip(&best) {
        let processor = if *name == "Helm" { String::new() } else { format!("{processor:.1} ms") };
        println!("{name:16} {time:>7.1} ms {processor:>10} {memory:>7.1} MB");
    }
    let (speed, part) = (best[0].0 / best[1].0, best[1].2 / best[0].2);
    let bars = [
        (speed >= SPEED, format!("{speed:.1} times as fast as Helm (bar {SPEED})")),
        (part <= MEMORY, format!("{part:.3} of Helm's memory (bar {MEMORY})")),
    ];
    for (met, bar) in &bars {
        println!("{} {bar}", if *met { "  met:" } else { "  MISSED:" });
    }
    ensure!(bars.iter().all(|(met, _)| *met), "a bar is missed");
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "there are few")]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1000.0
}

/// What a program prints.
fn run(words: &[&str]) -> Result<Value> {
    let output = Command::new(words[0]).args(&words[1..]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Serves the index, below `/gzipped` with compression.
fn serve(plain: Vec<u8>, gzipped: Vec<u8>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let bodies = Arc::new((plain, gzipped));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let bodies = Arc::clone(&bodies);
            thread::spawn(move || answer(stream.unwrap(), &bodies.0, &bodies.1).unwrap());
        }
    });
    Ok(url)
}

fn answer(mut stream: TcpStream, plain: &[u8], gzipped: &[u8]) -> Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    if head.contains("if-none-match") {
        stream.write_all(b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")?;
        return Ok(());
    }
    let is_gzipped = head.starts_with("get /gzipped/");
    let (encoding, body) = if is_gzipped { ("Content-Encoding: gzip\r\n", gzipped) } else { ("", plain) };
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\nETag: {ETAG}\r\n{encoding}Content-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(body)?)
}

/// An index as Helm writes it, with what charts usually have.
fn index() -> String {
    let mut text = "apiVersion: v1\nentries:\n".to_owned();
    for chart in 0..CHARTS {
        writeln!(text, "  chart-{chart:03}:").unwrap();
        for version in (0..VERSIONS).rev() {
            entry(&mut text, &format!("chart-{chart:03}"), version);
        }
    }
    text.push_str("generated: \"2026-01-01T00:00:00.123456789Z\"\n");
    text
}

fn entry(text: &mut String, name: &str, version: usize) {
    let digest = fitout_model::Digest::of(format!("{name} {version}"));
    let digest = &digest.as_str()[7..];
    write!(
        text,
        r#"  - annotations:
      artifacthub.io/changes: |
        - kind: fixed
          description: "the mistake of the last version, which is described in a sentence"
      artifacthub.io/images: |
        - name: {name}
          image: registry.example.com/{name}/server:1.{version}.0@sha256:{digest}
      artifacthub.io/license: Apache-2.0
      artifacthub.io/category: database
    apiVersion: v2
    appVersion: 1.{version}.0
    created: "2026-01-01T00:00:00.123456789Z"
    dependencies:
    - condition: postgresql.enabled
      name: postgresql
      repository: oci://registry.example.com/charts
      version: ~12.1.0
    description: A chart that does what charts do, with a text that is folded because
      it is long, as most of them are
    digest: {digest}
    home: https://example.com/{name}
    icon: https://example.com/{name}/icon.svg
    keywords:
    - {name}
    - database
    - cloud native
    kubeVersion: '>=1.23.0-0'
    maintainers:
    - email: someone@example.com
      name: Some One
    name: {name}
    type: application
    urls:
    - https://example.com/charts/{name}-1.{version}.0.tgz
    version: 1.{version}.0
"#
    )
    .unwrap();
}
