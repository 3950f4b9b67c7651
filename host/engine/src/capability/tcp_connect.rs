//! `wasi:sockets/tcp`: connects of sockets.
//!
//! wasmtime-wasi makes the connections. The host looks at the result of each connect and at the streams of the
//! connection. A lack of memory or descriptors ends the call.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, Host as _, IpSocketAddress, Network};
use wasmtime_wasi::p2::bindings::sockets::tcp::HostTcpSocket as _;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, SocketResult, TcpSocket};

use crate::capability::WASI_VERSION;
use crate::capability::sockets::Sockets;
use crate::capability::stream_lack::{watched_input, watched_output};

/// Streams of a connection: what the guest receives, and what it sends.
type Streams = (Resource<DynInputStream>, Resource<DynOutputStream>);

/// Replaces the functions of wasmtime-wasi that connect a socket.
pub(crate) fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    view: fn(&mut T) -> Sockets<'_>,
) -> wasmtime::Result<()> {
    let mut interface = linker.instance(&format!("wasi:sockets/tcp@{WASI_VERSION}"))?;
    interface.func_wrap(
        "[method]tcp-socket.start-connect",
        move |mut store: StoreContextMut<'_, T>,
              (socket, network, address): (Resource<TcpSocket>, Resource<Network>, IpSocketAddress)| {
            let mut sockets = view(store.data_mut());
            let result = sockets.inner.start_connect(socket, network, address);
            Ok((sockets.answer(result)?,))
        },
    )?;
    interface.func_wrap(
        "[method]tcp-socket.finish-connect",
        move |mut store: StoreContextMut<'_, T>, (socket,): (Resource<TcpSocket>,)| {
            let mut sockets = view(store.data_mut());
            let result = sockets.finish_connect(&socket);
            Ok((sockets.answer(result)?,))
        },
    )
}

impl Sockets<'_> {
    fn finish_connect(&mut self, socket: &Resource<TcpSocket>) -> SocketResult<Streams> {
        let (input, output) = self.inner.finish_connect(Resource::new_borrow(socket.rep()))?;
        let input = watched_input(self.inner.table.delete(input)?, self.watch);
        let output = watched_output(self.inner.table.delete(output)?, self.watch);
        // As in wasmtime-wasi, the socket cannot be dropped before its streams.
        Ok((self.inner.table.push_child(input, socket)?, self.inner.table.push_child(output, socket)?))
    }

    /// Returns the answer for the guest, or the fault that ends the call if the machine lacks memory or descriptors.
    fn answer<R>(&mut self, result: SocketResult<R>) -> wasmtime::Result<Result<R, ErrorCode>> {
        match self.unless_lacking(result) {
            Ok(done) => Ok(Ok(done)),
            Err(error) => self.inner.convert_error_code(error).map(Err),
        }
    }
}
