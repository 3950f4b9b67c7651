//! `wasi:sockets/ip-name-lookup`: lookups of granted names.
//!
//! The host looks names up itself. wasmtime-wasi would start any number of lookups, each on a thread of its own.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource, ResourceType};
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddress, Network};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};

use crate::capability::WASI_VERSION;
use crate::capability::call_window::CallWindow;
use crate::capability::grant;
use crate::capability::lookups::LookupError;
use crate::capability::sockets::Sockets;
use crate::os::lack::is_lack;

/// One lookup of a guest, and the addresses that the guest has not taken yet.
pub(crate) struct AddressStream {
    name: String,
    state: LookupState,
}

enum LookupState {
    Running(AbortOnDropJoinHandle<Result<VecDeque<IpAddr>, LookupError>>),
    Ended(Result<VecDeque<IpAddr>, LookupError>),
}

#[async_trait::async_trait]
impl Pollable for AddressStream {
    async fn ready(&mut self) {
        if let LookupState::Running(task) = &mut self.state {
            self.state = LookupState::Ended(task.await);
        }
    }
}

/// Replaces the lookups of wasmtime-wasi.
pub(crate) fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    view: fn(&mut T) -> Sockets<'_>,
) -> wasmtime::Result<()> {
    let mut interface = linker.instance(&format!("wasi:sockets/ip-name-lookup@{WASI_VERSION}"))?;
    interface.resource("resolve-address-stream", ResourceType::host::<AddressStream>(), move |mut store, rep| {
        view(store.data_mut()).inner.table.delete(Resource::<AddressStream>::new_own(rep))?;
        Ok(())
    })?;
    interface.func_wrap(
        "resolve-addresses",
        move |mut store: StoreContextMut<'_, T>, (network, name): (Resource<Network>, String)| {
            Ok((view(store.data_mut()).resolve_addresses(&network, name)?,))
        },
    )?;
    interface.func_wrap(
        "[method]resolve-address-stream.resolve-next-address",
        move |mut store: StoreContextMut<'_, T>, (stream,): (Resource<AddressStream>,)| {
            Ok((view(store.data_mut()).next_address(&stream)?,))
        },
    )?;
    interface.func_wrap(
        "[method]resolve-address-stream.subscribe",
        move |mut store: StoreContextMut<'_, T>, (stream,): (Resource<AddressStream>,)| {
            let pollable: Resource<DynPollable> = subscribe(view(store.data_mut()).inner.table, stream)?;
            Ok((pollable,))
        },
    )
}

impl Sockets<'_> {
    fn resolve_addresses(
        &mut self,
        network: &Resource<Network>,
        name: String,
    ) -> wasmtime::Result<Result<Resource<AddressStream>, ErrorCode>> {
        self.inner.table.get(network)?;
        if let Err(denied) = grant::check_tcp_name(self.grants, self.permissions, &name) {
            denied.record(self.watch, self.plugin);
            return Ok(Err(ErrorCode::AccessDenied));
        }
        if !self.handles.count_lookup() {
            // Runtimes repeat a lookup after a temporary failure.
            return Ok(Err(ErrorCode::PermanentResolverFailure));
        }
        let state = match grant::parse_ip(&name) {
            Some(address) => LookupState::Ended(Ok(VecDeque::from([address]))),
            None => {
                let (watch, host) = (self.watch.clone(), name.clone());
                LookupState::Running(spawn(async move {
                    let found = watch.lookups().look_up(host, 0, watch.time_left()).await?;
                    Ok(found.into_iter().map(|address| address.ip().to_canonical()).collect())
                }))
            }
        };
        Ok(Ok(self.inner.table.push(AddressStream { name, state })?))
    }

    fn next_address(
        &mut self,
        stream: &Resource<AddressStream>,
    ) -> wasmtime::Result<Result<Option<IpAddress>, ErrorCode>> {
        let stream = self.inner.table.get_mut(stream)?;
        if let LookupState::Running(task) = &mut stream.state {
            let Some(ended) = futures::FutureExt::now_or_never(task) else { return Ok(Err(ErrorCode::WouldBlock)) };
            stream.state = LookupState::Ended(ended);
        }
        match &mut stream.state {
            LookupState::Running(_) => Ok(Err(ErrorCode::WouldBlock)),
            LookupState::Ended(Ok(addresses)) => Ok(Ok(addresses.pop_front().map(|address| {
                self.names.record(address, &stream.name);
                IpAddress::from(address)
            }))),
            LookupState::Ended(Err(LookupError::TimedOut)) => Ok(Err(ErrorCode::TemporaryResolverFailure)),
            LookupState::Ended(Err(LookupError::Failed(error))) => code_of(error, self.watch).map(Err),
        }
    }
}

/// Returns the code of a failed lookup, or the fault that ends the call if the machine lacked a resource.
fn code_of(error: &io::Error, watch: &CallWindow) -> wasmtime::Result<ErrorCode> {
    match is_lack(error) {
        true => Err(watch.record_lack(error).into()),
        false => Ok(ErrorCode::NameUnresolvable),
    }
}
