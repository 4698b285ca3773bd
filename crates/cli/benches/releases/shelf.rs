//! A Helm repository over HTTP, as most people have them: a directory of files.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Result;
use fitout_testkit::Cluster;

/// Packages the chart and serves it for as long as this program runs; returns the address.
pub fn serve(cluster: &Cluster, chart: &Path) -> Result<String> {
    let dir = cluster.sandbox().dir().join("repository");
    let listener = TcpListener::bind((cluster.address(), 0))?;
    let address = format!("http://{}", listener.local_addr()?);
    let (helm, to) = (cluster.helm(), dir.to_string_lossy());
    helm.run(&["package", &chart.to_string_lossy(), "--destination", &to])?;
    helm.run(&["repo", "index", &to, "--url", &address])?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let dir = dir.clone();
            // One who hangs up asks again.
            thread::spawn(move || drop(answer(stream, &dir)));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, dir: &Path) -> Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let name = Path::new(path).file_name().map(PathBuf::from).unwrap_or_default();
    let (status, body) = fs::read(dir.join(name)).map_or(("404 Not Found", vec![]), |body| ("200 OK", body));
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body)?;
    Ok(())
}
