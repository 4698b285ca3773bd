//! The memory that a large index takes.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use fitout_repositories::{Access, Answer, Cause, IndexedChart, Sources, Wanted};

const CHARTS: usize = 440;
const VERSIONS: usize = 80;

/// A chart as Go writes it, with all fields of a version.
fn chart(name: &str) -> String {
    let mut text = format!("  {name}:\n");
    for version in 0..VERSIONS {
        write!(
            text,
            "  - annotations:\n      artifacthub.io/changes: |\n        - kind: fixed\n          description: \"a mistake\"\n    \
             apiVersion: v2\n    appVersion: 1.{version}.0\n    created: \"2026-01-01T00:00:00Z\"\n    dependencies:\n    \
             - name: common\n      repository: oci://registry.example.com/charts\n      version: 2.x.x\n    description: \
             A chart that does what charts do, with a text that is folded because\n      it is long, as most of them are\n    \
             digest: {:064x}\n    home: https://example.com\n    keywords: [one, two]\n    name: {name}\n    urls:\n    \
             - https://example.com/charts/{name}-1.{version}.0.tgz\n    version: 1.{version}.0\n",
            version + 1
        )
        .unwrap();
    }
    text
}

/// Serves the index without holding it in memory.
fn serve(mut stream: TcpStream) -> std::io::Result<u64> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    let mut stream = BufWriter::with_capacity(1 << 16, stream);
    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\napiVersion: v1\nentries:\n")?;
    let mut sent = 0;
    for number in 0..CHARTS {
        let text = chart(&format!("chart-{number:03}"));
        sent += text.len() as u64;
        stream.write_all(text.as_bytes())?;
    }
    stream.flush()?;
    Ok(sent)
}

fn kilobytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn index_of_20_megabytes_takes_the_memory_of_one_chart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let repository = format!("http://{}", listener.local_addr().unwrap());
    let server =
        thread::spawn(move || listener.incoming().take(3).map(|stream| serve(stream.unwrap()).unwrap()).last());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sources = Sources::default();
    // Requests a missing version of the last chart, so the whole index is read. The first request is for allocations
    // that happen only once.
    let last = format!("chart-{:03}", CHARTS - 1);
    let request = Wanted { repository: &repository, chart: &last, version: Some("^9"), digest: None };
    let read = || {
        let error = runtime.block_on(sources.fetch(&request, &Access::default())).unwrap_err();
        assert!(matches!(error.cause, Cause::NoVersion { .. }), "{error}");
    };
    let read_all = || {
        let count = |count: &mut usize, chart: IndexedChart| *count += chart.versions.len();
        let answer = runtime.block_on(sources.index(&repository, None, &Access::default(), count)).unwrap();
        assert!(matches!(answer, Answer::Changed(index) if index.charts == CHARTS * VERSIONS));
    };
    read();
    let rows: [(&str, &dyn Fn()); 2] = [("one chart", &read), ("all charts", &read_all)];
    for (what, read) in rows {
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let (before, started) = (kilobytes("VmRSS"), Instant::now());
        read();
        let (took, grown) = (started.elapsed(), kilobytes("VmHWM").saturating_sub(before));
        println!("{what} of the index took {grown} kB at the peak, and {took:?}");
        assert!(grown < 4096, "{what}: {grown} kB");
    }
    let megabytes = server.join().unwrap().unwrap() >> 20;
    assert!(megabytes >= 20, "{megabytes} MB");
}
