//! Sends a request that passed the checks of `http`. Resolves the host once, connects to a checked address, and
//! checks the call's deadline before each write.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, SizeHint};
use hyper::{Request, Response, StatusCode, Uri};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsConnector;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use crate::capability::call_window::CallWindow;
use crate::capability::grants::Origin;
use crate::capability::http_grant::RequestLine;
use crate::capability::lookups::LookupError;
use crate::capability::settings::PluginSettings;
use crate::capability::stub::{HttpStub, StubFailure};
use crate::capability::{grant, http_grant};
use crate::guest::permissions::CallPermissions;
use crate::os::lack::{is_lack, is_lack_of_descriptors};

/// A response, and a future that drives the reception of the response's body. The body arrives only while this future
/// runs.
pub(crate) type SentRequest = (Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

static TLS: LazyLock<TlsConnector> = LazyLock::new(|| {
    let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
});

/// Server of a request, and the permissions of its sender.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The server.
    pub origin: &'a Origin,
    /// Permissions of the call.
    pub permissions: CallPermissions,
}

/// Sends a request that passed the checks of `http`. Each request has its own connection. A shared connection could
/// carry state from one call to another.
pub async fn send(
    mut request: Request<WasiBody>,
    options: RequestOptions,
    target: Target<'_>,
    settings: &PluginSettings,
    watch: &CallWindow,
) -> Result<SentRequest, Error> {
    let place = target.origin;
    if let Some(servers) = &settings.http_stub {
        return answer_from_stub(request, place, servers.as_ref(), watch).await;
    }
    let within = |wish: Option<Duration>| wish.map_or(watch.time_left(), |wish| wish.min(watch.time_left()));
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let line = RequestLine { origin: place, path: uri.path(), method: &method };
    let connecting =
        async { connect(place, &resolve_allowed(&line, target.permissions, settings, watch).await?, watch).await };
    let connected = timeout(within(options.connect_timeout), connecting).await;
    let stream = connected.unwrap_or(Err(Error::ConnectionTimeout)).inspect_err(|error| {
        if !matches!(error, Error::DestinationIpProhibited) {
            watch.record_unreachable(format!("{}:{} cannot be reached: {error}", place.host, place.port));
        }
    })?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // Dropping the handle closes the connection. Tearing down the guest drops the handle.
    let connection = wasmtime_wasi::runtime::spawn(connection);

    // In a request to the server itself (not to a proxy), the request line contains only the path and the query.
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
    let response = timeout(within(options.first_byte_timeout), sender.send_request(request))
        .await
        .map_err(|_| Error::ConnectionReadTimeout)??;
    let between = options.between_bytes_timeout;
    let response = response.map(|body| {
        let body = body.map_err(Error::from);
        match between {
            Some(between) => PauseLimitedBody { inner: body, between, left: Box::pin(sleep(between)) }.boxed_unsync(),
            None => body.boxed_unsync(),
        }
    });
    Ok((response, Box::new(async move { connection.await.map_err(Error::from) })))
}

/// Lets the stub answer a request. No connection is made.
async fn answer_from_stub(
    request: Request<WasiBody>,
    place: &Origin,
    servers: &dyn HttpStub,
    watch: &CallWindow,
) -> Result<SentRequest, Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    watch.begin_side_effect().map_err(|_| Error::ConnectionTimeout)?;
    let answer = servers.answer(place, Request::from_parts(parts, body)).map_err(|why| match why {
        StubFailure::Refused => Error::Connect(io::ErrorKind::ConnectionRefused.into()),
        StubFailure::TimedOut => Error::ConnectionReadTimeout,
    })?;
    let answer = answer.map(|body| Full::new(body).map_err(|never| match never {}).boxed_unsync());
    Ok((answer, Box::new(async { Ok(()) })))
}

/// Sends a POST request that the host itself makes, and returns the status of the answer. The host's configuration
/// names the address, so no grant is checked.
pub async fn post(mut request: Request<Full<Bytes>>, place: &Origin, watch: &CallWindow) -> Result<StatusCode, Error> {
    let posting = async {
        let stream = connect(place, &resolve(place, watch).await?, watch).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let _connection = wasmtime_wasi::runtime::spawn(connection);
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;
        Ok(sender.send_request(request).await?.status())
    };
    timeout(watch.time_left(), posting).await.map_err(|_| Error::ConnectionReadTimeout)?
}

async fn connect(place: &Origin, addresses: &[SocketAddr], watch: &CallWindow) -> Result<Box<dyn Stream>, Error> {
    let mut failed = Error::DestinationNotFound;
    for address in addresses {
        // A connection already has an effect on the world, so the operation begins here. The lookup of the name before
        // it has no effect.
        watch.begin_side_effect().map_err(|_| Error::ConnectionTimeout)?;
        match TcpStream::connect(*address).await {
            Ok(stream) => {
                // An error of this call is ignored: without the option, small requests are delayed but still sent.
                let _ = stream.set_nodelay(true);
                let stream = DeadlineStream { inner: stream, watch: watch.clone() };
                return if place.scheme == "https" { tls(place, stream).await } else { Ok(Box::new(stream)) };
            }
            Err(error) => {
                if is_lack_of_descriptors(&error) {
                    watch.withdraw_side_effect();
                }
                if is_lack(&error) {
                    watch.record_lack(&error);
                }
                failed = Error::Connect(error);
            }
        }
    }
    Err(failed)
}

/// Resolves the addresses of the host.
async fn resolve(place: &Origin, watch: &CallWindow) -> Result<Vec<SocketAddr>, Error> {
    if let Some(ip) = grant::parse_ip(&place.host) {
        return Ok(vec![SocketAddr::new(ip, place.port)]);
    }
    watch.lookups().look_up(place.host.clone(), place.port, watch.time_left()).await.map_err(|error| match error {
        LookupError::TimedOut => Error::DnsTimeout,
        LookupError::Failed(error) => {
            if is_lack(&error) {
                watch.record_lack(&error);
            }
            tracing::debug!("looking up {:?} failed: {error}", place.host);
            Error::DnsError { rcode: Some("the name could not be resolved".to_owned()), info_code: None }
        }
    })
}

/// Returns the addresses that the call may connect to. The connection uses these addresses without a second lookup.
async fn resolve_allowed(
    line: &RequestLine<'_>,
    permissions: CallPermissions,
    settings: &PluginSettings,
    watch: &CallWindow,
) -> Result<Vec<SocketAddr>, Error> {
    let addresses = resolve(line.origin, watch).await?;
    let mut denials = Vec::new();
    let mut good = Vec::new();
    for address in addresses {
        match http_grant::check_http_address(&settings.grants, permissions, line, address.ip()) {
            Ok(()) => good.push(address),
            Err(denied) => denials.push(denied),
        }
    }
    match (good.is_empty(), denials.first()) {
        (true, Some(denied)) => {
            denied.record(watch, &settings.name);
            Err(Error::DestinationIpProhibited)
        }
        (true, None) => Err(Error::DestinationNotFound),
        (false, _) => Ok(good),
    }
}

async fn tls(place: &Origin, stream: DeadlineStream<TcpStream>) -> Result<Box<dyn Stream>, Error> {
    let name = match place.host.parse::<IpAddr>() {
        Ok(ip) => ServerName::from(ip),
        Err(_) => ServerName::try_from(place.host.clone()).map_err(|_| Error::HttpRequestUriInvalid)?,
    };
    Ok(Box::new(TLS.connect(name, stream).await.map_err(Error::Tls)?))
}

/// A stream that refuses every write after the call's deadline, from any task. Records a lack of memory or descriptors.
struct DeadlineStream<S> {
    inner: S,
    watch: CallWindow,
}

impl<S> DeadlineStream<S> {
    fn check(&self) -> io::Result<()> {
        self.watch.check().map_err(|fault| io::Error::new(io::ErrorKind::TimedOut, fault))
    }

    fn recording_lack<T>(&self, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &done
            && is_lack(error)
        {
            self.watch.record_lack(error);
        }
        done
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for DeadlineStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_read(cx, buf);
        self.recording_lack(done)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for DeadlineStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        let done = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.recording_lack(done)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        let done = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.recording_lack(done)
    }
    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_flush(cx);
        self.recording_lack(done)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// A response body that fails if the pause between two frames exceeds the guest's timeout.
struct PauseLimitedBody<B> {
    inner: B,
    between: Duration,
    left: Pin<Box<Sleep>>,
}

impl<B: Body<Data = Bytes, Error = Error> + Unpin> Body for PauseLimitedBody<B> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Pending => match self.left.as_mut().poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(()) => Poll::Ready(Some(Err(Error::ConnectionReadTimeout))),
            },
            ready => {
                let between = self.between;
                self.left.set(sleep(between));
                ready
            }
        }
    }
    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::Machine;
    use rustix::io::Errno;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// A connection on which every operation fails with this error.
    struct Failing(Errno);

    impl AsyncRead for Failing {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(self.0.into()))
        }
    }

    impl AsyncWrite for Failing {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(self.0.into()))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(self.0.into()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(self.0.into()))
        }
    }

    #[tokio::test]
    async fn stream_refuses_writes_after_the_deadline() {
        let (near, _far) = tokio::io::duplex(64);
        let watch = CallWindow::with_timeout_ms(Machine::system(), 30);
        let mut stream = DeadlineStream { inner: near, watch };
        stream.write_all(b"in time").await.unwrap();
        tokio::time::sleep(Duration::from_millis(40)).await;
        assert_eq!(stream.write_all(b"late").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    /// I245: the guest would get the lack as a broken connection.
    #[tokio::test]
    async fn lack_of_memory_in_a_connection_ends_the_call() {
        for (error, lacks) in [(Errno::NOMEM, true), (Errno::CONNRESET, false)] {
            for reads in [true, false] {
                let watch = CallWindow::with_timeout_ms(Machine::system(), 60_000);
                let inner = Failing(error);
                let mut stream = DeadlineStream { inner, watch: watch.clone() };
                let failed = if reads { stream.read_u8().await.err() } else { stream.write_all(b"x").await.err() };
                assert_eq!(failed.and_then(|failed| failed.raw_os_error()), Some(error.raw_os_error()));
                assert_eq!((watch.hindrances().lack.is_some(), watch.check().is_err()), (lacks, lacks));
            }
        }
    }
}
