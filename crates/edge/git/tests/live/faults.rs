//! Servers that fail, hang or answer what no git server answers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fitout_git::{Answer, Cause, Client, Credentials, Error, Limits};
use fitout_testkit::http_server::{Reply, Request, Server, ok, reply};
use fitout_testkit::{GitServer, until};

use crate::support::{REPOSITORY, RUNTIME, SECRET, can_run, message, read, read_with, request};

/// A request of a read, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Capabilities,
    References,
    Pack,
}

const STEPS: [Step; 3] = [Step::Capabilities, Step::References, Step::Pack];

impl Step {
    fn of(request: &Request) -> Self {
        let has = |text: &[u8]| request.body.windows(text.len()).any(|part| part == text);
        match request.method.as_str() {
            "GET" => Self::Capabilities,
            _ if has(b"command=ls-refs") => Self::References,
            _ => Self::Pack,
        }
    }
}

/// A change of an answer.
type Fault = Box<dyn Fn(Reply) -> Reply + Send>;

/// A server that changes its answer at one step.
struct Faulty {
    server: GitServer,
    fault: Arc<Mutex<(Step, Fault)>>,
}

impl Faulty {
    /// None if this machine has no git.
    fn start() -> Option<Self> {
        let unchanged: Fault = Box::new(|answer| answer);
        let fault = Arc::new(Mutex::new((Step::Capabilities, unchanged)));
        let shared = Arc::clone(&fault);
        let server = can_run().then(|| {
            GitServer::start_with(None, move |request, git| {
                let (answer, fault) = (git(request), shared.lock().unwrap());
                if Step::of(request) == fault.0 { fault.1(answer) } else { answer }
            })
        })?;
        let server = server.unwrap();
        server.create(REPOSITORY).unwrap().push(&[("x", "x"), ("y", "y")]).unwrap();
        Some(Self { server, fault })
    }

    fn set(&self, step: Step, fault: impl Fn(Reply) -> Reply + Send + 'static) -> &Self {
        *self.fault.lock().unwrap() = (step, Box::new(fault));
        self
    }

    /// Keeps the connection open before the last bytes of a step.
    fn hang(&self, step: Step) -> &Self {
        self.set(step, |Reply(bytes, _)| Reply(bytes[..bytes.len() - 9].to_vec(), true))
    }

    fn read(&self) -> Result<Answer, Error> {
        let limits = Limits { silence: Duration::from_secs(3), ..Limits::default() };
        read_with(limits, &request(&self.server.url(REPOSITORY)), &Credentials::default())
    }

    /// The message without the name of the repository, and the error.
    fn fails(&self) -> (String, Error) {
        let error = self.read().unwrap_err();
        let message = message(&self.server, &error);
        (message.strip_prefix("git repository URL/team/catalog.git: ").unwrap().to_owned(), error)
    }
}

/// Where the body of an answer begins.
fn body(bytes: &[u8]) -> usize {
    bytes.windows(4).position(|part| part == b"\r\n\r\n").unwrap() + 4
}

#[test]
fn status_says_whether_to_retry() {
    let Some(server) = Faulty::start() else { return };
    let rows = [
        (404, "is not a git repository", false),
        (429, "HOST returned 429 (too many requests); wait until its rate limit resets", true),
        (500, "returned 500, an error of the server", true),
        (503, "returned 503, an error of the server", true),
    ];
    for step in STEPS {
        for (status, expected, passing) in rows {
            // Some servers echo the credentials.
            let (message, error) = server.set(step, move |_| reply(status, &["Retry-After: 7"], SECRET)).fails();
            assert!(message.contains(expected) && error.passing() == passing, "{step:?}: {message}");
            assert_eq!(error.retry_after(), passing.then_some(Duration::from_secs(7)));
        }
    }
}

#[test]
fn truncated_answer_is_retried() {
    let Some(server) = Faulty::start() else { return };
    for step in STEPS {
        for keep in [1, 2, 3] {
            let cut = move |Reply(bytes, _): Reply| {
                let body = body(&bytes);
                Reply(bytes[..body + (bytes.len() - body) * keep / 4].to_vec(), false)
            };
            let (message, error) = server.set(step, cut).fails();
            assert!(message.contains("arrived only in part; the connection broke"), "{step:?} {keep}: {message}");
            assert!(error.passing());
        }
    }
}

#[test]
fn silence_ends_the_read() {
    let Some(server) = Faulty::start() else { return };
    for step in STEPS {
        let begin = Instant::now();
        let (message, error) = server.hang(step).fails();
        assert!(message.contains("HOST did not answer in time"), "{step:?}: {message}");
        assert!(error.passing() && begin.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn deadline_ends_the_read_and_its_thread() {
    let Some(server) = Faulty::start() else { return };
    server.hang(Step::Pack);
    // The silence is 30 seconds.
    let limits = Limits { deadline: Duration::from_secs(2), ..Limits::default() };
    let begin = Instant::now();
    let url = server.server.url(REPOSITORY);
    let error = read_with(limits, &request(&url), &Credentials::default()).unwrap_err();
    assert!(matches!(error.cause, Cause::Deadline(_) | Cause::Http(_)) && error.passing(), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn cancelled_read_ends_its_thread_and_removes_its_files() {
    let Some(server) = Faulty::start() else { return };
    server.hang(Step::Pack);
    let directory = tempfile::tempdir().unwrap();
    let client = Client::new(Limits::default(), directory.path().to_owned());
    let url = server.server.url(REPOSITORY);
    let count = || std::fs::read_dir(directory.path()).unwrap().count();
    RUNTIME.block_on(async {
        let (request, credentials) = (request(&url), Credentials::default());
        let read = client.read(&request, &credentials);
        assert!(tokio::time::timeout(Duration::from_secs(3), read).await.is_err());
    });
    // The silence is 30 seconds.
    until("no file is left", Duration::from_secs(5), || match count() {
        0 => Ok(()),
        count => Err(format!("{count} directories")),
    })
    .unwrap();
}

#[test]
fn answers_of_other_servers_are_named() {
    let other = "is not a git repository; check the address, and that the credentials may read it";
    for (body, kind) in [("<!DOCTYPE html>", "text/html"), ("", "application/x-git-receive-pack-advertisement")] {
        let server = Server::start(move |_| reply(200, &[&format!("Content-Type: {kind}")], body));
        let error = read(&request(&format!("{}/x", server.url))).unwrap_err();
        assert!(error.to_string().ends_with(other) && !error.passing(), "{error}");
    }
    let server = Server::start(|_| ok(""));
    let error = read(&request(&server.url)).unwrap_err();
    assert!(error.to_string().ends_with(other), "{error}");
    let error = read(&request("http://127.0.0.1:1/x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "git repository http://127.0.0.1:1/x: 127.0.0.1:1 cannot be reached: Connection refused (os error 111); check \
         the address and the network"
    );
    assert!(error.passing());
}

#[test]
fn changed_bytes_never_become_files() {
    let Some(server) = Faulty::start() else { return };
    for place in (0..400).step_by(7) {
        let change = move |Reply(mut bytes, _): Reply| {
            let body = body(&bytes);
            let length = bytes.len() - body;
            bytes[body + place % length] ^= 0x15;
            Reply(bytes, false)
        };
        // The pack has a checksum, and its objects have ids.
        if let Ok(answer) = server.set(Step::Pack, change).read() {
            let (_, files) = crate::support::files(answer);
            assert_eq!(files, crate::support::expected("", &[("x", "x"), ("y", "y")]).1, "{place}");
        }
    }
}

#[test]
fn lines_of_garbage_are_malformed() {
    let advertisement = |lines: &'static str| {
        let kind = "Content-Type: application/x-git-upload-pack-advertisement";
        Server::start(move |_| reply(200, &[kind], lines))
    };
    for lines in [
        "0000",
        "zzzz",
        "0004",
        "000eversion 3\n0000",
        "000eversion 2\n",
        "0009ERR x",
        "001e# service=git-upload-pack\n0000",
        "000eversion 2\n0000",
        "fff0",
        "0009a\0bcd0000",
    ] {
        let server = advertisement(lines);
        let error = read(&request(&format!("{}/x", server.url))).unwrap_err();
        println!("{lines:?}: {error}");
        let malformed = matches!(error.cause, Cause::Malformed(_) | Cause::Truncated | Cause::Reported(_));
        assert!(malformed, "{lines:?}: {error:?}");
    }
}
