//! Input that is far too large takes bounded memory and time. One test, because it measures the memory of the process.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use fitout_catalogs::{ARCHIVE_LIMITS, RawExtension, split, unpack};
use fitout_model::{ArchiveLimits, FileMap};
use fitout_repositories::chart_version;
use fitout_snapshot::{Dependencies, dependency_cycles};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use support::{definition, linted, read, read_directory};
use tar::{EntryType, Header};

fn kilobytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

/// Runs a function, whose memory may grow by so many megabytes. The time is for a slow machine and an unoptimized build.
fn bounded<T>(what: &str, megabytes: u64, limit: Duration, run: impl FnOnce() -> T) -> T {
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let (before, started) = (kilobytes("VmRSS"), Instant::now());
    let result = run();
    let (took, grown) = (started.elapsed(), kilobytes("VmHWM").saturating_sub(before) >> 10);
    println!("{what}: {grown} MB, {took:?}");
    assert!(grown <= megabytes, "{what} took {grown} MB");
    assert!(took <= limit, "{what} took {took:?}");
    result
}

/// An archive of one entry of zeros, compressed.
fn bomb(kind: EntryType, size: u64) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..4].copy_from_slice(b"bomb");
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_cksum();
    let mut gzip = GzEncoder::new(vec![], Compression::fast());
    gzip.write_all(header.as_bytes()).unwrap();
    io::copy(&mut io::repeat(0).take(size), &mut gzip).unwrap();
    gzip.finish().unwrap()
}

/// Directories without an end.
fn directories(count: usize) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..2].copy_from_slice(b"d/");
    header.set_entry_type(EntryType::Directory);
    header.set_size(0);
    header.set_cksum();
    let mut gzip = GzEncoder::new(vec![], Compression::fast());
    for _ in 0..count {
        gzip.write_all(header.as_bytes()).unwrap();
    }
    gzip.finish().unwrap()
}

const COUNT: usize = 10_000;

fn definitions(count: usize) -> FileMap {
    let version = |number: usize| format!("1.{}.{}", number / 100, number % 100);
    let file = |number: usize| {
        let version = version(number);
        (format!("web/{version}/definition.yaml"), definition("web", &version).into_bytes())
    };
    (0..count).map(file).collect()
}

fn versions_of_chart(count: usize) -> Vec<RawExtension> {
    let version = |number: usize| {
        // Each has a problem of its own.
        let range = format!("newest {number}");
        chart_version(json!({ "name": "web", "version": format!("1.{number}.0"), "kubeVersion": range })).unwrap()
    };
    let versions = (0..count).map(version).collect();
    vec![RawExtension::Charts { repository: "https://charts.example.com".to_owned(), name: "web".to_owned(), versions }]
}

#[test]
fn memory_and_time_are_bounded() {
    let seconds = Duration::from_secs;
    let header = "it is not a complete tar archive: a header is larger than 1 MiB; create it again";
    let bombs = [
        (
            "a file of 160 MB",
            bomb(EntryType::Regular, 160 << 20),
            "bomb: the file is larger than 32 MiB; make it smaller, or leave it out",
        ),
        ("a path of 160 MB", bomb(EntryType::GNULongName, 160 << 20), header),
        ("a POSIX header of 160 MB", bomb(EntryType::XHeader, 160 << 20), header),
        (
            "a global header of 160 MB",
            bomb(EntryType::XGlobalHeader, 160 << 20),
            "it is not a complete tar archive: unexpected EOF during skip; create it again",
        ),
    ];
    for (what, archive, expected) in bombs {
        assert!(archive.len() < 32 << 20);
        // A vector grows to twice its size at most. An archive ends at twice the bytes of its files.
        let limits = ArchiveLimits { total: 64 << 20, ..ARCHIVE_LIMITS };
        let found = bounded(what, 70, seconds(60), || unpack(&archive, &limits).unwrap_err().to_string());
        assert_eq!(found, expected, "{what}");
    }
    let archive = directories(1 << 17);
    bounded("130,000 directories", 20, seconds(60), || {
        assert_eq!(unpack(&archive, &ARCHIVE_LIMITS).unwrap(), FileMap::new());
    });

    let too_many = "web/: it has 10000 versions, and the newest 1000 are offered; remove old ones from the source";
    let files = definitions(COUNT);
    bounded("10,000 versions in an archive", 300, seconds(120), || {
        assert_eq!(read((None, split(files.clone()))), [too_many]);
    });
    bounded("10,000 versions in a directory", 300, seconds(120), || {
        assert_eq!(read_directory(&files, |_| {}), [too_many]);
    });
    bounded("10,000 versions for the linter", 300, seconds(120), || {
        assert_eq!(linted(&files), Vec::<String>::new());
    });
    let charts = versions_of_chart(COUNT);
    bounded("10,000 versions in an index", 100, seconds(60), || {
        let problems = read((None, charts));
        assert_eq!((problems.len(), problems[0].as_str()), (1001, too_many));
        assert!(
            problems[1].starts_with("web 1.9999.0: kubeVersion: \"newest 9999\" is not a range"),
            "{}",
            problems[1]
        );
    });
    let charts = versions_of_chart(20 * COUNT);
    bounded("200,000 versions in an index", 100, seconds(120), || assert_eq!(read((None, charts)).len(), 1001));

    let needs_all = (0..2000).flat_map(|number| {
        let needs = (0..64).map(|other| format!("  - name: e{}\n", (number + other + 1) % 2000));
        let fields = needs.collect::<Vec<_>>().concat();
        let text = support::with(&format!("e{number}"), "1.0.0", &format!("  dependencies:\n{fields}"));
        split(FileMap::from([(format!("e{number}/1.0.0/definition.yaml"), text.into_bytes())]))
    });
    let needs_all: Vec<Dependencies> =
        needs_all.filter_map(|raw| Dependencies::of(&raw.parse().packages, false)).collect();
    bounded("2,000 extensions that need each other", 50, seconds(60), || {
        assert_eq!(dependency_cycles(&needs_all).len(), 20);
    });
}

#[test]
fn a_large_file_is_not_read() {
    let files = support::files(&[("web/1.0.0/definition.yaml", &support::with("web", "1.0.0", "  logo: logo.png\n"))]);
    // Sparse, so that it takes no space on the disk.
    let found = read_directory(&files, |path| {
        fs::File::create(path.join("web/1.0.0/logo.png")).unwrap().set_len(1 << 40).unwrap();
    });
    assert_eq!(found, ["web/1.0.0/logo.png: the file is larger than 32 MiB; make it smaller, or leave it out"]);
}
