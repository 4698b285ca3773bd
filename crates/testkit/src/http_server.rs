//! An HTTP server whose answers a test decides, also answers that no correct server gives.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a fixture: a test ends where it cannot be set up")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use rcgen::{CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// The header lines.
    pub head: String,
    /// The body, where the request states its length.
    pub body: Vec<u8>,
    /// When it arrived.
    pub at: Instant,
}

impl Request {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// The bytes of a response, and whether the connection stays open after them without another byte.
#[derive(Clone, Debug)]
pub struct Reply(pub Vec<u8>, pub bool);

/// A response with a status, more headers and a body.
pub fn reply(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Reply {
    let (body, first) = (body.as_ref(), format!("HTTP/1.1 {status} Status"));
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    let head = [&[first.as_str(), "Connection: close"], headers, &[length.as_str()]].concat().join("\r\n");
    Reply([head.as_bytes(), body].concat(), false)
}

/// A response with status 200.
pub fn ok(body: impl AsRef<[u8]>) -> Reply {
    reply(200, &[], body)
}

/// A redirect.
pub fn redirect(to: &str) -> Reply {
    reply(302, &[&format!("Location: {to}")], "")
}

/// A server on a loopback address. It runs until the test program ends.
#[derive(Debug)]
pub struct Server {
    /// Its address with the scheme.
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server without TLS on a free port.
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(None, answer)
    }

    /// Starts a server on a free port.
    pub fn serve(tls: Option<Arc<ServerConfig>>, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), tls, answer)
    }

    /// Starts a server on this listener.
    pub fn serve_on(
        listener: TcpListener,
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (requests, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let record = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, tls, answer, record) =
                    (stream.unwrap(), tls.clone(), Arc::clone(&answer), Arc::clone(&record));
                // A client may close the connection before the response is sent, which is no error here.
                thread::spawn(move || match tls {
                    Some(tls) => {
                        let mut stream = StreamOwned::new(ServerConnection::new(tls).unwrap(), stream);
                        let _ = talk(&mut stream, &*answer, &record);
                        stream.conn.send_close_notify();
                        let _ = stream.flush();
                        // Closing a connection with an unread request resets it, and the TLS alert may be lost.
                        let _ = stream.sock.shutdown(Shutdown::Write);
                        let _ = std::io::copy(&mut stream.sock, &mut std::io::sink());
                    }
                    None => drop(talk(&mut { stream }, &*answer, &record)),
                });
            }
        });
        Self { url, requests }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Its address without the scheme.
    pub fn host(&self) -> &str {
        self.url.split("//").nth(1).unwrap()
    }
}

fn talk(
    stream: &mut (impl Read + Write),
    answer: &dyn Fn(&Request) -> Reply,
    record: &Mutex<Vec<Request>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let (first, rest) = head.split_once("\r\n").unwrap();
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method, path, head: rest.to_owned(), body: Vec::new(), at: Instant::now() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
    request.body = vec![0; length];
    stream.read_exact(&mut request.body)?;
    record.lock().unwrap().push(request.clone());
    let Reply(bytes, hangs) = answer(&request);
    stream.write_all(&bytes)?;
    stream.flush()?;
    while hangs && stream.read(&mut [0; 64])? > 0 {}
    Ok(())
}

/// A certificate authority for TLS servers and clients on loopback addresses.
#[derive(Debug)]
pub struct TestAuthority(CertifiedIssuer<'static, KeyPair>);

impl Default for TestAuthority {
    fn default() -> Self {
        Self::new()
    }
}

impl TestAuthority {
    /// Creates an authority with a new key.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// The certificate of the authority.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate and its key, for a server on a loopback address or for a client.
    pub fn sign(&self, usage: ExtendedKeyUsagePurpose) -> (String, String) {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// TLS for a server that requires a client certificate, or accepts a client without one.
    pub fn tls(&self, required: bool) -> Arc<ServerConfig> {
        let (certificate, key) = self.sign(ExtendedKeyUsagePurpose::ServerAuth);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem().as_bytes()).unwrap()).unwrap();
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let clients = if required { clients } else { clients.allow_unauthenticated() };
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_client_cert_verifier(clients.build().unwrap()).with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        );
        Arc::new(config.unwrap())
    }
}
