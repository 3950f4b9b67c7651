//! A deterministic WASI 0.2 for steps with `wasi = "virtual"` (§8).
//!
//! No answer depends on the machine. Time is the step's clock, random numbers come from the step's stream, and output
//! becomes log records. Files, sockets and servers are refused at their creation. The log needs no events for the
//! answers, because they depend only on the step's history.
//!
//! * `clocks`, `poll`: one clock shown by two interfaces, and sleep that takes no real time.
//! * `random`, `cli`, `io`, `output`: functions that a language runtime calls at its start.
//! * `absent`: interfaces of resources that do not exist. `filesystem`, `sockets` and `http` define the
//!   answers of their functions.
//!
//! Floors, top first: `cli`, `clocks`, `io`, `poll`, `random`, `state` · `bindings`, `filesystem`, `http`, `output`,
//! `sockets` · `absent`, `handles`, `instance`.

mod absent;
pub(super) mod bindings;
mod cli;
mod clocks;
mod filesystem;
mod handles;
mod http;
mod instance;
mod io;
mod output;
mod poll;
mod random;
mod sockets;
mod state;

#[cfg(test)]
mod tests;

use wasmtime::component::{Component, HasSelf, Linker};

use crate::engine::step_state::StepInstanceState;
use crate::interfaces::virtual_wasi::{ABSENT, interface};
use absent::AbsentAnswer;

pub(crate) use state::VirtualWasi;

/// Version of the answers of virtual WASI, a part of the engine profile. Every change of an answer must increment the
/// version.
pub(crate) const VERSION: u32 = 1;

/// Returns the answers of an absent interface's functions. Returns `None` for any other interface.
fn absent_answers(interface: &str) -> Option<fn(&str) -> AbsentAnswer> {
    if !ABSENT.contains(&interface) {
        return None;
    }
    match interface.split_once('/')?.0 {
        "wasi:filesystem" => Some(filesystem::answer),
        "wasi:http" => Some(http::answer),
        "wasi:sockets" => Some(sockets::answer),
        _ => None,
    }
}

/// Links all parts of virtual WASI that a component imports.
pub(crate) fn link(linker: &mut Linker<StepInstanceState>, component: &Component) -> wasmtime::Result<()> {
    use bindings::{cli, clocks, io, random};
    io::error::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    io::poll::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    io::streams::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    clocks::wall_clock::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    clocks::monotonic_clock::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    random::random::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    random::insecure::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    random::insecure_seed::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::environment::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::exit::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::stdin::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::stdout::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::stderr::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::terminal_input::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::terminal_output::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::terminal_stdin::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::terminal_stdout::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    cli::terminal_stderr::add_to_linker::<_, HasSelf<StepInstanceState>>(linker, own)?;
    absent::link(linker, component, |import| interface(import).and_then(absent_answers))
}

/// Links the interfaces whose names begin with `prefix`. A call of one of their functions ends the guest with a
/// message that names the function.
pub(crate) fn forbid(
    linker: &mut Linker<StepInstanceState>,
    component: &Component,
    prefix: &str,
) -> wasmtime::Result<()> {
    absent::link(linker, component, |import| import.starts_with(prefix).then_some(|_: &str| AbsentAnswer::NotLinked))
}

fn own(state: &mut StepInstanceState) -> &mut StepInstanceState {
    state
}
