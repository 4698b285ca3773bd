#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;

use fitout_model::Digest;
use fitout_snapshot::ChartVersion;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{AllCharts, IndexReader, OneChart, Release, ScanError};
use crate::IndexError;

type Found = Option<Vec<Release>>;

/// Scans an index that is received in chunks of this size.
fn scanned(text: &[u8], chart: &str, size: usize) -> Result<Found, ScanError> {
    let mut reader = IndexReader::new(OneChart::new(chart), 1 << 30, false);
    for bytes in text.chunks(size) {
        if !reader.read(bytes)? {
            break;
        }
    }
    Ok(reader.finish()?.0.charts.releases)
}

fn parse_whole(text: &[u8], chart: &str) -> Result<Found, IndexError> {
    super::parse_whole(text, || OneChart::new(chart)).map(|read| read.charts.releases)
}

fn release(version: &str, url: &str) -> Release {
    Release { version: version.to_owned(), urls: vec![url.to_owned()], digest: None }
}

/// Indexes with chart `b` in version 1.0.0 at `b-1.0.0.tgz`, which the scan supports.
const SUPPORTED: [&str; 12] = [
    "apiVersion: v1\nentries:\n  a:\n  - name: a\n    version: 9.0.0\n  b:\n  - name: b\n    version: 1.0.0\n    urls:\n    - b-1.0.0.tgz\n  c:\n  - name: c\ngenerated: x\n",
    "apiVersion: v1\nentries:\n    b:\n      - name: b\n        version: 1.0.0\n        urls:\n          - b-1.0.0.tgz\n",
    "---\n# made\n\napiVersion: v1 # one\nentries: # all\n  # first\n  b: # it\n  # of these\n  - version: 1.0.0\n    name: b\n    urls: [b-1.0.0.tgz]",
    "\u{feff}apiVersion: v1\r\nentries:\r\n  b:\r\n  - name: b\r\n    version: 1.0.0\r\n    urls:\r\n    - b-1.0.0.tgz\r\n",
    "entries:\n  b:\n  - name: b\n    version: 1.0.0\n    urls:\n    - b-1.0.0.tgz\napiVersion: v1\n",
    "entries:\n  b:\n  -\n    name: b\n    version: 1.0.0\n    urls:\n    - b-1.0.0.tgz\napiVersion: v1\n---\nentries:\n  b: []\n",
    // Scalars that contain lines like those of the chart.
    "apiVersion: v1\nentries:\n  a:\n  - description: |\n      text\n\n      b:\n      - name: a\n  b:\n  - {name: b, version: 1.0.0, urls: [b-1.0.0.tgz]}\n",
    "apiVersion: v1\nentries:\n  a:\n  - description: one\n      b\n    version: \"two\n  b:\n  - three\"\n  b:\n  - {name: b, version: 1.0.0, urls: [b-1.0.0.tgz]}\n",
    "apiVersion: v1\nentries:\n  a:\n  - description: 'it''s\n  b:\n  - three'\n    list: [a, 'b]',\n  b:\n  ]\n  b:\n  - {name: b, version: 1.0.0, urls: [b-1.0.0.tgz]}\n",
    "apiVersion: v1\nentries:\n  a:\n  - >-\n    folded\n  b :\n  - {\"name\":\"b\",\"version\":\"1.0.0\",\"urls\":[\"b-1.0.0.tgz\"]} # flow\n",
    "apiVersion: v1\n\"entries\":\n  'a': []\n  \"b\":\n  - {name: b, version: 1.0.0, urls: [b-1.0.0.tgz]}\n",
    "annotations:\n  entries: x\n  b:\n  - y\nlist:\n- entries:\n  b:\napiVersion: v1\nentries:\n  b:\n  - {name: b, version: 1.0.0, urls: [b-1.0.0.tgz]}\n",
];

#[test]
fn index_is_scanned_in_chunks_of_any_size() {
    let expected = Ok(Some(vec![release("1.0.0", "b-1.0.0.tgz")]));
    for text in SUPPORTED {
        assert_eq!(parse_whole(text.as_bytes(), "b").map_err(ScanError::Invalid), expected, "{text}");
        for size in [1, 2, 3, 7, 64, usize::MAX] {
            assert_eq!(scanned(text.as_bytes(), "b", size), expected, "{text}");
        }
    }
}

#[test]
fn unsupported_yaml_is_left_to_the_whole_parser() {
    let rows = [
        r#"{"apiVersion": "v1", "x": [1], "entries": {"a": 1, "b": [{"name": "b", "version": "1.0.0", "urls": ["u"]}]}}"#,
        "{apiVersion: v1, entries: {b: [{name: b, version: 1.0.0, urls: [u]}]}}",
        "apiVersion: v1\nentries: {b: [{name: b, version: 1.0.0, urls: [u]}]}",
        "apiVersion: v1\nentries:\n  b: [{name: b, version: 1.0.0, urls: [u]}]",
        "apiVersion: v1\nentries:\n  b:\n  - &one\n    name: b\n    version: 1.0.0\n    urls: [u]\n",
        "apiVersion: v1\nentries:\n  a: &all\n  - name: b\n    version: 1.0.0\n    urls: [u]\n  b: *all\n",
        "apiVersion: v1\nentries:\n  ? b\n  : - name: b\n      version: 1.0.0\n      urls: [u]\n",
        "%YAML 1.1\n---\napiVersion: v1\nentries:\n  b:\n  - name: b\n    version: 1.0.0\n    urls: [u]\n",
        "  apiVersion: v1\n  entries:\n    b:\n    - name: b\n      version: 1.0.0\n      urls: [u]\n",
        "apiVersion: v1\rentries:\r  b:\r  - name: b\r    version: 1.0.0\r    urls: [u]\r",
        "apiVersion: v1\nentries:\n  b:\n  - name: b\n    version:\n      1.0.0\n    urls: [u]\n",
    ];
    for text in rows {
        assert_eq!(scanned(text.as_bytes(), "b", 5), Err(ScanError::Unsupported), "{text}");
        assert_eq!(parse_whole(text.as_bytes(), "b"), Ok(Some(vec![release("1.0.0", "u")])), "{text}");
    }
}

#[test]
fn digest_that_reads_as_a_number_is_not_forgotten() {
    let text =
        b"apiVersion: v1\nentries:\n  b:\n  - {name: b, version: 1.0.0, digest: 12e3}\n  - {name: b, version: 2.0.0}\n";
    let found = scanned(text, "b", 8).unwrap().unwrap();
    let digests: Vec<_> = found.iter().map(|release| release.digest.as_deref()).collect();
    assert_eq!(digests, [Some("12000"), None]);
    let (all, _) = scanned_all(text, 8).unwrap();
    let digests: Vec<_> = all["b"].iter().map(|version| version.digest.as_deref()).collect();
    assert_eq!(digests, [Some("12000"), None]);
}

#[test]
fn invalid_index_is_rejected_by_scan_and_parser() {
    let rows = [
        "",
        "entries:\n  b:\n  - name: b\n",
        "apiVersion: v1\nentries:\n  b:\n  - name: \"b\n",
        "<!DOCTYPE html>\n<p>x",
    ];
    for text in rows {
        assert!(
            matches!(scanned(text.as_bytes(), "b", 9), Err(ScanError::Invalid(_) | ScanError::Unsupported)),
            "{text}"
        );
        assert!(parse_whole(text.as_bytes(), "b").is_err(), "{text}");
    }
}

#[test]
fn missing_chart_is_none_and_chart_without_versions_is_empty() {
    let text =
        b"apiVersion: v1\nentries:\n  a: []\n  c:\n  d:\n  - null\n  - name: d\n  - {name: d, version: x}\n  yes: []\n";
    let rows = [
        ("b", None),
        ("a", Some(vec![])),
        ("c", Some(vec![])),
        ("d", Some(vec![])),
        ("yes", None),
        ("true", Some(vec![])),
    ];
    for (chart, expected) in rows {
        assert_eq!(scanned(text, chart, 8), Ok(expected.clone()), "{chart}");
        assert_eq!(parse_whole(text, chart), Ok(expected), "{chart}");
    }
}

#[test]
fn gzipped_index_is_scanned_and_must_be_complete() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(SUPPORTED[0].as_bytes()).unwrap();
    let archive = encoder.finish().unwrap();
    let read = |bytes: &[u8], chart: &str| {
        let mut reader = IndexReader::new(OneChart::new(chart), 1 << 20, true);
        for chunk in bytes.chunks(3) {
            if !reader.read(chunk)? {
                break;
            }
        }
        Ok(reader.finish()?.0.charts.releases)
    };
    assert_eq!(read(&archive, "b"), Ok(Some(vec![release("1.0.0", "b-1.0.0.tgz")])));
    assert!(matches!(read(&archive[..archive.len() - 20], "z"), Err(ScanError::Invalid(_))));
    assert!(matches!(read(SUPPORTED[0].as_bytes(), "b"), Err(ScanError::Invalid(_))));
}

#[test]
fn index_over_the_limit_is_too_large() {
    let mut reader = IndexReader::new(OneChart::new("b"), 100, false);
    assert_eq!(reader.read(&[b'\n'; 100]), Ok(true));
    assert_eq!(reader.read(b"\n"), Ok(false));
    assert_eq!(reader.finish().err(), Some(ScanError::TooLarge));
}

/// All charts by name, and the time of the index.
type All = (BTreeMap<String, Vec<ChartVersion>>, Option<String>);

fn scanned_all(text: &[u8], size: usize) -> Result<All, ScanError> {
    let mut charts = BTreeMap::new();
    let receiver = AllCharts::new(1000, |chart| drop(charts.insert(chart.name, chart.versions)));
    let mut reader = IndexReader::with_digest(receiver, 1 << 30, false);
    for bytes in text.chunks(size) {
        if !reader.read(bytes)? {
            break;
        }
    }
    let (found, digest) = reader.finish()?;
    assert_eq!(digest, Some(Digest::of(text)));
    let generated = found.generated;
    Ok((charts, generated))
}

fn parse_whole_all(text: &[u8]) -> Result<All, IndexError> {
    let charts = RefCell::new(BTreeMap::new());
    let receiver = || AllCharts::new(1000, |chart| drop(charts.borrow_mut().insert(chart.name, chart.versions)));
    let generated = super::parse_whole(text, receiver)?.generated;
    Ok((charts.into_inner(), generated))
}

/// For random indexes of these lines, the scan finds the same as the parser, or fails as unsupported.
#[test]
fn scan_finds_the_same_as_the_whole_parser() {
    const LINES: [&str; 40] = [
        "apiVersion: v1",
        "entries:",
        "generated: x",
        "  a:",
        "  b:",
        "  \"b\":",
        "    b:",
        "  - name: b",
        "    name: b",
        "    version: 1.0.0",
        "  - version: 2.0.0",
        "    - version: 3.0.0",
        "    urls:",
        "    - x",
        "    urls: [x,",
        "      y]",
        "    description: |",
        "    description: \"one",
        "    two\"",
        "    text: 'it",
        "  is'",
        "",
        "  # comment",
        "- x",
        "---",
        "      deep: er",
        "    k: v: w",
        "  b: []",
        "  b: null",
        "    description: long",
        "      text",
        "    digest: abc",
        "      - name: b",
        "        version: 4.0.0",
        "    m: {a: b, c: 'd'}",
        "    n: {a: [",
        "    ]}",
        "  c: &x",
        "  - *x",
        "    ? q",
    ];
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let (mut same, mut unsupported, mut same_all) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut text = "apiVersion: v1\nentries:\n".to_owned();
        for _ in 0..=next(9) {
            text.push_str(LINES[next(LINES.len())]);
            text.push('\n');
        }
        // Helm rejects duplicate keys; the scan does not look for them.
        let (Ok(expected), Ok(_)) = (parse_whole(text.as_bytes(), "b"), fitout_go_yaml::from_yaml_strict(&text)) else {
            continue;
        };
        match scanned(text.as_bytes(), "b", 11) {
            Err(ScanError::Unsupported) => unsupported += 1,
            found => {
                assert_eq!(found, Ok(expected), "{text}");
                same += 1;
            }
        }
        match (scanned_all(text.as_bytes(), 11), parse_whole_all(text.as_bytes())) {
            (Err(ScanError::Unsupported), _) => {}
            // Without the versions of one of the charts as a list, the parser fails for all.
            (found, expected) => {
                assert_eq!(found, expected.map_err(ScanError::Invalid), "{text}");
                same_all += 1;
            }
        }
    }
    assert!(
        same > 100 && unsupported > 10 && same_all > 100,
        "{same} and {same_all} the same, {unsupported} unsupported"
    );
}
