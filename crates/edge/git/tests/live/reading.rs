//! Branches, tags, commits and folders.
#![allow(clippy::unwrap_used, reason = "tests")]

use fitout_git::{Answer, Cause, Reference, Request};

use fitout_testkit::GitServer;

use crate::support::{REPOSITORY, can_run, expected, files, message, read, request, requests, server};

#[test]
fn each_kind_of_reference_is_read() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let one = copy.push(&[("a/x.yaml", "one"), ("b", "b")]).unwrap();
    copy.git(&["tag", "light"]).unwrap();
    copy.git(&["tag", "--annotate", "--message=x", "v1.0.0"]).unwrap();
    copy.git(&["tag", "--annotate", "--message=x", "nested", "v1.0.0"]).unwrap();
    copy.git(&["push", "--quiet", "--tags", "origin"]).unwrap();
    copy.git(&["checkout", "--quiet", "-b", "team/next"]).unwrap();
    let two = copy.push(&[("a/x.yaml", "two")]).unwrap();
    let url = server.url(REPOSITORY);
    let (ones, twos) = ([("a/x.yaml", "one"), ("b", "b")], [("a/x.yaml", "two"), ("b", "b")]);
    let rows = [
        (Reference::Default, &one, &ones),
        (Reference::Branch("main"), &one, &ones),
        (Reference::Branch("team/next"), &two, &twos),
        (Reference::Tag("light"), &one, &ones),
        (Reference::Tag("v1.0.0"), &one, &ones),
        (Reference::Tag("nested"), &one, &ones),
        (Reference::Commit(&one), &one, &ones),
        (Reference::Commit(&two), &two, &twos),
    ];
    for filter in ["false", "true"] {
        server.configure(REPOSITORY, "uploadpack.allowFilter", filter).unwrap();
        for (reference, commit, content) in rows {
            let request = Request { reference, ..request(&url) };
            assert_eq!(files(read(&request).unwrap()), expected(commit, content), "{reference:?}");
            let folder = Request { path: Some("a"), ..request };
            let (_, text) = content[0];
            assert_eq!(files(read(&folder).unwrap()), expected(commit, &[("x.yaml", text)]), "{reference:?}");
        }
    }
}

#[test]
fn only_files_below_the_path_are_fetched_where_the_server_can_filter() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let large: Vec<_> = (0..200_000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_string()).collect();
    let large = large.concat();
    let commit = copy.push(&[("catalog/deep/er/x.yaml", "x"), ("large", &large)]).unwrap();
    let url = server.url(REPOSITORY);
    let limits = fitout_git::Limits { pack: 10_000, ..fitout_git::Limits::default() };
    let read = |path| {
        let request = Request { path, ..request(&url) };
        crate::support::read_with(limits, &request, &fitout_git::Credentials::default())
    };
    let error = read(Some("catalog/deep")).unwrap_err();
    assert!(matches!(error.cause, Cause::TooLarge { limit: 10_000, .. }), "{error}");
    server.configure(REPOSITORY, "uploadpack.allowFilter", "true").unwrap();
    assert_eq!(files(read(Some("catalog/deep")).unwrap()), expected(&commit, &[("er/x.yaml", "x")]));
    assert!(matches!(read(None).unwrap_err().cause, Cause::TooLarge { .. }));
}

#[test]
fn links_and_submodules_are_left_out() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    std::fs::write(copy.dir().join("x"), "x").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", copy.dir().join("link")).unwrap();
    std::os::unix::fs::symlink("..", copy.dir().join("folder")).unwrap();
    let commit = copy.commit(&[("run.sh", "#!")]).unwrap();
    copy.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},module")]).unwrap();
    copy.git(&["update-index", "--chmod=+x", "run.sh"]).unwrap();
    copy.git(&["commit", "--quiet", "--message=x"]).unwrap();
    copy.git(&["push", "--quiet", "origin", "HEAD"]).unwrap();
    let (_, found) = files(read(&request(&server.url(REPOSITORY))).unwrap());
    assert_eq!(found, expected("", &[("run.sh", "#!"), ("x", "x")]).1);
    let url = server.url(REPOSITORY);
    for path in ["link", "folder", "module", "x"] {
        let error = read(&Request { path: Some(path), ..request(&url) }).unwrap_err();
        assert!(matches!(&error.cause, Cause::PathMissing { .. }), "{path}: {error}");
    }
}

#[test]
fn what_does_not_exist_is_named_with_what_does() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let url = server.url(REPOSITORY);
    let fails = |reference, path| {
        let error = read(&Request { reference, path, ..request(&url) }).unwrap_err();
        assert!(!error.passing(), "{error}");
        let message = message(&server, &error);
        message.strip_prefix("git repository URL/team/catalog.git: ").unwrap().to_owned()
    };
    assert_eq!(fails(Reference::Default, None), "it has no commit yet; push one");
    assert_eq!(fails(Reference::Branch("main"), None), "branch main does not exist; the repository has no branch");
    let commit = copy.push(&[("x", "x")]).unwrap();
    for branch in ["develop", "release-1.35", "release-1.36"] {
        copy.git(&["push", "--quiet", "origin", &format!("HEAD:refs/heads/{branch}")]).unwrap();
    }
    assert_eq!(
        fails(Reference::Branch("mian"), None),
        "branch mian does not exist; correct it; there is main, develop, release-1.35, release-1.36"
    );
    // A prefix of a branch is not the branch.
    assert!(fails(Reference::Branch("release-1.3"), None).starts_with("branch release-1.3 does not exist; "));
    assert_eq!(fails(Reference::Tag("v1"), None), "tag v1 does not exist; the repository has no tag");
    let zeros = "0123456789012345678901234567890123456789";
    assert_eq!(
        fails(Reference::Commit(zeros), None),
        format!("commit {zeros} does not exist; make sure that it is pushed")
    );
    assert_eq!(fails(Reference::Commit("abc"), None), "\"abc\" is no commit; correct it");
    assert_eq!(fails(Reference::Branch("a b"), None), "\"a b\" is no branch; correct it");
    assert_eq!(
        fails(Reference::Default, Some("charts/wbe")),
        format!("commit {commit} has no folder charts/wbe; correct the path")
    );
    assert_eq!(
        fails(Reference::Default, Some("../x")),
        "the path \"../x\" is invalid; give a folder below the root, such as charts/web"
    );
    copy.git(&["tag", "file", "HEAD:x"]).unwrap();
    copy.git(&["push", "--quiet", "origin", "file"]).unwrap();
    assert_eq!(fails(Reference::Tag("file"), None), "tag file is not a commit; name a branch or a tag of a commit");
}

#[test]
fn unchanged_references_cost_two_requests_and_commits_none() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let commit = copy.push(&[("x", "x")]).unwrap();
    copy.git(&["tag", "--annotate", "--message=x", "v1"]).unwrap();
    copy.git(&["push", "--quiet", "origin", "v1"]).unwrap();
    let url = server.url(REPOSITORY);
    let mut before = 0;
    for (reference, cost) in [
        (Reference::Default, vec!["GET info/refs", "POST git-upload-pack"]),
        (Reference::Branch("main"), vec!["GET info/refs", "POST git-upload-pack"]),
        (Reference::Tag("v1"), vec!["GET info/refs", "POST git-upload-pack"]),
        (Reference::Commit(&commit), vec![]),
    ] {
        let request = Request { reference, known: Some(&commit), ..request(&url) };
        assert_eq!(read(&request).unwrap(), Answer::Unchanged);
        assert_eq!(requests(&server)[before..], cost, "{reference:?}");
        before = requests(&server).len();
    }
    read(&request(&url)).unwrap();
    assert_eq!(requests(&server).len() - before, 3);
}

#[test]
fn repositories_with_sha256_are_read() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let bare = server.dir().join("repositories/sha256.git");
    copy.git(&[
        "init",
        "--quiet",
        "--bare",
        "--object-format=sha256",
        "--initial-branch=main",
        &bare.to_string_lossy(),
    ])
    .unwrap();
    let (dir, bare) = (server.dir().join("sha256"), bare.to_string_lossy().into_owned());
    let dir = dir.to_string_lossy();
    copy.git(&["init", "--quiet", "--object-format=sha256", "--initial-branch=main", &dir]).unwrap();
    copy.git(&["-C", &dir, "commit", "--quiet", "--allow-empty", "--message=x"]).unwrap();
    copy.git(&["-C", &dir, "push", "--quiet", &bare, "HEAD"]).unwrap();
    let commit = copy.git(&["-C", &dir, "rev-parse", "HEAD"]).unwrap();
    assert_eq!((files(read(&request(&server.url("sha256.git"))).unwrap()), commit.len()), (expected(&commit, &[]), 64));
}

/// Without the header that asks for protocol 2, git answers as servers did before it.
#[test]
fn servers_without_protocol_2_are_read() {
    if !can_run() {
        return;
    }
    let server = GitServer::start_with(None, |request, git| {
        let mut request = request.clone();
        request.head = request.head.replace("git-protocol", "x-ignored");
        git(&request)
    })
    .unwrap();
    let copy = server.create(REPOSITORY).unwrap();
    let url = server.url(REPOSITORY);
    let one = copy.push(&[("a/x", "one"), ("b", "b")]).unwrap();
    copy.git(&["tag", "--annotate", "--message=x", "v1"]).unwrap();
    copy.git(&["push", "--quiet", "origin", "v1"]).unwrap();
    let all = request(&url);
    assert_eq!(files(read(&all).unwrap()), expected(&one, &[("a/x", "one"), ("b", "b")]));
    // The references come with the capabilities.
    assert_eq!(requests(&server), ["GET info/refs", "POST git-upload-pack"]);
    assert_eq!(read(&Request { known: Some(&one), ..all }).unwrap(), Answer::Unchanged);
    let two = copy.push(&[("a/x", "two")]).unwrap();
    for filter in ["false", "true"] {
        server.configure(REPOSITORY, "uploadpack.allowFilter", filter).unwrap();
        let below = Request { path: Some("a"), ..all };
        for (reference, commit, text) in [
            (Reference::Branch("main"), &two, "two"),
            (Reference::Tag("v1"), &one, "one"),
            (Reference::Commit(&two), &two, "two"),
        ] {
            let answer = read(&Request { reference, ..below }).unwrap();
            assert_eq!(files(answer), expected(commit, &[("x", text)]), "{reference:?} {filter}");
        }
        assert_eq!(files(read(&Request { known: Some(&one), ..all }).unwrap()).0, two);
    }
    let zeros = "0123456789012345678901234567890123456789";
    let unknown = read(&Request { reference: Reference::Commit(zeros), ..all }).unwrap_err();
    assert!(matches!(unknown.cause, Cause::Unknown { .. }), "{unknown}");
    let rewritten = |known| read(&Request { known: Some(known), ..all }).unwrap_err();
    assert!(matches!(rewritten(zeros).cause, Cause::Rewritten { .. }));
    copy.git(&["reset", "--quiet", "--hard", &one]).unwrap();
    copy.push(&[("a/x", "other")]).unwrap();
    assert!(matches!(rewritten(&two).cause, Cause::Rewritten { .. }));
    let empty = server.create("empty.git").map(|_| server.url("empty.git")).unwrap();
    assert!(matches!(read(&request(&empty)).unwrap_err().cause, Cause::Empty));
}
