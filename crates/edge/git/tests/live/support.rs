//! What the tests share: a server, a client and a request.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::LazyLock;

use fitout_git::{Answer, Client, Credentials, Error, Limits, Reference, Request};
use fitout_testkit::{GitServer, no_git, skip};
use tokio::runtime::Runtime;

pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The name of the repository in most tests.
pub(crate) const REPOSITORY: &str = "team/catalog.git";

/// A password that no message may contain.
pub(crate) const SECRET: &str = "hunter2";

/// A server; none if this machine has no git.
pub(crate) fn server() -> Option<GitServer> {
    can_run().then(|| GitServer::start().unwrap())
}

/// Whether this machine has git. If not, the test is recorded as skipped.
pub(crate) fn can_run() -> bool {
    no_git().inspect(skip).is_none()
}

/// A request for the default branch, as a first read.
pub(crate) fn request(url: &str) -> Request<'_> {
    Request { url, reference: Reference::Default, path: None, known: None, accept: false }
}

/// Reads with a new client and the default limits.
pub(crate) fn read(request: &Request<'_>) -> Result<Answer, Error> {
    read_with(Limits::default(), request, &Credentials::default())
}

/// Reads with a new client, and asserts that it leaves no file and its error has no secret.
pub(crate) fn read_with(limits: Limits, request: &Request<'_>, credentials: &Credentials) -> Result<Answer, Error> {
    let directory = tempfile::tempdir().unwrap();
    let client = Client::new(limits, directory.path().to_owned());
    let answer = RUNTIME.block_on(client.read(request, credentials));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "files are left");
    if let Err(error) = &answer {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(SECRET), "{shown}");
    }
    answer
}

/// The commit and the files of an answer.
pub(crate) fn files(answer: Answer) -> (String, Vec<(String, String)>) {
    let Answer::Read { commit, files } = answer else { panic!("unchanged") };
    let text = |content: Vec<u8>| String::from_utf8(content).unwrap();
    (commit, files.into_iter().map(|(name, content)| (name, text(content))).collect())
}

/// The names and contents of files, to compare with.
pub(crate) fn expected(commit: &str, files: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    let owned = |&(name, content): &(&str, &str)| (name.to_owned(), content.to_owned());
    (commit.to_owned(), files.iter().map(owned).collect())
}

/// The message of an error, with `URL` for the address and `HOST` for the server.
pub(crate) fn message(server: &GitServer, error: &Error) -> String {
    error.to_string().replace(&server.http().url, "URL").replace(server.http().host(), "HOST")
}

/// The requests that the server received, as method and end of the path.
pub(crate) fn requests(server: &GitServer) -> Vec<String> {
    let short = |request: &fitout_testkit::http_server::Request| {
        let path = request.path.split('?').next().unwrap_or_default();
        format!("{} {}", request.method, path.rsplit(".git/").next().unwrap_or_default())
    };
    server.http().requests().iter().map(short).collect()
}
