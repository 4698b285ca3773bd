//! Asking a hub how it is, as Prometheus and the kubelet do.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

/// The code and the body that a path is answered with.
pub fn get(address: SocketAddr, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").context("a head and a body")?;
    let code = head.split(' ').nth(1).context("a code")?.parse()?;
    Ok((code, body.to_owned()))
}

/// The value of a series, written as the hub writes it; 0 where there is none.
pub fn value(metrics: &str, series: &str) -> f64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or(0.0)
}

/// The names of all series.
pub fn names(metrics: &str) -> BTreeSet<String> {
    let series = metrics.lines().filter(|line| !line.starts_with('#'));
    series.filter_map(|line| line.split(['{', ' ']).next()).map(str::to_owned).collect()
}
