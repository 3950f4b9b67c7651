//! Imports that a language runtime may call while it starts, before `describe` is called.
//!
//! Some runtimes read a clock and draw a seed before the first line of the program runs. While a plugin is described,
//! [`DescribeHost`](crate::engine::null_host::NullHost) provides the clock and the seed. Both are the same on every
//! machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wasmtime::StoreContextMut;
use wasmtime::component::{Component, Linker};

use crate::capability::clock::ClockView;
use crate::capability::step_call_view::StepCallView;
use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::bindings::clocks::wall_clock;
use crate::engine::virtual_wasi::bindings::random::random;
use crate::guest::bindings::import;
use crate::guest::fault::HostFault;
use crate::interfaces::package::interface_name;

/// Flag that is true while a plugin's runtime is starting.
#[derive(Clone)]
pub(super) struct StartPhase(Arc<AtomicBool>);

impl StartPhase {
    /// Ends the start phase, immediately before `describe` is called. Every later call of an import fails.
    pub(super) fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn check(&self, interface: &str, function: &str) -> wasmtime::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err(HostFault::UnknownImport(format!("{interface}#{function}")).into()),
        }
    }
}

fn view(state: &mut StepInstanceState) -> StepCallView<'_> {
    state.view()
}

fn clock_view(state: &mut StepInstanceState) -> ClockView<'_> {
    state.clock_view()
}

fn whole(state: &mut StepInstanceState) -> &mut StepInstanceState {
    state
}

/// Links the clocks, the random generators and the log.
pub(super) fn link(linker: &mut Linker<StepInstanceState>, component: &Component) -> wasmtime::Result<StartPhase> {
    let starting = StartPhase(Arc::new(AtomicBool::new(true)));
    macro_rules! serve {
        ($interface:expr, $function:literal, ($($arg:ident: $kind:ty),*) -> $answer:ty, $state:path, $served:path) => {{
            let (starting, interface) = (starting.clone(), $interface.to_owned());
            linker.instance(&$interface)?.func_wrap(
                $function,
                move |mut store: StoreContextMut<'_, StepInstanceState>, ($($arg,)*): ($($kind,)*)| -> wasmtime::Result<$answer> {
                    starting.check(&interface, $function)?;
                    $served(&mut $state(store.data_mut()), $($arg),*)
                },
            )?;
        }};
    }
    macro_rules! give {
        ($interface:expr, $function:literal, ($($arg:ident: $kind:ty),*) -> $answer:ty, $state:path, $served:path) => {{
            let (starting, interface) = (starting.clone(), $interface.to_owned());
            linker.instance(&$interface)?.func_wrap(
                $function,
                move |mut store: StoreContextMut<'_, StepInstanceState>, ($($arg,)*): ($($kind,)*)| -> wasmtime::Result<($answer,)> {
                    starting.check(&interface, $function)?;
                    Ok(($served(&mut $state(store.data_mut()), $($arg),*)?,))
                },
            )?;
        }};
    }
    give!(interface_name("clock"), "now", () -> import::clock::Instant, clock_view, import::clock::Host::now);
    give!(interface_name("rng"), "bytes", (len: u32) -> Vec<u8>, view, import::rng::Host::bytes);
    give!(interface_name("rng"), "next-u32", () -> u32, view, import::rng::Host::next_u32);
    serve!(interface_name("log"), "write", (level: import::log::Level, message: String) -> (), view, import::log::Host::write);
    // The name of a WASI import ends with a version, so only the beginning of the name is compared.
    let engine = linker.engine().clone();
    for (name, _) in component.component_type().imports(&engine) {
        if name.starts_with("wasi:clocks/wall-clock@") {
            give!(name, "now", () -> wall_clock::Datetime, whole, wall_clock::Host::now);
        }
        if name.starts_with("wasi:random/random@") {
            give!(name, "get-random-bytes", (len: u64) -> Vec<u8>, whole, random::Host::get_random_bytes);
        }
    }
    Ok(starting)
}
