//! Pushes, rewritten histories and moved tags.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};

use fitout_git::{Answer, Cause, Client, Credentials, Limits, Reference, Request};

use crate::support::{REPOSITORY, RUNTIME, expected, files, message, read, request, requests, server};

#[test]
fn push_over_http_is_read() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let url = server.url(REPOSITORY);
    copy.git(&["remote", "set-url", "origin", &url]).unwrap();
    let one = copy.push(&[("x", "one")]).unwrap();
    assert_eq!(files(read(&request(&url)).unwrap()), expected(&one, &[("x", "one")]));
    let two = copy.push(&[("x", "two")]).unwrap();
    let after = Request { known: Some(&one), ..request(&url) };
    assert_eq!(files(read(&after).unwrap()), expected(&two, &[("x", "two")]));
    assert_eq!(read(&Request { known: Some(&two), ..after }).unwrap(), Answer::Unchanged);
}

#[test]
fn branch_that_goes_on_is_read_with_any_history() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let url = server.url(REPOSITORY);
    let first = copy.push(&[("x", "0")]).unwrap();
    for number in 1..=20 {
        copy.commit(&[("x", &number.to_string())]).unwrap();
    }
    // The known commit is on a branch that was merged.
    copy.git(&["checkout", "--quiet", "-b", "side", &first]).unwrap();
    let side = copy.commit(&[("y", "y")]).unwrap();
    copy.git(&["checkout", "--quiet", "main"]).unwrap();
    copy.git(&["merge", "--quiet", "--no-ff", "--message=x", "side"]).unwrap();
    let last = copy.push(&[("z", "z")]).unwrap();
    for filter in ["false", "true"] {
        server.configure(REPOSITORY, "uploadpack.allowFilter", filter).unwrap();
        for known in [&first, &side] {
            let before = requests(&server).len();
            let (commit, _) = files(read(&Request { known: Some(known), ..request(&url) }).unwrap());
            // The capabilities, the reference, the history, the files.
            assert_eq!((&commit, requests(&server).len() - before), (&last, 4));
        }
    }
}

#[test]
fn commits_dated_before_their_parents_are_followed() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let known = copy.push(&[("x", "x")]).unwrap();
    let tree = copy.git(&["rev-parse", "HEAD^{tree}"]).unwrap();
    // A commit of 1973 follows the known one, and one of today follows that.
    let old = format!("alias.old=!GIT_COMMITTER_DATE='100000000 +0000' git commit-tree -p {known} -m x {tree}");
    let old = copy.git(&["-c", &old, "old"]).unwrap();
    let new = copy.git(&["commit-tree", "-p", &old, "-m", "x", &tree]).unwrap();
    copy.git(&["push", "--quiet", "origin", &format!("{new}:refs/heads/main")]).unwrap();
    let url = server.url(REPOSITORY);
    assert_eq!(files(read(&Request { known: Some(&known), ..request(&url) }).unwrap()).0, new);
}

#[test]
fn rewritten_branch_is_refused_until_it_is_accepted() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let url = server.url(REPOSITORY);
    let base = copy.push(&[("x", "base")]).unwrap();
    let known = copy.push(&[("x", "known")]).unwrap();
    let refused = |found: &str, known: &str| {
        for reference in [Reference::Default, Reference::Branch("main")] {
            let request = Request { reference, known: Some(known), ..request(&url) };
            let error = read(&request).unwrap_err();
            let expected = format!(
                "git repository URL/team/catalog.git: the history was rewritten: branch main is at {found}, which does \
                 not contain {known}, the commit that was read last; {known} stays in use until the revision {found} is \
                 accepted"
            );
            assert_eq!((message(&server, &error), error.passing()), (expected, false));
            assert!(matches!(error.cause, Cause::Rewritten { .. }));
            let accepted = read(&Request { accept: true, ..request }).unwrap();
            assert_eq!(files(accepted).0, found);
        }
    };
    for filter in ["false", "true"] {
        server.configure(REPOSITORY, "uploadpack.allowFilter", filter).unwrap();
        // Back to an earlier commit.
        copy.git(&["reset", "--quiet", "--hard", &base]).unwrap();
        copy.git(&["push", "--quiet", "--force", "origin", "HEAD"]).unwrap();
        refused(&base, &known);
        // On from there, another way. The server still has the known commit.
        let other = copy.push(&[("x", "other")]).unwrap();
        refused(&other, &known);
        // A history without a common commit.
        copy.git(&["checkout", "--quiet", "--orphan", &format!("new-{filter}")]).unwrap();
        copy.commit(&[("x", "new")]).unwrap();
        copy.git(&["branch", "--quiet", "-M", "main"]).unwrap();
        let unrelated = copy.push(&[]).unwrap();
        refused(&unrelated, &known);
        // A server that has lost the known commit.
        refused(&unrelated, "0123456789012345678901234567890123456789");
    }
}

#[test]
fn moved_tag_is_refused_until_it_is_accepted() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let url = server.url(REPOSITORY);
    let one = copy.push(&[("x", "one")]).unwrap();
    copy.git(&["tag", "v1"]).unwrap();
    copy.git(&["push", "--quiet", "origin", "v1"]).unwrap();
    // The tag follows the known commit, and is still another one.
    let two = copy.push(&[("x", "two")]).unwrap();
    for options in [&["tag", "--force", "v1"][..], &["tag", "--force", "--annotate", "--message=x", "v1"]] {
        copy.git(options).unwrap();
        copy.git(&["push", "--quiet", "--force", "origin", "v1"]).unwrap();
        let request = Request { reference: Reference::Tag("v1"), known: Some(&one), ..request(&url) };
        let error = read(&request).unwrap_err();
        let expected = format!(
            "git repository URL/team/catalog.git: tag v1 was moved from {one}, the commit that was read last, to {two}; \
             {one} stays in use until the revision {two} is accepted"
        );
        assert_eq!((message(&server, &error), error.passing()), (expected, false));
        assert_eq!(files(read(&Request { accept: true, ..request }).unwrap()).0, two);
    }
}

#[test]
fn files_are_unpacked_once_they_are_admitted() {
    let Some(server) = server() else { return };
    let copy = server.create(REPOSITORY).unwrap();
    let one = copy.push(&[("x", "one")]).unwrap();
    let (directory, admitted) = (tempfile::tempdir().unwrap(), Arc::new(Mutex::new(vec![])));
    let client = Client::new(Limits { total: 1000, ..Limits::default() }, directory.path().to_owned());
    let url = server.url(REPOSITORY);
    for (known, expected) in [(None, vec![1000]), (Some(one.as_str()), vec![1000])] {
        let record = Arc::clone(&admitted);
        let admit = Arc::new(move |bytes| record.lock().unwrap().push(bytes));
        let request = Request { known, ..request(&url) };
        RUNTIME.block_on(client.read_admitted(&request, &Credentials::default(), admit)).unwrap();
        assert_eq!(*admitted.lock().unwrap(), expected);
    }
}
