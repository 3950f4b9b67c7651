//! Refuses clocks and random numbers to a pure operator of a tool.
//!
//! A call of a pure operator has fixed clocks and random numbers, so its result cannot depend on them. A read by the
//! plugin is nevertheless refused. The author then learns that the operator is not pure, and no plugin takes the fixed
//! time for the real time. Reads by a language runtime are allowed while the runtime starts. If a runtime reads in
//! every program, its later reads are allowed too.

use wasmtime::component::Linker;
use wasmtime::{StoreContextMut, WasmBacktrace};
use wasmtime_wasi::clocks::WasiClocksView as _;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::bindings::random::{insecure, random};
use wasmtime_wasi::random::WasiRandomView as _;

use crate::capability::WASI_VERSION;
use crate::capability::denied::{Denied, NOT_FOR_PURE};
use crate::engine::tool_state::ToolState;
use crate::guest::fault;
use crate::guest::fault::HostFault;
use crate::guest::runtime_reads::is_forced_by_the_runtime;

/// Defines [`READS`], and the function that replaces the listed functions.
macro_rules! guards {
    ($($interface:literal $function:literal $what:literal
        ($($arg:ident: $kind:ty),*) -> $answer:ty, $view:ident, $served:path;)*) => {
        /// Functions that a pure operator may not call: interface without its version, function, and what it reads.
        pub const READS: &[(&str, &str, &str)] = &[$(($interface, $function, $what)),*];

        /// Replaces the functions that read a clock or random numbers. The functions for seeds of hash maps are not
        /// replaced. Their seeds are fixed, and can only change the order of a map.
        pub(super) fn link(linker: &mut Linker<ToolState>) -> wasmtime::Result<()> {
            $(linker.instance(&format!("{}@{WASI_VERSION}", $interface))?.func_wrap(
                $function,
                |mut store: StoreContextMut<'_, ToolState>, ($($arg,)*): ($($kind,)*)| -> wasmtime::Result<($answer,)> {
                    let access = concat!("wanted to read ", $what, " (", $interface, "#", $function, ")");
                    check(&store, access)?;
                    Ok(($served(&mut store.data_mut().$view(), $($arg),*)?,))
                },
            )?;)*
            Ok(())
        }
    };
}

guards! {
    "wasi:clocks/wall-clock" "now" "the time" () -> wall_clock::Datetime, clocks, wall_clock::Host::now;
    "wasi:clocks/monotonic-clock" "now" "the time" () -> u64, clocks, monotonic_clock::Host::now;
    "wasi:random/random" "get-random-bytes" "random numbers"
        (len: u64) -> Vec<u8>, random, random::Host::get_random_bytes;
    "wasi:random/random" "get-random-u64" "random numbers" () -> u64, random, random::Host::get_random_u64;
    "wasi:random/insecure" "get-insecure-random-bytes" "random numbers"
        (len: u64) -> Vec<u8>, random, insecure::Host::get_insecure_random_bytes;
    "wasi:random/insecure" "get-insecure-random-u64" "random numbers"
        () -> u64, random, insecure::Host::get_insecure_random_u64;
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
