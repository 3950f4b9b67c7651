//! `wasi:http/outgoing-handler`: requests to granted servers.
//!
//! The host follows no redirects. The guest gets a redirect as an ordinary answer. A guest that follows a redirect
//! sends a new request, and the host checks this request like any other.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::CONTENT_LENGTH;
use hyper::{Method, Request, Uri};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use crate::capability::call_window::CallWindow;
use crate::capability::connect::SentRequest;
use crate::capability::grant::EffectivePermissions;
use crate::capability::grants::HttpGrant;
use crate::capability::placeholder::Placeholders;
use crate::capability::settings::PluginSettings;
use crate::capability::{connect, grant};

/// Maximum length in bytes of a body that is sent with a `Content-Length`. The length is recalculated after secrets are
/// inserted. A longer body is sent in chunks.
const COUNTED_BODY_BYTES_MAX: u64 = 1 << 20;

/// Request hooks of one call, which check each request before it is sent.
pub(crate) struct RequestHooks {
    pub(crate) settings: Arc<PluginSettings>,
    pub(crate) rights: EffectivePermissions,
    pub(crate) watch: CallWindow,
    pub(crate) placeholders: Placeholders,
}

impl RequestHooks {
    /// Performs every check that is possible before anything leaves the host.
    fn admit(&self, request: &Request<WasiBody>) -> Result<HttpGrant, Error> {
        let place = request_origin(request.uri())?;
        if *request.method() == Method::CONNECT {
            return Err(Error::HttpRequestMethodInvalid);
        }
        grant::check_http(&self.settings.grants, self.rights, &place, request.method()).map_err(|denied| {
            self.watch.record_denied(denied.log(&self.settings.name));
            Error::HttpRequestDenied
        })?;
        self.watch.check().map_err(|_| Error::ConnectionTimeout)?;
        Ok(place)
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
        // Placeholders are replaced only if the plugin has secrets and does not get them in clear text.
        let replaces = !settings.grants.secrets.is_empty() && !settings.grants.secrets_clear;
        let placeholders = replaces.then(|| self.placeholders.clone());
        Box::new(async move {
            let place = admitted?;
            let request = match placeholders {
                Some(placeholders) => with_secrets(request, &placeholders).await?,
                None => request,
            };
            connect::send(request, options.unwrap_or_default(), &place, &settings, &watch).await
        })
    }
}

/// Returns scheme, host and port of a request. Refuses an address with a user name, because the text before the `@`
/// could be mistaken for the host.
pub fn request_origin(uri: &Uri) -> Result<HttpGrant, Error> {
    let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
    if authority.as_str().contains('@') || authority.host().is_empty() {
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
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Ok(HttpGrant { scheme, host, port })
}

/// Inserts the values of secrets into the request's header values and body, and nowhere else.
async fn with_secrets(request: Request<WasiBody>, placeholders: &Placeholders) -> Result<Request<WasiBody>, Error> {
    let (mut parts, body) = request.into_parts();
    for value in parts.headers.values_mut() {
        *value = placeholders.replace_in_header(value)?;
    }
    let announced = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let body = placeholders.replace_in_body(body);
    let body = match announced {
        None | Some(0) => body,
        Some(length) if length <= COUNTED_BODY_BYTES_MAX => {
            // A secret may be longer than its placeholder. The body with the secrets may therefore have twice the
            // length that is allowed for the body with the placeholders.
            let limit = usize::try_from(2 * COUNTED_BODY_BYTES_MAX).expect("a small constant");
            let whole = Limited::new(body, limit)
                .collect()
                .await
                .map_err(|_| Error::HttpRequestBodySize(Some(length)))?
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

    #[test]
    fn request_origin_is_parsed() {
        let place =
            |text: &str| request_origin(&text.parse().unwrap()).map(|p| format!("{} {} {}", p.scheme, p.host, p.port));
        assert_eq!(place("https://API.example/x").unwrap(), "https api.example 443");
        assert_eq!(place("http://a.example:8080/").unwrap(), "http a.example 8080");
        assert_eq!(place("http://[::1]:80/").unwrap(), "http ::1 80");
        for bad in ["https://granted.example@evil.example/", "/only/a/path", "http://a.example:99999/"] {
            let uri = bad.parse::<Uri>();
            assert!(uri.is_err() || request_origin(&uri.unwrap()).is_err(), "{bad}");
        }
    }
}
