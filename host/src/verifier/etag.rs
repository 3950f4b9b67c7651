//! `etag`: requests the entity tag of the resource from its server.
//!
//! The URL is the `external_ref` of the recorded change or, without an `external_ref`, the `resource_id` of the change.
//! The host of the URL must be granted to the plugin. The verifier sends `HEAD` first. It sends `GET` if `HEAD` is not
//! granted, or if the server does not support `HEAD` or returns no tag. Redirects are not followed. If the recorded
//! change deleted the resource, the server must answer 404 or 410.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::header::{ETAG, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use wasmtime_wasi_http::{RequestOptions, WasiBody};

use latchwork_core::model::error::Failure;
use latchwork_engine::VerifyResult;
use latchwork_engine::capability::call_window::CallWindow;
use latchwork_engine::capability::connect::Target;
use latchwork_engine::capability::http::request_origin;
use latchwork_engine::capability::http_grant::RequestLine;
use latchwork_engine::capability::{connect, http_grant};
use latchwork_engine::guest::permissions::CallPermissions;

use super::resource_verifier::{ResourceVerifier, VerificationRequest, unavailable};

/// Verifier that compares entity tags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Etag;

/// Response of a server.
struct TagResponse {
    status: StatusCode,
    etag: Option<String>,
}

#[async_trait]
impl ResourceVerifier for Etag {
    fn name(&self) -> &'static str {
        "etag"
    }

    async fn verify(&self, looking: &VerificationRequest<'_>) -> Result<VerifyResult, Failure> {
        let change = looking.change;
        let is_deleted = change.operation == "delete";
        let recorded = match (&change.etag, is_deleted) {
            (Some(etag), _) => etag.as_str(),
            (None, true) => "",
            (None, false) => return Err(unavailable("no entity tag was recorded")),
        };
        let address = change.external_ref.as_deref().unwrap_or(&change.resource_id);
        let uri: Uri = address.parse().map_err(|_| unavailable(format!("{address:?} is not an address")))?;
        let head = match is_granted(&Method::HEAD, &uri, looking) {
            true => Some(request_tag(&Method::HEAD, &uri, looking).await?),
            false => None,
        };
        let is_answer = |answered: &TagResponse| {
            let no_head = matches!(answered.status, StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED);
            !(no_head || answered.status.is_success() && answered.etag.is_none())
        };
        let TagResponse { status, etag } = match head.filter(is_answer) {
            Some(answered) => answered,
            None => request_tag(&Method::GET, &uri, looking).await?,
        };
        match (status, etag) {
            (StatusCode::NOT_FOUND | StatusCode::GONE, _) if is_deleted => Ok(VerifyResult::Confirmed),
            (StatusCode::NOT_FOUND | StatusCode::GONE, _) => {
                Ok(VerifyResult::Mismatch(format!("the server answered {}: it is not there any more", status.as_u16())))
            }
            (status, _) if status.is_success() && is_deleted => {
                Ok(VerifyResult::Mismatch(format!("the server answered {}: it is there again", status.as_u16())))
            }
            (status, Some(found)) if status.is_success() && tags_match(recorded, &found) => Ok(VerifyResult::Confirmed),
            (status, Some(found)) if status.is_success() => {
                Ok(VerifyResult::Mismatch(format!("its entity tag is {found}, recorded was {recorded}")))
            }
            (status, None) if status.is_success() => Err(unavailable("the server gives no entity tag")),
            (status, _) => Err(unavailable(format!("the server answered {}", status.as_u16()))),
        }
    }
}

/// Compares two tags by the weak comparison of RFC 9110. The recorded tag may lack its quotes.
fn tags_match(recorded: &str, found: &str) -> bool {
    fn opaque(tag: &str) -> &str {
        tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
    }
    opaque(recorded) == opaque(found)
}

/// Returns true if the grants of the plugin allow this method at the address.
fn is_granted(method: &Method, uri: &Uri, looking: &VerificationRequest<'_>) -> bool {
    let Ok(origin) = request_origin(uri) else { return false };
    let line = RequestLine { origin: &origin, path: uri.path(), method };
    http_grant::check_http(&looking.plugin.grants, CallPermissions::READ_ONLY, &line).is_ok()
}

async fn request_tag(method: &Method, uri: &Uri, looking: &VerificationRequest<'_>) -> Result<TagResponse, Failure> {
    let settings = looking.plugin;
    let place = request_origin(uri).map_err(|_| unavailable(format!("{uri} is not an address that can be asked")))?;
    let line = RequestLine { origin: &place, path: uri.path(), method };
    let matched = http_grant::check_http(&settings.grants, CallPermissions::READ_ONLY, &line)
        .map_err(|denied| unavailable(denied.log(&settings.name)))?;
    let mut request: Request<WasiBody> =
        Request::new(Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync());
    *request.method_mut() = method.clone();
    *request.uri_mut() = uri.clone();
    let host = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
    let host = HeaderValue::from_str(host).map_err(|_| unavailable("its host cannot be named in a request"))?;
    request.headers_mut().insert(HOST, host);
    // Sends a header only if the grants that allow this request bind every secret in the header. Otherwise the request
    // is sent without the header.
    for template in looking.headers.iter().filter(|template| template.is_bound_by(&matched)) {
        let (name, value) = template.render(&*settings.secrets).map_err(unavailable)?;
        request.headers_mut().insert(name, value);
    }
    let timeout = Duration::from_millis(u64::from(looking.timeout_ms));
    let watch = CallWindow::with_timeout_ms(looking.machine.clone(), looking.timeout_ms);
    let target = Target { origin: &place, permissions: CallPermissions::READ_ONLY };
    let options = RequestOptions { first_byte_timeout: Some(timeout), ..RequestOptions::default() };
    let (response, connection) = connect::send(request, options, target, settings, &watch)
        .await
        .map_err(|error| unavailable(format!("the server cannot be asked: {error}")))?;
    // Only the head of the response is needed. Dropping the handle closes the connection.
    drop(connection);
    let etag = response.headers().get(ETAG).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(TagResponse { status: response.status(), etag })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        for (recorded, found, equal) in [
            ("\"a\"", "\"a\"", true),
            ("a", "\"a\"", true),
            ("W/\"a\"", "\"a\"", true),
            ("\"a\"", "W/\"a\"", true),
            ("\"a\"", "\"b\"", false),
            ("\"a\"", "\"A\"", false),
        ] {
            assert_eq!(tags_match(recorded, found), equal, "{recorded} {found}");
        }
    }
}
