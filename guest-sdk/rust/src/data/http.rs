//! HTTP requests, responses and errors, and the parts of a URL.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Default maximum size of a response body: 1 MiB.
const LIMIT: usize = 1 << 20;

/// An HTTP request. Nothing is sent before [`send`](Request::send).
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
    /// Creates a request with a method, such as `PUT`, for an absolute `http` or `https` URL.
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
    /// Creates a GET request.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }
    /// Creates a POST request.
    pub fn post(url: &str) -> Self {
        Self::new("POST", url)
    }
    /// Adds a header. Repeated names are sent as separate headers.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
    /// Sets the body. A `content-length` header is added if the body is not empty.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
    /// Sets the timeout for the connection, for the first byte of the response, and for each pause between
    /// two parts of the response.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
    /// Sets the maximum size of the response body in bytes. The default is 1 MiB.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
    /// Returns the URL.
    pub fn url(&self) -> &str {
        &self.url
    }
    /// Returns the method in upper case.
    pub fn method(&self) -> &str {
        &self.method
    }
}

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    /// Creates a response, for tests.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        Self { status, headers, body }
    }
    /// Returns the status code.
    pub fn status(&self) -> u16 {
        self.status
    }
    /// Returns the value of the first header with this name. The case of the name is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
    /// Returns the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
    /// Returns the body as text. Invalid UTF-8 is replaced by U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// Kind of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL is invalid.
    BadUrl,
    /// A header is invalid, or only the host may set it.
    BadHeader,
    /// No grant covers the address of the URL.
    Denied,
    /// No connection was made. Nothing was sent.
    NotConnected,
    /// The server did not respond in time.
    Timeout,
    /// The response body is larger than the limit of the request.
    TooLarge,
    /// Anything else.
    Other,
}

/// Error of a request that got no complete response.
///
/// Converts into a guest [`Error`](crate::Error) by `?`. The result has `applied: no` only if nothing was
/// sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
    /// Returns the kind of the failure.
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

/// The parts of a URL that a WASI request needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url<'u> {
    pub(crate) secure: bool,
    pub(crate) authority: &'u str,
    pub(crate) path: Cow<'u, str>,
}

impl<'u> Url<'u> {
    pub(crate) fn parse(url: &'u str) -> Result<Self, Error> {
        let bad = |why: &str| Error::new(ErrorKind::BadUrl, format!("{url}: {why}"));
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| bad("has no scheme; start it with https:// or http://"))?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(bad("is neither http nor https")),
        };
        if !rest.chars().all(|c| c.is_ascii_graphic()) {
            return Err(bad("contains characters that must be percent-encoded"));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() {
            return Err(bad("has no host"));
        }
        if authority.contains('@') {
            return Err(bad("contains a user name; send credentials in a header"));
        }
        let path = if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(format!("/{path}")) };
        Ok(Self { secure, authority, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        let parts = |url| Url::parse(url).map(|url| (url.secure, url.authority, url.path.into_owned()));
        assert_eq!(parts("https://a.org/b?c=d#e").unwrap(), (true, "a.org", "/b?c=d".into()));
        assert_eq!(parts("HTTP://a.org:8080").unwrap(), (false, "a.org:8080", "/".into()));
        assert_eq!(parts("http://a.org?x=1").unwrap(), (false, "a.org", "/?x=1".into()));
        for bad in ["a.org/b", "ftp://a.org", "https:///b", "https://me:pw@a.org/", "https://a.org/a b"] {
            assert_eq!(parts(bad).unwrap_err().kind(), ErrorKind::BadUrl, "{bad}");
        }
    }

    #[test]
    fn only_not_connected_errors_are_not_applied() {
        let applied = |kind| crate::Error::from(Error::new(kind, "")).applied();
        assert_eq!(applied(ErrorKind::NotConnected), crate::Applied::No);
        for kind in [ErrorKind::Timeout, ErrorKind::Other, ErrorKind::TooLarge] {
            assert_eq!(applied(kind), crate::Applied::Unknown);
        }
    }
}
