//! `wasi:http/outgoing-handler`: requests to granted servers.
//!
//! The host follows no redirects. The guest gets a redirect as an ordinary answer. A guest that follows a redirect
//! sends a new request, and the host checks this request like any other.

use std::io;
use std::net::Ipv6Addr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HeaderValue, IF_RANGE, RANGE};
use hyper::{Method, Request, Uri};
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use latchwork_core::model::bounds;

use crate::capability::call_window::CallWindow;
use crate::capability::connect::{SentRequest, Target};
use crate::capability::denied::Denied;
use crate::capability::grants::{HttpGrant, Origin};
use crate::capability::handles::{RequestSlot, RequestSlots};
use crate::capability::http_grant::RequestLine;
use crate::capability::placeholder::Placeholders;
use crate::capability::secret_echo::SecretEcho;
use crate::capability::secret_insertion::SecretInsertion;
use crate::capability::settings::PluginSettings;
use crate::capability::{connect, http_grant};
use crate::guest::permissions::CallPermissions;

/// Maximum length in bytes of a body that is sent with a `Content-Length`. The length is recalculated after secrets are
/// inserted. A longer body is sent in chunks.
const COUNTED_BODY_BYTES_MAX: u64 = 1 << 20;

/// Length in bytes up to which all bodies have the same limit. A body up to this length may grow to twice this length
/// when secrets are inserted. A longer body may grow to twice its own length.
const SHORT_BODY_BYTES: u64 = 16 << 10;

/// Headers by which some servers replace the method or the path of a request.
const OVERRIDES: [&str; 5] =
    ["x-http-method", "x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"];

/// Request hooks of one call, which check each request before it is sent.
pub(crate) struct RequestHooks {
    pub(crate) settings: Arc<PluginSettings>,
    pub(crate) permissions: CallPermissions,
    pub(crate) watch: CallWindow,
    pub(crate) placeholders: Placeholders,
    /// Places of requests. The first request creates them.
    pub(crate) slots: Option<RequestSlots>,
}

impl RequestHooks {
    /// Performs every check that is possible before anything leaves the host. Returns the server and the grants that
    /// allow the request.
    fn admit(&self, request: &Request<WasiBody>) -> Result<(Origin, Arc<[HttpGrant]>), Error> {
        let origin = request_origin(request.uri())?;
        let method = request.method();
        if *method == Method::CONNECT {
            return Err(Error::HttpRequestMethodInvalid);
        }
        if let Some(name) = OVERRIDES.iter().find(|name| request.headers().contains_key(**name)) {
            let denied = Denied::never(
                format!("wanted to send the header {name}"),
                "a grant states methods and paths, which this header would replace; send the method and the path themselves",
            );
            denied.record(&self.watch, &self.settings.name);
            return Err(Error::HttpRequestDenied);
        }
        let line = RequestLine { origin: &origin, path: request.uri().path(), method };
        let matched = http_grant::check_http(&self.settings.grants, self.permissions, &line).map_err(|denied| {
            denied.record(&self.watch, &self.settings.name);
            Error::HttpRequestDenied
        })?;
        let matched = matched.into_iter().cloned().collect();
        self.watch.check().map_err(|_| Error::ConnectionTimeout)?;
        Ok((origin, matched))
    }
}

impl WasiHttpHooks for RequestHooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _response_processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<SentRequest, Error>> + Send> {
        let admitted = self.admit(&request);
        let (settings, watch) = (self.settings.clone(), self.watch.clone());
        let (placeholders, permissions) = (self.placeholders.clone(), self.permissions);
        let slots = self.slots.get_or_insert_with(RequestSlots::new).clone();
        let taken = slots.take();
        Box::new(async move {
            let (origin, matched) = admitted?;
            let mut slot = taken.ok_or(Error::ConnectionLimitReached)?;
            let options = options.unwrap_or_default();
            // A plugin without secrets has no placeholders, and one that gets them in clear replaces them itself.
            if settings.grants.secrets_clear || settings.grants.secret_names().is_empty() {
                let target = Target { origin: &origin, permissions };
                let sent = connect::send(request, options, target, &settings, &watch).await?;
                return Ok(holding(slot, sent));
            }
            let method = request.method().clone();
            let echo = SecretEcho::new(&settings, &placeholders);
            let insertion = SecretInsertion { placeholders, settings: settings.clone(), matched, watch: watch.clone() };
            let request = with_secrets(request, &insertion, &slots, &mut slot).await?;
            let target = Target { origin: &origin, permissions };
            let (response, connection) = connect::send(request, options, target, &settings, &watch).await?;
            let response = match echo {
                Some(echo) => echo.replace_in(&method, response),
                None => response,
            };
            Ok(holding(slot, (response, connection)))
        })
    }

    // By default, each of the next three functions logs a warning for each failed request. A guest could fill the log.
    fn p2_error_from_hyper(&mut self, error: &hyper::Error) -> ErrorCode {
        tracing::debug!("a request failed: {error:?}");
        ErrorCode::HttpProtocolError
    }

    fn p2_error_from_connect(&mut self, error: &io::Error) -> ErrorCode {
        tracing::debug!("a connection failed: {error}");
        ErrorCode::ConnectionRefused
    }

    fn p2_error_from_tls(&mut self, error: &io::Error) -> ErrorCode {
        tracing::debug!("a TLS connection failed: {error}");
        ErrorCode::TlsProtocolError
    }
}

/// Returns a sent request that keeps its place until its answer has been received or dropped.
fn holding(slot: RequestSlot, (response, connection): SentRequest) -> SentRequest {
    let connection = Box::new(async move {
        let _slot = slot;
        // The guest gets the error with the body of the answer. wasmtime-wasi-http would only log it, as a warning.
        if let Err(error) = Box::into_pin(connection).await {
            tracing::debug!("a connection broke: {error}");
        }
        Ok(())
    });
    (response, connection)
}

/// Returns scheme, host and port of a request. Refuses an address with a user name, because the text before the `@`
/// could be mistaken for the host.
pub fn request_origin(uri: &Uri) -> Result<Origin, Error> {
    let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
    let is_host = (1..=bounds::HOST_NAME_BYTES).contains(&authority.host().len());
    if authority.as_str().contains('@') || !is_host {
        return Err(Error::HttpRequestUriInvalid);
    }
    // Brackets enclose an IPv6 address, and nothing but a port follows them.
    let bracketed = authority.host().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = match bracketed {
        Some(address) if address.parse::<Ipv6Addr>().is_ok() => address,
        None if !authority.host().contains(['[', ']']) => authority.host(),
        _ => return Err(Error::HttpRequestUriInvalid),
    };
    let rest = &authority.as_str()[authority.host().len()..];
    if !(rest.is_empty() || rest.starts_with(':')) {
        return Err(Error::HttpRequestUriInvalid);
    }
    let scheme = uri.scheme_str().ok_or(Error::HttpRequestUriInvalid)?.to_ascii_lowercase();
    let port = match authority.port_u16() {
        Some(port) => port,
        // The text after the colon of the authority is not a valid port number.
        None if authority.as_str().len() > authority.host().len() => return Err(Error::HttpRequestUriInvalid),
        None if scheme == "https" => 443,
        None => 80,
    };
    Ok(Origin { scheme, host: host.to_ascii_lowercase(), port })
}

/// Inserts the values of secrets into the request's header values and body. A placeholder in the address refuses the
/// request.
async fn with_secrets(
    request: Request<WasiBody>,
    insertion: &SecretInsertion,
    slots: &RequestSlots,
    slot: &mut RequestSlot,
) -> Result<Request<WasiBody>, Error> {
    let (mut parts, body) = request.into_parts();
    insertion.check_address(&parts.uri)?;
    insertion.insert_into_headers(&mut parts.headers)?;
    // A compressed answer, or a part of one, would hide a secret that the server sends back.
    parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    parts.headers.remove(RANGE);
    parts.headers.remove(IF_RANGE);
    let announced = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let body = insertion.insert_into_body(body);
    let body = match announced {
        None | Some(0) => body,
        Some(length) if length <= COUNTED_BODY_BYTES_MAX => {
            // A secret may be longer than its placeholder. The body with the secrets may therefore have twice the
            // length that is allowed for the body with the placeholders.
            let limit = 2 * length.max(SHORT_BODY_BYTES) as u32;
            if !slots.take_body(slot, limit) {
                return Err(Error::ConnectionLimitReached);
            }
            let whole = Limited::new(body, limit as usize)
                .collect()
                .await
                .map_err(|error| match error.downcast::<Error>() {
                    Ok(denied) => *denied,
                    Err(_) => Error::HttpRequestBodySize(Some(length)),
                })?
                .to_bytes();
            parts.headers.insert(CONTENT_LENGTH, whole.len().into());
            Full::<Bytes>::new(whole).map_err(|never| match never {}).boxed_unsync()
        }
        Some(_) => {
            parts.headers.remove(CONTENT_LENGTH);
            body
        }
    };
    Ok(Request::from_parts(parts, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I225: bound `host_name_bytes`.
    #[test]
    fn name_of_the_host_of_a_request_is_bounded() {
        let origin = |bytes: usize| request_origin(&format!("http://{}:80/", "h".repeat(bytes)).parse().unwrap());
        assert_eq!(origin(bounds::HOST_NAME_BYTES).unwrap().host.len(), bounds::HOST_NAME_BYTES);
        assert!(matches!(origin(bounds::HOST_NAME_BYTES + 1), Err(Error::HttpRequestUriInvalid)));
    }

    #[test]
    fn request_origin_is_parsed() {
        let place =
            |text: &str| request_origin(&text.parse().unwrap()).map(|p| format!("{} {} {}", p.scheme, p.host, p.port));
        assert_eq!(place("https://API.example/x").unwrap(), "https api.example 443");
        assert_eq!(place("http://a.example:8080/").unwrap(), "http a.example 8080");
        assert_eq!(place("http://[::1]:80/").unwrap(), "http ::1 80");
        for bad in [
            "https://granted.example@evil.example/",
            "http://[granted.example]:80/",
            "http://[granted.example]x:443/",
            "http://[::1]x:80/",
            "/only/a/path",
            "http://a.example:99999/",
        ] {
            let uri = bad.parse::<Uri>();
            assert!(uri.is_err() || request_origin(&uri.unwrap()).is_err(), "{bad}");
        }
    }
}
