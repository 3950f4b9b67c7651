//! `wasi:sockets`: outgoing TCP connections to granted addresses, and the name lookups they need.
//!
//! wasmtime-wasi implements the operations. A lookup is allowed for granted names. This module records the returned
//! addresses with the name. A connection to a granted name is only allowed to the recorded addresses.
//!
//! The call's deadline is checked before each connect and at each host call, including writes. If the system's
//! socket buffer is full, a task of wasmtime-wasi writes the rest later without another check. The task ends
//! when the `Store` of the call is dropped.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{HostResolveAddressStream, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::IpAddressFamily;
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddress, Network};
use wasmtime_wasi::p2::bindings::sockets::{ip_name_lookup, network, tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{DynPollable, SocketError, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::{SocketAddrUse, WasiSocketsCtxView};

use crate::capability::call_window::CallWindow;
use crate::capability::grant;
use crate::capability::grants::Grants;
use crate::capability::handles::Handles;
use crate::guest::permissions::CallPermissions;

/// Results of the name lookups of a call: for each address, the names whose lookups returned the address. Also contains
/// the name of each lookup that still runs.
#[derive(Clone, Default)]
pub(crate) struct ResolvedNames(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    by_address: HashMap<IpAddr, Vec<String>>,
    by_stream: HashMap<u32, String>,
}

impl ResolvedNames {
    fn with<R>(&self, f: impl FnOnce(&mut Inner) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
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
                    self.with(|inner| inner.by_address.get(&address.ip().to_canonical()).cloned().unwrap_or_default());
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

/// View of the name lookups in one wasmtime `Store`.
pub(crate) struct NameLookup<'a> {
    pub(crate) inner: WasiSocketsCtxView<'a>,
    pub(crate) names: &'a ResolvedNames,
    pub(crate) watch: &'a CallWindow,
    pub(crate) plugin: &'a str,
    pub(crate) grants: &'a Grants,
    pub(crate) permissions: CallPermissions,
    pub(crate) handles: &'a mut Handles,
}

/// Identifies [`NameLookup`] to the linker.
pub(crate) struct NameLookupData;

impl HasData for NameLookupData {
    type Data<'a> = NameLookup<'a>;
}

impl network::Host for NameLookup<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }
    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.network_error_code(error)
    }
}

impl network::HostNetwork for NameLookup<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.inner, network)
    }
}

impl tcp_create_socket::Host for NameLookup<'_> {
    fn create_tcp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<TcpSocket>, SocketError> {
        match self.handles.count_socket() {
            true => self.inner.create_tcp_socket(family),
            false => Err(ErrorCode::NewSocketLimit.into()),
        }
    }
}

impl udp_create_socket::Host for NameLookup<'_> {
    async fn create_udp_socket(&mut self, family: IpAddressFamily) -> Result<Resource<UdpSocket>, SocketError> {
        match self.handles.count_socket() {
            true => self.inner.create_udp_socket(family).await,
            false => Err(ErrorCode::NewSocketLimit.into()),
        }
    }
}

impl ip_name_lookup::Host for NameLookup<'_> {
    fn resolve_addresses(
        &mut self,
        network: Resource<Network>,
        name: String,
    ) -> Result<Resource<ResolveAddressStream>, SocketError> {
        if let Err(denied) = grant::check_tcp_name(self.grants, self.permissions, &name) {
            denied.record(self.watch, self.plugin);
            return Err(ErrorCode::AccessDenied.into());
        }
        let stream = self.inner.resolve_addresses(network, name.clone())?;
        self.names.with(|inner| inner.by_stream.insert(stream.rep(), name));
        Ok(stream)
    }
}

impl HostResolveAddressStream for NameLookup<'_> {
    fn resolve_next_address(
        &mut self,
        stream: Resource<ResolveAddressStream>,
    ) -> Result<Option<IpAddress>, SocketError> {
        let rep = stream.rep();
        let next = self.inner.resolve_next_address(stream)?;
        if let Some(address) = &next {
            let ip = match *address {
                IpAddress::Ipv4((a, b, c, d)) => IpAddr::from([a, b, c, d]),
                IpAddress::Ipv6((a, b, c, d, e, f, g, h)) => IpAddr::from([a, b, c, d, e, f, g, h]),
            };
            self.names.with(|inner| {
                if let Some(name) = inner.by_stream.get(&rep).cloned() {
                    inner.by_address.entry(ip.to_canonical()).or_default().push(name);
                }
            });
        }
        Ok(next)
    }

    fn subscribe(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<Resource<DynPollable>> {
        self.inner.subscribe(stream)
    }

    fn drop(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        self.names.with(|inner| inner.by_stream.remove(&stream.rep()));
        HostResolveAddressStream::drop(&mut self.inner, stream)
    }
}
