//! A request straight to a port, around the API server.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::Sandbox;

/// Sends a request to the server with this name and certificate, and returns its whole response. The client presents the
/// certificate with this name in the sandbox, or none.
pub fn raw_tls_request(
    address: SocketAddr,
    (name, certificate): (&str, &[u8]),
    identity: Option<(&Sandbox, &str)>,
    request: &str,
) -> Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate)?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = builder.with_root_certificates(roots);
    let config = match identity {
        Some((sandbox, name)) => {
            let read = |end: &str| fs::read(sandbox.dir().join(format!("pki/{name}.{end}")));
            let chain = vec![CertificateDer::from_pem_slice(&read("crt")?)?];
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(&read("key")?)?)?
        }
        None => builder.with_no_client_auth(),
    };
    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from(name.to_owned())?)?;
    let socket = TcpStream::connect(address).with_context(|| format!("connect to {address}"))?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut stream = StreamOwned::new(connection, socket);
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
