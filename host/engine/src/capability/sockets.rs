//! `wasi:sockets`: outgoing TCP connections to granted addresses.
//!
//! wasmtime-wasi implements the operations, except for the lookups of names in [`name_lookup`](super::name_lookup). The
//! results of connects pass through [`tcp_connect`](super::tcp_connect). A connection to a granted name is only allowed
//! to the addresses that a lookup of this name returned.
//!
//! The call's deadline is checked before each connect and at each host call, including writes. If the system's
//! socket buffer is full, a task of wasmtime-wasi writes the rest later without another check. The task ends
//! when the `Store` of the call is dropped.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddressFamily, Network};
use wasmtime_wasi::p2::bindings::sockets::{network, tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{SocketError, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::{SocketAddrUse, WasiSocketsCtxView};

use crate::capability::call_window::CallWindow;
use crate::capability::grant;
use crate::capability::grants::Grants;
use crate::capability::handles::Handles;
use crate::capability::stream_lack::lack_behind;
use crate::guest::permissions::CallPermissions;

/// Results of the name lookups of a call: for each address, the names whose lookups returned the address.
#[derive(Clone, Default)]
pub(crate) struct ResolvedNames(Arc<Mutex<HashMap<IpAddr, Vec<String>>>>);

impl ResolvedNames {
    fn with<R>(&self, f: impl FnOnce(&mut HashMap<IpAddr, Vec<String>>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records that a lookup of `name` returned the address.
    pub(crate) fn record(&self, address: IpAddr, name: &str) {
        self.with(|by_address| {
            let names = by_address.entry(address.to_canonical()).or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        });
    }

    /// Checks an address that a socket is about to use. wasmtime-wasi calls this function for each use.
    pub(crate) fn check(
        &self,
        plugin: &str,
        grants: &Grants,
        permissions: CallPermissions,
        watch: &CallWindow,
        address: SocketAddr,
        reason: SocketAddrUse,
    ) -> bool {
        let decided = match reason {
            SocketAddrUse::TcpConnect => {
                let names =
                    self.with(|by_address| by_address.get(&address.ip().to_canonical()).cloned().unwrap_or_default());
                grant::check_tcp(grants, permissions, address, &names)
            }
            // Before a client connects, it binds its socket. This bind names no port and no address, and is allowed.
            SocketAddrUse::TcpBind if address.port() == 0 && address.ip().is_unspecified() => return true,
            other => Err(grant::refused_socket_use(&format!("{other:?} with {address}"))),
        };
        match decided {
            Ok(()) => watch.begin_side_effect().is_ok(),
            Err(denied) => {
                denied.record(watch, plugin);
                false
            }
        }
    }
}

/// View of the sockets and the name lookups in one wasmtime `Store`.
pub(crate) struct Sockets<'a> {
    pub(crate) inner: WasiSocketsCtxView<'a>,
    pub(crate) names: &'a ResolvedNames,
    pub(crate) watch: &'a CallWindow,
    pub(crate) plugin: &'a str,
    pub(crate) grants: &'a Grants,
    pub(crate) permissions: CallPermissions,
    pub(crate) handles: &'a mut Handles,
}

/// Identifies [`Sockets`] to the linker.
pub(crate) struct SocketsData;

impl HasData for SocketsData {
    type Data<'a> = Sockets<'a>;
}

impl Sockets<'_> {
    /// Ends the call if an operation of a socket failed because the machine lacks memory or descriptors.
    pub(crate) fn unless_lacking<T>(&self, result: Result<T, SocketError>) -> Result<T, SocketError> {
        let Err(error) = &result else { return result };
        match error.downcast_ref().and_then(|code| lack_behind(*code)) {
            Some(lack) => Err(SocketError::trap(self.watch.record_lack(&lack))),
            None => result,
        }
    }
}

impl network::Host for Sockets<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }
    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.network_error_code(error)
    }
}

impl network::HostNetwork for Sockets<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.inner, network)
    }
}

impl tcp_create_socket::Host for Sockets<'_> {
    fn create_tcp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<TcpSocket>, SocketError> {
        if !self.handles.count_socket() {
            return Err(ErrorCode::NewSocketLimit.into());
        }
        let socket = self.inner.create_tcp_socket(family);
        self.unless_lacking(socket)
    }
}

impl udp_create_socket::Host for Sockets<'_> {
    async fn create_udp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<UdpSocket>, SocketError> {
        if !self.handles.count_socket() {
            return Err(ErrorCode::NewSocketLimit.into());
        }
        let socket = self.inner.create_udp_socket(family).await;
        self.unless_lacking(socket)
    }
}
