//! Refuses clocks and random numbers to a pure operator of a tool.
//!
//! A call of a pure operator has fixed clocks and random numbers, so its result cannot depend on them. A read by the
//! plugin is nevertheless refused. The author then learns that the operator is not pure, and no plugin takes the fixed
//! time for the real time. Reads by a language runtime are allowed while the runtime starts. If a runtime reads in
//! every program, its later reads are allowed too.
//!
//! A wait is a clock, too: the order in which a timer and other work end tells the time. The timers of a pure operator
//! are therefore at their end at once, and a poll waits for everything that it is given. The answer of a poll is then
//! the same on every machine.

use async_trait::async_trait;
use wasmtime::component::{Linker, Resource, ResourceTable};
use wasmtime::{StoreContextMut, WasmBacktrace};
use wasmtime_wasi::WasiView as _;
use wasmtime_wasi::clocks::{WasiClocksCtxView, WasiClocksView as _};
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::bindings::io::poll::{Host as _, HostPollable as _};
use wasmtime_wasi::p2::bindings::random::{insecure, random};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::random::WasiRandomView as _;

use crate::capability::WASI_VERSION;
use crate::capability::denied::{Denied, NOT_FOR_PURE};
use crate::engine::tool_state::ToolState;
use crate::guest::fault;
use crate::guest::fault::HostFault;
use crate::guest::runtime_reads::is_forced_by_the_runtime;

/// Defines [`READS`], and the function that replaces the listed functions.
macro_rules! guards {
    ($($interface:literal $function:literal $verb:literal $what:literal
        ($($arg:ident: $kind:ty),*) -> $answer:ty, $served:path;)*) => {
        /// Functions that a pure operator may not call: interface without its version, function, and what it reads.
        pub const READS: &[(&str, &str, &str)] = &[$(($interface, $function, $what)),*];

        /// Replaces the functions that read a clock or random numbers. The functions for seeds of hash maps are not
        /// replaced. Their seeds are fixed, and can only change the order of a map.
        pub(super) fn link(linker: &mut Linker<ToolState>) -> wasmtime::Result<()> {
            $(linker.instance(&format!("{}@{WASI_VERSION}", $interface))?.func_wrap(
                $function,
                |mut store: StoreContextMut<'_, ToolState>, ($($arg,)*): ($($kind,)*)| -> wasmtime::Result<($answer,)> {
                    let access = concat!("wanted to ", $verb, " ", $what, " (", $interface, "#", $function, ")");
                    check(&store, access)?;
                    Ok(($served(&mut store, $($arg),*)?,))
                },
            )?;)*
            link_polls(linker)
        }
    };
}

guards! {
    "wasi:clocks/wall-clock" "now" "read" "the time" () -> wall_clock::Datetime, now_of_the_wall;
    "wasi:clocks/monotonic-clock" "now" "read" "the time" () -> u64, now;
    "wasi:clocks/monotonic-clock" "subscribe-duration" "wait for" "the time"
        (ns: u64) -> Resource<DynPollable>, timer_for;
    "wasi:clocks/monotonic-clock" "subscribe-instant" "wait for" "the time"
        (ns: u64) -> Resource<DynPollable>, timer_until;
    "wasi:random/random" "get-random-bytes" "read" "random numbers" (len: u64) -> Vec<u8>, random_bytes;
    "wasi:random/random" "get-random-u64" "read" "random numbers" () -> u64, random_number;
    "wasi:random/insecure" "get-insecure-random-bytes" "read" "random numbers"
        (len: u64) -> Vec<u8>, insecure_bytes;
    "wasi:random/insecure" "get-insecure-random-u64" "read" "random numbers" () -> u64, insecure_number;
}

/// Store of a call that makes an access.
type Store<'a> = StoreContextMut<'a, ToolState>;

fn now_of_the_wall(store: &mut Store<'_>) -> wasmtime::Result<wall_clock::Datetime> {
    wall_clock::Host::now(&mut store.data_mut().clocks())
}

fn now(store: &mut Store<'_>) -> wasmtime::Result<u64> {
    monotonic_clock::Host::now(&mut store.data_mut().clocks())
}

fn timer_for(store: &mut Store<'_>, ns: u64) -> wasmtime::Result<Resource<DynPollable>> {
    timer(store, |clocks| monotonic_clock::Host::subscribe_duration(clocks, ns))
}

fn timer_until(store: &mut Store<'_>, ns: u64) -> wasmtime::Result<Resource<DynPollable>> {
    timer(store, |clocks| monotonic_clock::Host::subscribe_instant(clocks, ns))
}

fn random_bytes(store: &mut Store<'_>, len: u64) -> wasmtime::Result<Vec<u8>> {
    random::Host::get_random_bytes(store.data_mut().random(), len)
}

fn random_number(store: &mut Store<'_>) -> wasmtime::Result<u64> {
    random::Host::get_random_u64(store.data_mut().random())
}

fn insecure_bytes(store: &mut Store<'_>, len: u64) -> wasmtime::Result<Vec<u8>> {
    insecure::Host::get_insecure_random_bytes(store.data_mut().random(), len)
}

fn insecure_number(store: &mut Store<'_>) -> wasmtime::Result<u64> {
    insecure::Host::get_insecure_random_u64(store.data_mut().random())
}

/// Timer of a pure operator, which is always at its end.
struct AtItsEnd;

#[async_trait]
impl Pollable for AtItsEnd {
    async fn ready(&mut self) {}
}

/// Makes a timer. A runtime may make one for a pure operator as well.
fn timer(
    store: &mut Store<'_>,
    make: impl FnOnce(&mut WasiClocksCtxView<'_>) -> wasmtime::Result<Resource<DynPollable>>,
) -> wasmtime::Result<Resource<DynPollable>> {
    if !store.data().permissions.is_pure {
        return make(&mut store.data_mut().clocks());
    }
    let table = store.data_mut().ctx().table;
    let timer = table.push(AtItsEnd)?;
    subscribe(table, timer)
}

/// Replaces the functions that tell which of several things ended first.
fn link_polls(linker: &mut Linker<ToolState>) -> wasmtime::Result<()> {
    let mut poll = linker.instance(&format!("wasi:io/poll@{WASI_VERSION}"))?;
    poll.func_wrap_async("poll", |mut store: Store<'_>, (all,): (Vec<Resource<DynPollable>>,)| {
        Box::new(async move {
            let is_pure = store.data().permissions.is_pure;
            let table = store.data_mut().ctx().table;
            Ok((if is_pure { wait_for_all(table, &all).await? } else { table.poll(all).await? },))
        })
    })?;
    poll.func_wrap_async("[method]pollable.ready", |mut store: Store<'_>, (one,): (Resource<DynPollable>,)| {
        Box::new(async move {
            let is_pure = store.data().permissions.is_pure;
            let table = store.data_mut().ctx().table;
            if is_pure {
                table.block(one).await?;
                return Ok((true,));
            }
            Ok((table.ready(one).await?,))
        })
    })
}

/// Waits until all of these are ready, and returns their places.
async fn wait_for_all(table: &mut ResourceTable, all: &[Resource<DynPollable>]) -> wasmtime::Result<Vec<u32>> {
    if all.is_empty() {
        return Err(wasmtime::format_err!("empty poll list"));
    }
    for one in all {
        table.block(Resource::new_borrow(one.rep())).await?;
    }
    Ok((0..).take(all.len()).collect())
}

/// Fails if a pure operator makes this access.
fn check(store: &StoreContextMut<'_, ToolState>, access: &str) -> wasmtime::Result<()> {
    let state = store.data();
    if !state.permissions.is_pure || !state.has_begun {
        return Ok(());
    }
    if is_forced_by_the_runtime(&fault::functions_of(&WasmBacktrace::force_capture(store))) {
        return Ok(());
    }
    Denied::never(access.to_owned(), NOT_FOR_PURE).record(&state.watch, &state.settings.name);
    Err(HostFault::ImpureRead(access.to_owned()).into())
}
