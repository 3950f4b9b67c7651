//! The servers of a case, which answer with its canned responses.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response};

use latchwork_engine::capability::grants::Origin;
use latchwork_engine::capability::{HttpStub, StubFailure};

use crate::check::tools::case::{CannedResponse, KEY_MARK, ToolCase};
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::question_by_post::{is_changing, is_question_by_post};

/// Page of a proxy or a captive portal, in place of the body of an answer.
const PAGE: &[u8] = b"<html><body>Sign in</body></html>";

/// A request that a server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// True if the request only asks, although its method is POST. Other requests of the cases change something.
    pub(super) asks_by_post: bool,
    /// Status of the answer, if there was one.
    pub(super) status: Option<u16>,
}

impl ReceivedRequest {
    /// Returns true if the request may change the server's state, judged by its method and its path.
    pub(super) fn may_change_state(&self) -> bool {
        !self.asks_by_post && is_changing(&self.method)
    }

    /// Returns true if the request may have changed the server's state, judged by its method and by the status of its
    /// answer. Most statuses from 400 to 499 say that the request was refused.
    pub(super) fn may_have_changed_state(&self) -> bool {
        let is_refused = |status: u16| (400..500).contains(&status) && !matches!(status, 408 | 425);
        self.may_change_state() && !self.status.is_some_and(is_refused)
    }

    /// Returns true if the request only asks.
    pub(super) fn is_question(&self) -> bool {
        !self.may_change_state()
    }

    /// Returns true if the server reports success.
    pub(super) fn is_successful(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns true if the status of the answer says nothing of the state of the server.
    pub(super) fn has_failed(&self) -> bool {
        self.status.is_none_or(|status| matches!(status, 401 | 403 | 408 | 429 | 500..))
    }

    /// Returns the scheme and the host of the request.
    pub(super) fn origin(&self) -> &str {
        let start = self.url.find("://").map_or(0, |at| at + 3);
        let end = self.url[start..].find('/').map_or(self.url.len(), |at| start + at);
        &self.url[..end]
    }

    /// Returns true if the answer says that an earlier try can have had this effect.
    pub(super) fn is_conflict(&self) -> bool {
        self.may_change_state() && matches!(self.status, Some(409 | 412))
    }

    /// Returns true if the key occurs anywhere in the request.
    pub(super) fn contains_key(&self, key: &str) -> bool {
        let body = String::from_utf8_lossy(&self.body);
        self.url.contains(key) || body.contains(key) || self.headers.iter().any(|(_, value)| value.contains(key))
    }

    /// Returns the headers that contain the key.
    pub(super) fn keyed_headers<'r>(&'r self, key: &'r str) -> impl Iterator<Item = &'r (String, String)> {
        self.headers.iter().filter(move |(_, value)| value.contains(key))
    }

    /// Returns the parts of a request that must be equal in a repetition of the request under this key. The boundary
    /// between the parts of a body may differ.
    pub(super) fn identity<'r>(&'r self, key: &'r str) -> ComparedRequest<'r> {
        let body = match self.boundary() {
            Some(boundary) => {
                let body = String::from_utf8_lossy(&self.body);
                Cow::Owned(body.replace(boundary, "boundary").into_bytes())
            }
            None => Cow::Borrowed(self.body.as_slice()),
        };
        ComparedRequest { method: &self.method, url: &self.url, body, headers: self.keyed_headers(key).collect() }
    }

    /// Returns the text between the parts of a body of the type `multipart`.
    fn boundary(&self) -> Option<&str> {
        let is_type = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-type");
        let (_, kind) = self.headers.iter().find(is_type)?;
        let (_, after) = kind.strip_prefix("multipart/")?.split_once("boundary=")?;
        let boundary = after.split(';').next().unwrap_or_default().trim().trim_matches('"');
        (!boundary.is_empty()).then_some(boundary)
    }
}

/// Parts of a request that must be equal in its repetition.
#[derive(PartialEq)]
pub(super) struct ComparedRequest<'r> {
    method: &'r str,
    url: &'r str,
    body: Cow<'r, [u8]>,
    headers: Vec<&'r (String, String)>,
}

#[derive(Default)]
pub(super) struct RequestLog {
    /// Requests that were received since the log was last read.
    pub(super) since: Vec<ReceivedRequest>,
    /// Number of world-changing requests that were ever received.
    changing: usize,
    /// True if the case had no answer for a request.
    pub(super) is_unanswered: bool,
}

/// Stub servers of a case.
pub(super) struct StubServers {
    responses: Vec<CannedResponse>,
    /// True if a request of a case changes something, apart from questions by POST.
    has_change: bool,
    pub(super) fault: Mutex<FaultProfile>,
    pub(super) received: Mutex<RequestLog>,
}

impl StubServers {
    pub(super) fn of(case: &ToolCase) -> Self {
        let key = case.external_key();
        let responses: Vec<_> = case.http.iter().map(|canned| with_key(canned, &key)).collect();
        let has_change = case.has_change;
        Self { responses, has_change, fault: Mutex::new(FaultProfile::Fair), received: Mutex::default() }
    }
}

impl HttpStub for StubServers {
    fn answer(&self, place: &Origin, request: Request<Bytes>) -> Result<Response<Bytes>, StubFailure> {
        let fault = *self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let changing = self.received.lock().unwrap_or_else(PoisonError::into_inner).changing;
        let is_unreachable = matches!(fault, FaultProfile::UnreachableAfter(number) if changing >= number);
        if fault == FaultProfile::Refused || is_unreachable {
            return Err(StubFailure::Refused);
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let port = match (place.scheme.as_str(), place.port) {
            ("https", 443) | ("http", 80) => String::new(),
            (_, port) => format!(":{port}"),
        };
        let url = format!("{}://{}{port}{path}", place.scheme, place.host);
        let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let mut received = ReceivedRequest {
            method: request.method().to_string(),
            url,
            headers: request.headers().iter().map(header).collect(),
            body: request.body().to_vec(),
            asks_by_post: false,
            status: None,
        };
        received.asks_by_post = self.has_change && is_question_by_post(&received.method, &received.url);
        let mut requests = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        let changing = requests.changing;
        let happened = changing > 0;
        let changes = received.may_change_state();
        requests.changing += usize::from(changes);
        let answer = match fault {
            FaultProfile::RefusedFrom(first) if changes && changing >= first => {
                Ok(response(422, None, Bytes::from_static(b"{}")))
            }
            FaultProfile::Silent => Err(StubFailure::TimedOut),
            FaultProfile::Status(status) => {
                let retry = (status == 429).then_some(("retry-after", "7"));
                Ok(response(status, retry, Bytes::from_static(b"{}")))
            }
            FaultProfile::LimitedUntil => {
                let retry = ("retry-after", "Mon, 05 Jan 2026 09:01:00 GMT");
                Ok(response(429, [retry], Bytes::from_static(b"{}")))
            }
            FaultProfile::QuestionStatus(status) if !changes => Ok(response(status, None, Bytes::from_static(b"{}"))),
            FaultProfile::ChangeStatus(status) if changes => Ok(response(status, None, Bytes::from_static(b"{}"))),
            _ => Ok(self.canned(&received, request.method(), happened).unwrap_or_else(|| {
                requests.is_unanswered = true;
                response(404, None, Bytes::from_static(b"no answer of the case fits this request"))
            })),
        };
        received.status = answer.as_ref().ok().map(|response| response.status().as_u16());
        requests.since.push(received);
        match answer {
            Ok(response) if fault == FaultProfile::Garbled && !response.body().is_empty() => {
                Ok(response.map(|_| Bytes::from_static(PAGE)))
            }
            answer => answer,
        }
    }
}

impl StubServers {
    /// Returns the answer of the case to this request.
    fn canned(&self, request: &ReceivedRequest, method: &Method, happened: bool) -> Option<Response<Bytes>> {
        let fits = |canned: &&CannedResponse| {
            let to = &canned.matcher;
            // A key in a path has its colons as they are, or encoded.
            let decoded = request.url.replace("%3A", ":").replace("%3a", ":");
            let is_to =
                |url: &str| url == to.url || !to.url.contains('?') && url.split('?').next() == Some(to.url.as_str());
            (is_to(&request.url) || is_to(&decoded))
                && to.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method.as_str()))
                && to.happened.is_none_or(|wanted| wanted == happened)
        };
        let canned = &self.responses.iter().find(fits)?.response;
        let body = match &canned.body {
            serde_json::Value::Null => Bytes::new(),
            serde_json::Value::String(text) => Bytes::from(text.clone()),
            other => Bytes::from(other.to_string()),
        };
        let headers = canned.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Some(response(canned.status, headers, body))
    }
}

/// Returns a copy in which the external key of the call takes the place of its mark.
fn with_key(canned: &CannedResponse, key: &str) -> CannedResponse {
    let mut canned = canned.clone();
    canned.matcher.url = canned.matcher.url.replace(KEY_MARK, key);
    for value in canned.response.headers.values_mut() {
        *value = value.replace(KEY_MARK, key);
    }
    // A key needs no escapes in JSON.
    let body = canned.response.body.to_string().replace(KEY_MARK, key);
    canned.response.body = serde_json::from_str(&body).unwrap_or(canned.response.body);
    canned
}

fn response<'h>(status: u16, headers: impl IntoIterator<Item = (&'h str, &'h str)>, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::OK);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (http::HeaderName::try_from(name), http::HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
