//! A chart repository: the files of a folder behind a web server.

#![allow(unreachable_pub, missing_docs, reason = "shared by several modules")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fitout_testkit::http_server::{Reply, Server, ok, reply};

/// The credentials of the user `charts` with the password `secret`.
const CREDENTIALS: &str = "Basic Y2hhcnRzOnNlY3JldA==";

pub struct Repository {
    pub address: String,
    /// Set to close every connection without a response.
    pub down: Arc<AtomicBool>,
}

impl Repository {
    /// Without credentials.
    pub fn start(folder: PathBuf) -> Self {
        Self::serve(folder, None)
    }

    /// For the user `charts` with the password `secret`.
    pub fn start_guarded(folder: PathBuf) -> Self {
        Self::serve(folder, Some(CREDENTIALS))
    }

    fn serve(folder: PathBuf, credentials: Option<&'static str>) -> Self {
        let down = Arc::<AtomicBool>::default();
        let is_down = Arc::clone(&down);
        let server = Server::start(move |request| {
            if is_down.load(Ordering::Relaxed) {
                return Reply(vec![], false);
            }
            if credentials.is_some() && request.header("authorization") != credentials {
                return reply(401, &[], "");
            }
            let file = folder.join(request.path.trim_start_matches('/'));
            fs::read(file).map_or_else(|_| reply(404, &[], ""), ok)
        });
        Self { address: server.url, down }
    }
}
