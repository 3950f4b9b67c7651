//! A WASI 0.2 whose every answer is deterministic, for steps with `wasi = "virtual"` (§8).
//!
//! Nothing behind it is the machine's: time is the step's clock, randomness its stream, output
//! becomes log records, and whatever would need a file, a socket or a server is refused where it
//! would come into being. Answers depend on the step's history alone, so they cost no event.
//!
//! * `clocks`, `poll`: one clock, two faces, and sleeping that takes no time.
//! * `random`, `cli`, `io`, `output`: what a language's runtime asks for when it starts.
//! * `absent`: interfaces of things that do not exist; `filesystem`, `sockets` and `http` say what
//!   each of their functions answers.

mod absent;
pub(super) mod bindings;
mod cli;
mod clocks;
mod filesystem;
mod handles;
mod http;
mod io;
mod output;
mod poll;
mod random;
mod sockets;
#[cfg(test)]
mod tests;

use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};

use super::fault::HostFault;
use super::step::StepState;

use absent::Answer;
use clocks::Clock;
use output::Output;

/// Streams and pollables that a step may hold at once.
const HANDLES_MAX: usize = 1_000;

/// What may change what a step sees: part of the engine profile. Count it up with every change of
/// an answer.
pub(crate) const VERSION: u32 = 1;

/// Interfaces with answers of their own.
const SERVED: [&str; 18] = [
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:clocks/wall-clock",
    "wasi:clocks/monotonic-clock",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
];

/// What a step's virtual WASI remembers during one try.
pub(crate) struct VirtualWasi {
    clock: Clock,
    table: ResourceTable,
    output: Output,
}

impl VirtualWasi {
    pub(crate) fn new() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES_MAX);
        Self { clock: Clock::default(), table, output: Output::default() }
    }
}

/// Whether a step may import this, by the name the component gives it, under `wasi = "virtual"`.
pub(crate) fn serves(import: &str) -> bool {
    interface(import).is_some_and(|interface| SERVED.contains(&interface) || answers(interface).is_some())
}

/// The interface of an import of WASI 0.2, whichever release of it.
fn interface(import: &str) -> Option<&str> {
    let (interface, version) = import.split_once('@')?;
    let patch = version.strip_prefix("0.2.")?;
    let released = !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
    (interface.starts_with("wasi:") && released).then_some(interface)
}

/// What the functions of an absent interface answer; none: it is not one of them.
fn answers(interface: &str) -> Option<fn(&str) -> Answer> {
    [filesystem::answers(interface), sockets::answers(interface), http::answers(interface)].into_iter().flatten().next()
}

/// Link everything of it that a component imports.
pub(crate) fn link(linker: &mut Linker<StepState>, component: &Component) -> wasmtime::Result<()> {
    use bindings::{cli, clocks, io, random};
    io::error::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    io::poll::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    io::streams::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    clocks::wall_clock::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    clocks::monotonic_clock::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    random::random::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    random::insecure::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    random::insecure_seed::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::environment::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::exit::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::stdin::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::stdout::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::stderr::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::terminal_input::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::terminal_output::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::terminal_stdin::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::terminal_stdout::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    cli::terminal_stderr::add_to_linker::<_, HasSelf<StepState>>(linker, own)?;
    absent::link(linker, component, |import| interface(import).and_then(answers))
}

/// Link the interfaces whose names begin with `prefix` as functions that end the guest by name.
pub(crate) fn forbid(linker: &mut Linker<StepState>, component: &Component, prefix: &str) -> wasmtime::Result<()> {
    absent::link(linker, component, |import| import.starts_with(prefix).then_some(|_: &str| Answer::Unknown))
}

fn own(state: &mut StepState) -> &mut StepState {
    state
}

impl StepState {
    /// One more call of virtual WASI, weighing as much as `weight` plain ones.
    fn wasi_call(&mut self, weight: u32) -> wasmtime::Result<()> {
        Ok(self.guard.wasi_calls(weight)?)
    }

    /// A new handle, unless the step holds too many.
    fn handle<T: Send + 'static>(&mut self, entry: T) -> wasmtime::Result<wasmtime::component::Resource<T>> {
        Ok(self.wasi.table.push(entry).map_err(|_| HostFault::Handles(HANDLES_MAX))?)
    }

    /// What the step wrote to a line that it did not end.
    pub(crate) fn flush_output(&mut self) {
        self.wasi.output.finish(&mut *self.calls);
    }
}
