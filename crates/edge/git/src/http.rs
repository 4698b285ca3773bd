//! git's smart protocol over HTTP, with the client of the other repositories.

use std::any::Any;
use std::cell::RefCell;
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use fitout_repositories::{Access, Http, HttpRequest, Response};
use gix_error::ErrorExt;
use gix_transport::client::blocking_io::http::{self, GetResponse, PostBodyDataKind, PostResponse};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderName};

use crate::Cause;
use crate::guard::Guard;

/// The media type of a server that speaks git's protocol.
const ADVERTISEMENT: &str = "application/x-git-upload-pack-advertisement";

/// The media type of an answer.
const RESULT: &str = "application/x-git-upload-pack-result";

/// The HTTP client of one connection.
pub(crate) struct Client {
    http: Arc<Http>,
    /// The credentials, as long as the server is the one of the address.
    access: Access,
    guard: Guard,
    /// The address after a redirect.
    moved_to: Option<String>,
}

/// A request and its response, which begins when it is first read.
struct Exchange {
    http: Arc<Http>,
    access: Access,
    guard: Guard,
    url: Url,
    headers: Vec<(HeaderName, String)>,
    /// The body of a POST.
    body: Option<Vec<u8>>,
    response: Option<Response>,
}

type Shared = Rc<RefCell<Exchange>>;

/// The headers of a response, as lines.
pub(crate) struct Headers {
    exchange: Shared,
    lines: Option<io::Cursor<Vec<u8>>>,
}

/// The body of a response.
pub(crate) struct Body {
    exchange: Shared,
    chunk: io::Cursor<Vec<u8>>,
}

/// The body of a request.
pub(crate) struct PostBody(Shared);

impl Client {
    pub(crate) fn new(http: Arc<Http>, access: Access, guard: Guard) -> Self {
        Self { http, access, guard, moved_to: None }
    }

    fn exchange(&self, url: &str, headers: Vec<(HeaderName, String)>, body: Option<Vec<u8>>) -> io::Result<Shared> {
        let url = Url::parse(url).map_err(|_| self.guard.fail(not_a_repository(url)))?;
        let (http, access, guard) = (Arc::clone(&self.http), self.access.clone(), self.guard.clone());
        Ok(Rc::new(RefCell::new(Exchange { http, access, guard, url, headers, body, response: None })))
    }

    /// Notes the address after a redirect, and drops the credentials if the server is another one.
    fn follow(&mut self, url: &str, base: &str, exchange: &Shared) -> io::Result<()> {
        let exchange = exchange.borrow();
        let Some(response) = exchange.response.as_ref().filter(|response| *response.url() != exchange.url) else {
            return Ok(());
        };
        let tail = url.strip_prefix(base).unwrap_or(url);
        let Some(moved_to) = response.url().as_str().strip_suffix(tail) else {
            return Err(self.guard.fail(not_a_repository(url)));
        };
        self.moved_to = Some(moved_to.to_owned());
        if !response.is_from_home() {
            self.access = Access { authority: self.access.authority.take(), ..Access::default() };
        }
        Ok(())
    }
}

fn not_a_repository(url: &str) -> Cause {
    let what = fitout_repositories::redacted(url.split("/info/refs").next().unwrap_or(url));
    Cause::NotARepository { what }
}

fn parse_headers(headers: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<(HeaderName, String)> {
    let parse = |header: &str| {
        let (name, value) = header.split_once(':')?;
        Some((name.parse().ok()?, value.trim().to_owned()))
    };
    headers.into_iter().filter_map(|header| parse(header.as_ref())).collect()
}

impl http::Http for Client {
    type Headers = Headers;
    type ResponseBody = Body;
    type PostBody = PostBody;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix_error::Result<GetResponse<Headers, Body>> {
        let start = |client: &mut Self, headers| {
            let exchange = client.exchange(url, headers, None)?;
            exchange.borrow_mut().start()?;
            client.follow(url, base_url, &exchange)?;
            let is_git = |response: &Response| response.header(&CONTENT_TYPE).any(|kind| kind == ADVERTISEMENT);
            if !exchange.borrow().response.as_ref().is_some_and(is_git) {
                return Err(client.guard.fail(not_a_repository(url)));
            }
            Ok(exchange)
        };
        let exchange = start(self, parse_headers(headers)).map_err(ErrorExt::raise)?;
        Ok(GetResponse { headers: Headers::of(&exchange), body: Body::of(&exchange) })
    }

    fn post(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _kind: PostBodyDataKind,
    ) -> gix_error::Result<PostResponse<Headers, Body, PostBody>> {
        let exchange = self.exchange(url, parse_headers(headers), Some(Vec::new())).map_err(ErrorExt::raise)?;
        let (headers, body) = (Headers::of(&exchange), Body::of(&exchange));
        Ok(PostResponse { post_body: PostBody(exchange), headers, body })
    }

    fn configure(&mut self, _: &dyn Any) -> gix_error::Result {
        Ok(())
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.moved_to.clone()
    }
}

impl Exchange {
    /// Sends the request, unless it has been sent.
    fn start(&mut self) -> io::Result<&mut Response> {
        if self.response.is_none() {
            let is_post = self.body.is_some();
            let body = self.body.take();
            let request = HttpRequest {
                url: self.url.clone(),
                access: &self.access,
                headers: &self.headers,
                body: body.as_deref(),
            };
            let sent = self.guard.wait(async {
                self.http.request(request).await.map_err(|cause| match cause {
                    fitout_repositories::Cause::Missing { .. } => not_a_repository(self.url.as_str()),
                    cause => Cause::Http(cause),
                })
            });
            let response = sent?;
            let kind = response.header(&CONTENT_TYPE).next().unwrap_or_default();
            if is_post && kind != RESULT {
                let kind = crate::ssh::plain(kind);
                return Err(self.guard.fail(Cause::Malformed(format!("its type is {kind:?}, not {RESULT}"))));
            }
            self.response = Some(response);
        }
        self.response.as_mut().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// The next bytes of the body; none at its end.
    fn chunk(&mut self) -> io::Result<Vec<u8>> {
        let guard = self.guard.clone();
        let response = self.start()?;
        let chunk = guard.wait(async { response.chunk().await.map_err(Cause::Http) })?;
        let chunk = chunk.map(|chunk| chunk.as_ref().to_vec()).unwrap_or_default();
        guard.count(chunk.len())?;
        Ok(chunk)
    }

    /// The headers that are of interest, a line each.
    fn headers(&mut self) -> io::Result<Vec<u8>> {
        let response = self.start()?;
        let lines = response.header(&CONTENT_TYPE).map(|value| format!("{CONTENT_TYPE}: {value}\n"));
        Ok(lines.collect::<String>().into_bytes())
    }
}

impl Headers {
    fn of(exchange: &Shared) -> Self {
        Self { exchange: Rc::clone(exchange), lines: None }
    }
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Headers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let lines = match self.lines.take() {
            Some(lines) => lines,
            None => io::Cursor::new(self.exchange.borrow_mut().headers()?),
        };
        self.lines.insert(lines).fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Some(lines) = &mut self.lines {
            lines.consume(count);
        }
    }
}

impl Body {
    fn of(exchange: &Shared) -> Self {
        Self { exchange: Rc::clone(exchange), chunk: io::Cursor::default() }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunk.position() == self.chunk.get_ref().len() as u64 {
            self.chunk = io::Cursor::new(self.exchange.borrow_mut().chunk()?);
        }
        self.chunk.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.chunk.consume(count);
    }
}

impl Write for PostBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(body) = &mut self.0.borrow_mut().body {
            body.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
