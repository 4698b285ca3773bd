//! Limits: packs, files, folders and memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::io::Read as _;

use fitout_git::{Credentials, Limits, Request};
use fitout_testkit::GitServer;
use fitout_testkit::http_server::reply;

use crate::support::{REPOSITORY, can_run, files, message, read_with, request, server};

fn refused(server: &GitServer, limits: Limits, path: Option<&str>) -> String {
    let url = server.url(REPOSITORY);
    let error = read_with(limits, &Request { path, ..request(&url) }, &Credentials::default()).unwrap_err();
    assert!(!error.passing(), "{error}");
    let message = message(server, &error);
    message.strip_prefix("git repository URL/team/catalog.git: ").unwrap().to_owned()
}

#[test]
fn each_limit_is_named() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let text = "0123456789".repeat(1000);
    copy.push(&[("a/one", &text), ("a/two", &text.replace('0', "x")), ("b/c/d", "d"), ("e", "e")]).unwrap();
    let all = Limits::default();
    let rows = [
        (Limits { file: 9999, ..all }, "file a/one is over the limit of 9999 bytes; remove it, or make it smaller"),
        (
            Limits { total: 19_999, ..all },
            "the size of its files together is over the limit of 19999 bytes; name a smaller folder as the path",
        ),
        (
            Limits { files: 3, ..all },
            "the number of its files and folders is over the limit of 3; name a smaller folder as the path",
        ),
        (
            Limits { object: 9999, ..all },
            "a file or the list of the files in it is over the limit of 9999 bytes; publish the folder in a repository \
             without large files",
        ),
        (
            Limits { pack: 100, ..all },
            "its pack is over the limit of 100 bytes; publish the folder in a smaller repository, or as an archive",
        ),
        (
            Limits { references: 100, ..all },
            "the list of its references is over the limit of 100 bytes; delete old branches and tags",
        ),
    ];
    for (limits, expected) in rows {
        assert_eq!(refused(&server, limits, None), expected);
    }
    let url = server.url(REPOSITORY);
    let below = Request { path: Some("b"), ..request(&url) };
    let few = Limits { file: 9999, total: 19_999, files: 3, ..all };
    let (_, found) = files(read_with(few, &below, &Credentials::default()).unwrap());
    assert_eq!(found, [("c/d".to_owned(), "d".to_owned())]);
}

/// A few objects that stand for more folders than any memory has room for.
#[test]
fn folders_that_multiply_are_refused() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    copy.commit(&[("x", "x")]).unwrap();
    for leaf in ["", "100644 blob BLOB\tx\n"] {
        let blob = copy.git(&["rev-parse", "HEAD:x"]).unwrap_or_default();
        let mut lines = leaf.replace("BLOB", &blob);
        for _ in 0..20 {
            let tree = make_tree(&copy, &lines);
            lines = (0..20).map(|number| format!("040000 tree {tree}\t{number}\n")).collect::<Vec<_>>().concat();
        }
        let tree = make_tree(&copy, &lines);
        let commit = copy.git(&["commit-tree", "-m", "x", &tree]).unwrap();
        copy.git(&["push", "--quiet", "--force", "origin", &format!("{commit}:refs/heads/main")]).unwrap();
        let message = refused(&server, Limits::default(), None);
        assert!(message.starts_with("the number of its files and folders is over the limit of 50000"), "{message}");
    }
}

fn make_tree(copy: &fitout_testkit::WorkingCopy, lines: &str) -> String {
    let file = copy.dir().join(".git/lines");
    std::fs::write(&file, lines).unwrap();
    copy.git(&["-c", "alias.make=!git mktree < .git/lines", "make"]).unwrap()
}

/// A file of a gigabyte of zeros is a megabyte in a pack.
#[test]
fn compressed_zeros_are_refused_with_bounded_memory() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let file = std::fs::File::create(copy.dir().join("zeros")).unwrap();
    file.set_len(400 << 20).unwrap();
    copy.push(&[("x", "x")]).unwrap();
    let (message, before, peak) = in_process(&server.url(REPOSITORY));
    assert!(message.contains("a file or the list of the files in it is over the limit of 67108864 bytes"), "{message}");
    assert!(peak < before + (60 << 20), "{before} {peak}");
}

/// A server that answers a request for objects with this pack.
fn server_of(pack: &[u8]) -> GitServer {
    let mut body = b"000dpackfile\n".to_vec();
    for part in pack.chunks(65_515) {
        body.extend(format!("{:04x}\u{1}", part.len() + 5).bytes());
        body.extend(part);
    }
    body.extend(b"0000");
    let server = GitServer::start_with(None, move |request, git| {
        let is_fetch = request.body.windows(13).any(|part| part == b"command=fetch");
        let headers = ["Content-Type: application/x-git-upload-pack-result"];
        if is_fetch { reply(200, &headers, &body) } else { git(request) }
    });
    let server = server.unwrap();
    server.create(REPOSITORY).unwrap().push(&[("x", "x")]).unwrap();
    server
}

/// The beginning of a pack with 100 objects.
fn pack() -> Vec<u8> {
    b"PACK\0\0\0\x02\0\0\0\x64".to_vec()
}

/// The header of a file of this size in a pack.
fn file_header(mut size: u64) -> Vec<u8> {
    let mut bytes = vec![0x30 | u8::try_from(size & 15).unwrap()];
    size >>= 4;
    while size > 0 {
        *bytes.last_mut().unwrap() |= 0x80;
        bytes.push(u8::try_from(size & 0x7f).unwrap());
        size >>= 7;
    }
    bytes
}

/// 32 MB of zeros as zlib stores them without compression.
fn stored() -> (u64, Vec<u8>) {
    let block = [&[0, 0xff, 0x7f, 0x00, 0x80][..], &vec![0; 0x7fff]].concat();
    let mut bytes = vec![0x78, 0x01];
    (0..1000).for_each(|_| bytes.extend(&block));
    // The last block, and the checksum: of zeros it is 1 and their count modulo 65521.
    let size = 1000 * 0x7fff;
    bytes.extend([1, 0, 0, 0xff, 0xff]);
    bytes.extend(u16::try_from(size % 65_521).unwrap().to_be_bytes());
    bytes.extend([0, 1]);
    (size, bytes)
}

#[test]
fn endless_pack_is_refused_with_bounded_memory() {
    if !can_run() {
        return;
    }
    let (mut pack, (size, content)) = (pack(), stored());
    for _ in 0..3 {
        pack.extend([file_header(size), content.clone()].concat());
    }
    let (message, before, peak) = in_process(&server_of(&pack).url(REPOSITORY));
    assert!(message.contains("its pack is over the limit of 67108864 bytes"), "{message}");
    assert!(peak < before + (30 << 20), "{before} {peak}");
}

#[test]
fn object_of_a_terabyte_is_refused_at_its_header() {
    if !can_run() {
        return;
    }
    let (mut pack, (_, content)) = (pack(), stored());
    pack.extend([file_header(1 << 40), content].concat());
    let (message, before, peak) = in_process(&server_of(&pack).url(REPOSITORY));
    assert!(message.contains("a file or the list of the files in it is over the limit of 67108864 bytes"), "{message}");
    assert!(peak < before + (30 << 20), "{before} {peak}");
}

#[test]
fn object_that_is_larger_than_stated_is_refused() {
    if !can_run() {
        return;
    }
    let (mut pack, (size, content)) = (pack(), stored());
    pack.extend([file_header(size - 1), content, vec![0; 100]].concat());
    let message = refused(&server_of(&pack), Limits::default(), None);
    assert!(message.contains("an object of the pack does not have its stated size"), "{message}");
}

/// The variable with the address for [`runner`].
const URL: &str = "FITOUT_TEST_GIT_URL";

/// Reads in a process of its own. Returns the message, its memory before and its peak memory in bytes.
fn in_process(url: &str) -> (String, u64, u64) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["large::runner", "--exact", "--ignored", "--nocapture"])
        .env(URL, url)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.split_once("RESULT ")).unwrap_or_else(|| panic!("{text}")).1;
    let mut parts = line.splitn(3, ' ');
    let mut number = || parts.next().unwrap().parse::<u64>().unwrap();
    let (before, peak) = (number(), number());
    println!("memory before {} kB, peak {} kB", before >> 10, peak >> 10);
    (parts.next().unwrap().to_owned(), before, peak)
}

#[test]
#[ignore = "the process of the tests above"]
fn runner() {
    let Ok(url) = std::env::var(URL) else { return };
    let memory = |line: &str| {
        let mut text = String::new();
        std::fs::File::open("/proc/self/status").unwrap().read_to_string(&mut text).unwrap();
        let size = text.lines().find_map(|found| found.strip_prefix(line)).unwrap().trim();
        size.trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    };
    let before = memory("VmRSS:");
    let limits = Limits { pack: 64 << 20, ..Limits::default() };
    let error = read_with(limits, &request(&url), &Credentials::default()).unwrap_err();
    println!("\nRESULT {before} {} {error}", memory("VmHWM:"));
}
