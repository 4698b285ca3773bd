//! A TCP load balancer in front of several API servers.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

/// Forwards each new connection to the next server in turn that accepts it.
#[derive(Debug)]
pub struct LoadBalancer {
    address: SocketAddr,
    closed: Arc<AtomicBool>,
}

const PORT: u16 = 443;

impl LoadBalancer {
    pub(crate) fn start(address: Ipv4Addr, ports: &[u16]) -> Result<Self> {
        // Only root may use a port below 1024.
        let listener = TcpListener::bind((address, PORT))
            .or_else(|_| TcpListener::bind((address, PORT + 8000)))
            .with_context(|| format!("listen on {address}"))?;
        let front = Self { address: listener.local_addr()?, closed: Arc::default() };
        let servers: Vec<SocketAddr> = ports.iter().map(|&port| (address, port).into()).collect();
        let closed = Arc::clone(&front.closed);
        thread::spawn(move || {
            for (turn, connection) in listener.incoming().enumerate() {
                if closed.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                let in_turn = servers.iter().cycle().skip(turn % servers.len()).take(servers.len());
                if let Some(server) = in_turn.copied().find_map(connect) {
                    join(connection, server);
                }
            }
        });
        Ok(front)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for LoadBalancer {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // The listener reads the flag when a connection arrives.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

fn connect(server: SocketAddr) -> Option<TcpStream> {
    TcpStream::connect_timeout(&server, Duration::from_secs(1)).ok()
}

/// Copies in both directions until either side ends.
fn join(client: TcpStream, server: TcpStream) {
    let (Ok(client_too), Ok(server_too)) = (client.try_clone(), server.try_clone()) else { return };
    thread::spawn(move || pour(client, server));
    thread::spawn(move || pour(server_too, client_too));
}

fn pour(mut from: TcpStream, mut to: TcpStream) {
    // In any case both sides see the end.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
