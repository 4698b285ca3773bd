//! A repository as most are: files behind a web server.

#![allow(unreachable_pub, missing_docs, dead_code, reason = "shared by several test programs")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

/// What one who is known sends: `charts:secret`.
const KNOWN: &str = "authorization: basic y2hhcnrzonnly3jlda==";

pub struct Repository {
    pub address: String,
    pub down: Arc<AtomicBool>,
}

impl Repository {
    /// For everybody.
    pub fn start(folder: PathBuf) -> Result<Self> {
        Self::serve(folder, None)
    }

    /// For one who is known as `charts`, with the password `secret`.
    pub fn start_guarded(folder: PathBuf) -> Result<Self> {
        Self::serve(folder, Some(KNOWN))
    }

    fn serve(folder: PathBuf, wanted: Option<&'static str>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let down = Arc::<AtomicBool>::default();
        let closed = Arc::clone(&down);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if !closed.load(Ordering::Relaxed) {
                    let _ = answer(stream, &folder, wanted);
                }
            }
        });
        Ok(Self { address, down })
    }
}

fn answer(mut stream: TcpStream, folder: &Path, wanted: Option<&str>) -> Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().context("a request")??;
    let path = first.split(' ').nth(1).context("a path")?.trim_start_matches('/').to_owned();
    let mut known = wanted.is_none();
    for line in lines {
        let line = line?.to_lowercase();
        known |= wanted == Some(line.as_str());
        if line.is_empty() {
            break;
        }
    }
    let (status, body) = match fs::read(folder.join(path)) {
        _ if !known => ("401 Unauthorized", vec![]),
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not LiveObject", vec![]),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    Ok(stream.write_all(&body)?)
}
