//! A body in which some texts are replaced while it is streamed.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::HeaderMap;
use wasmtime_wasi_http::{Error, WasiBody};

/// Replaces texts in a stream. Bytes that may begin a text are held back until the next piece arrives.
pub(crate) trait StreamReplacer: Send + 'static {
    /// Takes the next piece and returns the bytes that are complete.
    fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Error>;
    /// Ends the stream and returns the bytes that were held back.
    fn finish(&mut self) -> Result<Vec<u8>, Error>;
    /// Replaces texts in the trailers.
    fn trailers(&self, trailers: &mut HeaderMap) -> Result<(), Error>;
    /// Returns true if no bytes are held back.
    fn is_empty(&self) -> bool;
}

/// Returns the body with its texts replaced.
pub(crate) fn replaced(body: WasiBody, replacer: impl StreamReplacer + Unpin) -> WasiBody {
    ReplacedBody { inner: body, replacer, trailers: None, ended: false }.boxed_unsync()
}

struct ReplacedBody<R> {
    inner: WasiBody,
    replacer: R,
    /// Trailers that have arrived and are not passed on yet. The bytes that were held back are passed on before the
    /// trailers.
    trailers: Option<Frame<Bytes>>,
    ended: bool,
}

impl<R: StreamReplacer + Unpin> Body for ReplacedBody<R> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            if let Some(trailers) = self.trailers.take() {
                return Poll::Ready(Some(Ok(trailers)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let bytes = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.replacer.push(&data),
                    Err(frame) => {
                        let mut trailers = frame.into_trailers().unwrap_or_default();
                        let replaced = self.replacer.trailers(&mut trailers);
                        self.trailers = Some(Frame::trailers(trailers));
                        replaced.and_then(|()| self.replacer.finish())
                    }
                },
                None => {
                    self.ended = true;
                    self.replacer.finish()
                }
            };
            match bytes {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes.into())))),
                Err(error) => {
                    self.ended = true;
                    self.trailers = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.trailers.is_none() && self.replacer.is_empty() && (self.ended || self.inner.is_end_stream())
    }

    /// Returns an exact size only after the end of the body, because replacement changes the length.
    fn size_hint(&self) -> SizeHint {
        if self.is_end_stream() { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}
