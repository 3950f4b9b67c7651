//! Streams of files and connections that end the call if the machine lacks memory or descriptors.
//!
//! wasmtime-wasi gives the guest such a lack as an error of the stream. The answer of the guest would then depend on the
//! machine.

use std::io;

use async_trait::async_trait;
use bytes::Bytes;
use rustix::io::Errno;
use wasmtime_wasi::p2::bindings::sockets::network::ErrorCode;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, InputStream, OutputStream, Pollable};
use wasmtime_wasi::p2::{StreamError, StreamResult};
use wasmtime_wasi::sockets;

use crate::capability::call_window::CallWindow;
use crate::guest::fault::HostFault;
use crate::os::lack::{is_lack, lack_of_descriptors};

/// Returns a stream that ends the call if a read lacks memory or descriptors.
pub(crate) fn watched_input(inner: DynInputStream, window: &CallWindow) -> DynInputStream {
    Box::new(WatchedStream { inner, window: window.clone() })
}

/// Returns a stream that ends the call if a write lacks memory or descriptors.
pub(crate) fn watched_output(inner: DynOutputStream, window: &CallWindow) -> DynOutputStream {
    Box::new(WatchedStream { inner, window: window.clone() })
}

/// Returns the lack of memory or descriptors behind an error of a socket. wasmtime-wasi reports a lack of descriptors as
/// an unknown error. The host therefore looks whether descriptors are left.
pub(crate) fn lack_behind(code: ErrorCode) -> Option<io::Error> {
    match code {
        ErrorCode::OutOfMemory => Some(Errno::NOMEM.into()),
        ErrorCode::NewSocketLimit => Some(Errno::MFILE.into()),
        ErrorCode::Unknown => lack_of_descriptors(),
        _ => None,
    }
}

struct WatchedStream<S> {
    inner: S,
    window: CallWindow,
}

impl<S> WatchedStream<S> {
    fn unless_lacking<T>(&self, result: StreamResult<T>) -> StreamResult<T> {
        match &result {
            Err(StreamError::LastOperationFailed(error)) => match record_lack(error, &self.window) {
                Some(fault) => Err(StreamError::Trap(fault.into())),
                None => result,
            },
            _ => result,
        }
    }
}

/// Records the lack of memory or descriptors behind a failed operation of a stream, if there is one.
fn record_lack(error: &wasmtime::Error, window: &CallWindow) -> Option<HostFault> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return is_lack(error).then(|| window.record_lack(error));
    }
    let of_read = error.downcast_ref::<sockets::ErrorCode>().map(|code| ErrorCode::from(*code));
    let code = of_read.or_else(|| error.downcast_ref::<ErrorCode>().copied())?;
    lack_behind(code).map(|lack| window.record_lack(&lack))
}

#[async_trait]
impl<S: Pollable> Pollable for WatchedStream<S> {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait]
impl InputStream for WatchedStream<DynInputStream> {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let result = self.inner.read(size);
        self.unless_lacking(result)
    }
    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        let result = self.inner.blocking_read(size).await;
        self.unless_lacking(result)
    }
    fn skip(&mut self, bytes: usize) -> StreamResult<usize> {
        let result = self.inner.skip(bytes);
        self.unless_lacking(result)
    }
    async fn blocking_skip(&mut self, bytes: usize) -> StreamResult<usize> {
        let result = self.inner.blocking_skip(bytes).await;
        self.unless_lacking(result)
    }
    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

#[async_trait]
impl OutputStream for WatchedStream<DynOutputStream> {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let result = self.inner.write(bytes);
        self.unless_lacking(result)
    }
    fn flush(&mut self) -> StreamResult<()> {
        let result = self.inner.flush();
        self.unless_lacking(result)
    }
    fn check_write(&mut self) -> StreamResult<usize> {
        let result = self.inner.check_write();
        self.unless_lacking(result)
    }
    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        let result = self.inner.blocking_write_and_flush(bytes).await;
        self.unless_lacking(result)
    }
    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::os::Machine;

    /// A stream on which every operation fails with this error.
    struct Failing(fn() -> wasmtime::Error);

    impl Failing {
        fn fail<T>(&self) -> StreamResult<T> {
            Err(StreamError::LastOperationFailed((self.0)()))
        }
    }

    #[async_trait]
    impl Pollable for Failing {
        async fn ready(&mut self) {}
    }

    impl InputStream for Failing {
        fn read(&mut self, _: usize) -> StreamResult<Bytes> {
            self.fail()
        }
    }

    impl OutputStream for Failing {
        fn write(&mut self, _: Bytes) -> StreamResult<()> {
            self.fail()
        }
        fn flush(&mut self) -> StreamResult<()> {
            self.fail()
        }
        fn check_write(&mut self) -> StreamResult<usize> {
            self.fail()
        }
    }

    /// I245: a lack of memory or descriptors in an operation of a stream is no error of the stream.
    #[tokio::test]
    async fn lack_in_a_stream_ends_the_call() {
        let errors: [(fn() -> wasmtime::Error, bool); 8] = [
            (|| io::Error::from(Errno::NOMEM).into(), true),
            (|| io::Error::from(Errno::MFILE).into(), true),
            (|| io::Error::from(Errno::NOSPC).into(), false),
            (|| ErrorCode::OutOfMemory.into(), true),
            (|| ErrorCode::NewSocketLimit.into(), true),
            (|| ErrorCode::ConnectionReset.into(), false),
            (|| sockets::ErrorCode::OutOfMemory.into(), true),
            (|| sockets::ErrorCode::Other.into(), false),
        ];
        for (error, lacks) in errors {
            for operation in 0..8 {
                let window = CallWindow::with_timeout_ms(Machine::system(), 60_000);
                let mut input = watched_input(Box::new(Failing(error)), &window);
                let mut output = watched_output(Box::new(Failing(error)), &window);
                let failed = match operation {
                    0 => input.read(1).err(),
                    1 => input.blocking_read(1).await.err(),
                    2 => input.skip(1).err(),
                    3 => input.blocking_skip(1).await.err(),
                    4 => output.write(Bytes::from_static(b"x")).err(),
                    5 => output.flush().err(),
                    6 => output.check_write().err(),
                    _ => output.blocking_write_and_flush(Bytes::from_static(b"x")).await.err(),
                };
                let description = format!("{operation} {:?}", error());
                match failed {
                    Some(StreamError::Trap(fault)) => {
                        assert!(lacks && matches!(fault.downcast_ref(), Some(HostFault::Machine(_))), "{description}");
                    }
                    Some(StreamError::LastOperationFailed(_)) => assert!(!lacks, "{description}"),
                    other => panic!("{description}: {other:?}"),
                }
                assert_eq!(
                    (window.hindrances().lack.is_some(), window.check().is_err()),
                    (lacks, lacks),
                    "{description}"
                );
            }
        }
    }

    /// I245. The guest gets every other error of a socket.
    #[test]
    fn lack_is_distinguished_from_other_errors_of_sockets() {
        assert!(lack_behind(ErrorCode::OutOfMemory).is_some() && lack_behind(ErrorCode::NewSocketLimit).is_some());
        for code in [ErrorCode::Unknown, ErrorCode::ConnectionRefused, ErrorCode::AccessDenied, ErrorCode::WouldBlock] {
            assert!(lack_behind(code).is_none(), "{code:?}");
        }
    }
}
