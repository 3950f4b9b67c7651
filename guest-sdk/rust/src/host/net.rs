//! Outgoing HTTP through WASI 0.2.

use std::time::Duration;

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Headers, IncomingResponse, Method, OutgoingBody, OutgoingRequest, RequestOptions, Scheme,
};
use wasip2::io::streams::StreamError;

use crate::data::http::{Error, ErrorKind, Request, Response, Url};

/// Maximum number of bytes that one blocking WASI write accepts.
const CHUNK: usize = 4096;

fn error(code: &ErrorCode, url: &str) -> Error {
    use ErrorCode as E;
    let kind = match code {
        E::HttpRequestDenied | E::DestinationIpProhibited => ErrorKind::Denied,
        E::DnsTimeout
        | E::DnsError(_)
        | E::DestinationNotFound
        | E::DestinationUnavailable
        | E::DestinationIpUnroutable
        | E::ConnectionRefused
        | E::ConnectionTimeout
        | E::TlsProtocolError
        | E::TlsCertificateError
        | E::TlsAlertReceived(_)
        | E::HttpRequestMethodInvalid
        | E::HttpRequestUriInvalid => ErrorKind::NotConnected,
        E::ConnectionReadTimeout | E::ConnectionWriteTimeout | E::HttpResponseTimeout => ErrorKind::Timeout,
        E::HttpResponseBodySize(_) => ErrorKind::TooLarge,
        _ => ErrorKind::Other,
    };
    Error::new(kind, format!("{url}: {code:?}"))
}

pub(crate) fn send(request: &Request) -> Result<Response, Error> {
    let response = exchange(request)?;
    let headers = response
        .headers()
        .entries()
        .into_iter()
        .map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned()))
        .collect();
    let status = response.status();
    Ok(Response::new(status, headers, body(&response, request)?))
}

/// Sends the request and waits for the status and the headers of the response.
fn exchange(request: &Request) -> Result<IncomingResponse, Error> {
    let url = Url::parse(&request.url)?;
    let bad = |what: &str| Error::new(ErrorKind::BadUrl, format!("{}: the host rejected the {what}", request.url));
    let mut headers = request.headers.clone();
    // Without `content-length` the body is sent in chunks, which some servers reject.
    if !request.body.is_empty() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        headers.push(("content-length".to_owned(), request.body.len().to_string()));
    }
    let headers: Vec<_> = headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    let headers = Headers::from_list(&headers)
        .map_err(|error| Error::new(ErrorKind::BadHeader, format!("{}: invalid headers: {error:?}", request.url)))?;
    let outgoing = OutgoingRequest::new(headers);
    outgoing.set_method(&method(&request.method)).map_err(|()| bad("method"))?;
    outgoing.set_scheme(Some(if url.secure { &Scheme::Https } else { &Scheme::Http })).map_err(|()| bad("scheme"))?;
    outgoing.set_authority(Some(url.authority)).map_err(|()| bad("authority"))?;
    outgoing.set_path_with_query(Some(&url.path)).map_err(|()| bad("path"))?;
    let body = outgoing.body().map_err(|()| bad("body"))?;
    let future = handle(outgoing, options(request.timeout)).map_err(|code| error(&code, &request.url))?;
    write(body, request)?;
    future.subscribe().block();
    match future.get() {
        Some(Ok(answer)) => answer.map_err(|code| error(&code, &request.url)),
        _ => Err(Error::new(ErrorKind::Other, format!("{}: the host returned no response", request.url))),
    }
}

fn write(body: OutgoingBody, request: &Request) -> Result<(), Error> {
    let failed = |what: &str| Error::new(ErrorKind::Other, format!("{}: sending the body failed: {what}", request.url));
    if !request.body.is_empty() {
        let stream = body.write().map_err(|()| failed("no stream"))?;
        for chunk in request.body.chunks(CHUNK) {
            stream.blocking_write_and_flush(chunk).map_err(|error| match error {
                StreamError::Closed => failed("the stream is closed"),
                StreamError::LastOperationFailed(error) => failed(&error.to_debug_string()),
            })?;
        }
    }
    OutgoingBody::finish(body, None).map_err(|code| error(&code, &request.url))
}

fn body(response: &IncomingResponse, request: &Request) -> Result<Vec<u8>, Error> {
    let failed =
        |what: &str| Error::new(ErrorKind::Other, format!("{}: reading the response failed: {what}", request.url));
    let incoming = response.consume().map_err(|()| failed("no body"))?;
    let stream = incoming.stream().map_err(|()| failed("no stream"))?;
    let mut content = Vec::new();
    loop {
        match stream.blocking_read(64 * 1024) {
            Ok(bytes) => content.extend_from_slice(&bytes),
            Err(StreamError::Closed) => return Ok(content),
            Err(StreamError::LastOperationFailed(error)) => return Err(failed(&error.to_debug_string())),
        }
        if content.len() > request.limit {
            let message = format!("{}: the response is larger than {} bytes", request.url, request.limit);
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
    }
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn options(timeout: Option<Duration>) -> Option<RequestOptions> {
    let nanoseconds = u64::try_from(timeout?.as_nanos()).unwrap_or(u64::MAX);
    let options = RequestOptions::new();
    // A host without support for a timeout option must still send the request, so errors are ignored.
    let _ = options.set_connect_timeout(Some(nanoseconds));
    let _ = options.set_first_byte_timeout(Some(nanoseconds));
    let _ = options.set_between_bytes_timeout(Some(nanoseconds));
    Some(options)
}
