//! A server that answers as it is told, also in ways in which no honest one does.
#![allow(dead_code, reason = "each test program uses its own part")]

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

/// What somebody asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// With the query.
    pub(crate) path: String,
    /// The lines after the first.
    pub(crate) head: String,
    /// When.
    pub(crate) at: Instant,
}

impl Request {
    /// A header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// What is answered: bytes, and whether nothing comes after them for ever.
pub(crate) struct Reply(pub(crate) Vec<u8>, pub(crate) bool);

/// An answer with a status, more headers and a body.
pub(crate) fn reply(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Reply {
    let (body, first) = (body.as_ref(), format!("HTTP/1.1 {status} Said"));
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    let head = [&[first.as_str(), "Connection: close"], headers, &[length.as_str()]].concat().join("\r\n");
    Reply([head.as_bytes(), body].concat(), false)
}

/// An answer that all is well.
pub(crate) fn ok(body: impl AsRef<[u8]>) -> Reply {
    reply(200, &[], body)
}

/// An answer that sends elsewhere.
pub(crate) fn redirect(to: &str) -> Reply {
    reply(302, &[&format!("Location: {to}")], "")
}

/// A server on a loopback address. It lives as long as the test program.
pub(crate) struct Server {
    /// Where it is, with the scheme.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(None, answer)
    }

    pub(crate) fn serve(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), tls, answer)
    }

    pub(crate) fn serve_on(
        listener: TcpListener,
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (asked, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let record = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, tls, answer, record) =
                    (stream.unwrap(), tls.clone(), Arc::clone(&answer), Arc::clone(&record));
                // Whoever asks may be gone before the answer is, which is nothing to complain of.
                thread::spawn(move || match tls {
                    Some(tls) => {
                        let mut stream = StreamOwned::new(ServerConnection::new(tls).unwrap(), stream);
                        let _ = talk(&mut stream, &*answer, &record);
                        stream.conn.send_close_notify();
                        let _ = stream.flush();
                        // Closed with a request unread, a connection is reset, and the alert before it may be lost.
                        let _ = stream.sock.shutdown(Shutdown::Write);
                        let _ = std::io::copy(&mut stream.sock, &mut std::io::sink());
                    }
                    None => drop(talk(&mut { stream }, &*answer, &record)),
                });
            }
        });
        Self { url, asked }
    }

    /// All that was asked so far.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }

    /// The address without the scheme.
    pub(crate) fn host(&self) -> &str {
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
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = Request { path, head: rest.to_owned(), at: Instant::now() };
    record.lock().unwrap().push(request.clone());
    let Reply(bytes, hangs) = answer(&request);
    stream.write_all(&bytes)?;
    stream.flush()?;
    while hangs && stream.read(&mut [0; 64])? > 0 {}
    Ok(())
}

/// An authority of our own.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate and its key, for a server on a loopback address or for a client.
    pub(crate) fn sign(&self, usage: ExtendedKeyUsagePurpose) -> (String, String) {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// TLS for a server, which wants to see a client's certificate, or takes it if there is one.
    pub(crate) fn tls(&self, required: bool) -> Arc<ServerConfig> {
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
