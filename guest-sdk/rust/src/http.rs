//! Outgoing HTTP to granted hosts: `http = ["https://api.example.com:443"]`.
//!
//! ```
//! use latchwork_guest::{http, testing::Host};
//!
//! let host = Host::new().http(|request| {
//!     assert_eq!(request.url(), "https://api.example.com/v1/rates");
//!     Ok(http::Response::new(200, vec![("content-type".into(), "text/plain".into())], b"1.07".to_vec()))
//! });
//! host.run(|| {
//!     let response = http::Request::get("https://api.example.com/v1/rates").send()?;
//!     assert_eq!((response.status(), response.text()), (200, "1.07".into()));
//!     Ok::<(), http::Error>(())
//! })?;
//! # Ok::<(), http::Error>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::host;

/// What an answer may hold unless told otherwise.
const LIMIT: usize = 1 << 20;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) limit: usize,
}

impl Request {
    /// A request with this method (`PUT`) of this URL.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_ascii_uppercase(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: None,
            limit: LIMIT,
        }
    }
    /// A GET of this URL.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }
    /// A POST to this URL.
    pub fn post(url: &str) -> Self {
        Self::new("POST", url)
    }
    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
    /// The body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
    /// How long to wait for the connection, and again for each part of the answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
    /// The largest body of an answer, in bytes; 1 MiB without it.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
    /// The URL.
    pub fn url(&self) -> &str {
        &self.url
    }
    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }
    /// Send it and read the answer, whatever its status.
    pub fn send(&self) -> Result<Response, Error> {
        // Checked here, so that a test on the host fails where the component would.
        Url::parse(&self.url)?;
        host::net::send(self)
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    /// An answer, for tests.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        Self { status, headers, body }
    }
    /// The status code.
    pub fn status(&self) -> u16 {
        self.status
    }
    /// The first header of this name, in whatever case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
    /// The body as text, what is not UTF-8 replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL is not one.
    BadUrl,
    /// A header is not one, or one that the host sets itself.
    BadHeader,
    /// No grant covers the address.
    Denied,
    /// Nobody was reached: nothing was sent.
    NotConnected,
    /// It took too long.
    Timeout,
    /// The answer is larger than was allowed.
    TooLarge,
    /// Anything else.
    Other,
}

/// Why there is no answer.
///
/// It turns into a guest [`Error`](crate::Error) by `?`, which says that nothing was done only
/// where nothing can have been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
    /// What kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        match error.kind {
            ErrorKind::BadUrl | ErrorKind::BadHeader => Self::invalid_input(error.message),
            ErrorKind::Denied => Self::policy_denied(error.message),
            ErrorKind::NotConnected => Self::dependency_unavailable(error.message).not_applied(),
            ErrorKind::Timeout => Self::network_timeout(error.message),
            ErrorKind::TooLarge => Self::invalid_input(error.message).applied_unknown(),
            ErrorKind::Other => Self::temporary_provider_error(error.message),
        }
    }
}

/// The parts of a URL that a request is made of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url<'u> {
    pub(crate) secure: bool,
    pub(crate) authority: &'u str,
    pub(crate) path: Cow<'u, str>,
}

impl<'u> Url<'u> {
    pub(crate) fn parse(url: &'u str) -> Result<Self, Error> {
        let bad = |why: &str| Error::new(ErrorKind::BadUrl, format!("{url}: {why}"));
        let (scheme, rest) = url.split_once("://").ok_or_else(|| bad("has no scheme, such as https://"))?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(bad("is neither http nor https")),
        };
        if !rest.chars().all(|c| c.is_ascii_graphic()) {
            return Err(bad("holds characters that have to be percent-encoded"));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() {
            return Err(bad("names no host"));
        }
        if authority.contains('@') {
            return Err(bad("holds a user name; send credentials in a header"));
        }
        let path = if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(format!("/{path}")) };
        Ok(Self { secure, authority, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let parts = |url| Url::parse(url).map(|url| (url.secure, url.authority, url.path.into_owned()));
        assert_eq!(parts("https://a.org/b?c=d#e").unwrap(), (true, "a.org", "/b?c=d".into()));
        assert_eq!(parts("HTTP://a.org:8080").unwrap(), (false, "a.org:8080", "/".into()));
        assert_eq!(parts("http://a.org?x=1").unwrap(), (false, "a.org", "/?x=1".into()));
        for bad in ["a.org/b", "ftp://a.org", "https:///b", "https://me:pw@a.org/", "https://a.org/a b"] {
            assert_eq!(parts(bad).unwrap_err().kind(), ErrorKind::BadUrl, "{bad}");
        }
    }

    #[test]
    fn only_what_was_never_sent_is_certainly_not_done() {
        let applied = |kind| crate::Error::from(Error::new(kind, "")).applied();
        assert_eq!(applied(ErrorKind::NotConnected), crate::Applied::No);
        for kind in [ErrorKind::Timeout, ErrorKind::Other, ErrorKind::TooLarge] {
            assert_eq!(applied(kind), crate::Applied::Unknown);
        }
    }
}
