//! Converts the engine's errors into failures with specific codes.

use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use latchwork_core::encoding::truncate;
use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};

use crate::os::lack::is_lack;

/// Maximum number of callers from the guest's stack in one message. The function that the guest was executing is not
/// counted.
const FRAMES_SHOWN: usize = 6;
/// Maximum number of functions from the guest's stack that are kept. Adapters and runtimes have several frames around a
/// host call.
const FRAMES_KEPT: usize = 24;

/// Maximum length of an error message of or about a guest, in bytes. Longer messages are truncated.
pub(crate) const MESSAGE_BYTES_MAX: usize = bounds::MESSAGE_BYTES;
/// Maximum length of the name of a function in a message, in bytes. A component can contain names of several megabytes.
const NAME_BYTES_MAX: usize = bounds::FUNCTION_NAME_BYTES;

/// Reason why the host ended a guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostFault {
    #[error("wanted {wanted} bytes of memory where {limit} are allowed; raise limits.memory or use less")]
    Memory { wanted: u64, limit: u64 },
    #[error("wanted {wanted} table elements where {limit} are allowed")]
    Tables { wanted: u64, limit: u64 },
    #[error("made more than {0} host calls; raise limits.host_calls or make fewer")]
    HostCalls(u32),
    #[error("ran for more than {0} ms; raise limits.timeout or do less")]
    WallClock(u64),
    #[error("the call's time has passed")]
    Deadline,
    #[error("asked for {0} random bytes at once, {most} are allowed", most = bounds::RANDOM_BYTES)]
    RandomBytes(u32),
    #[error("emitted more than {0} bytes of events; raise limits.output or emit less")]
    EventBytes(u64),
    #[error("called tools with more than {0} bytes of arguments and answers; call fewer, or in several steps")]
    RecordedBytes(u64),
    #[error("emitted an event that cannot be taken: {0}")]
    InvalidEvent(String),
    #[error("made more than {0} calls of WASI; raise limits.host_calls or make fewer")]
    WasiCalls(u32),
    #[error("holds more than {0} streams and pollables of WASI at once")]
    TooManyHandles(usize),
    #[error("wrote {0} bytes to a stream at once, {1} are allowed")]
    OversizedWrite(usize, usize),
    #[error("polled nothing: it would wait for ever")]
    EmptyPoll,
    #[error("called {function}: {instead}")]
    AbsentFunction { function: String, instead: &'static str },
    /// The guest called an import that is not linked. The message is the same as the engine's own message for this
    /// case.
    #[error("unknown import: `{0}` has not been defined")]
    UnknownImport(String),
    /// The machine lacks a resource that the limits of the plugin allow.
    #[error("the machine has no more room for the plugin: {0}")]
    Machine(String),
    /// A pure operator read a clock or random numbers.
    #[error("{0}, but its operator declares that it is pure")]
    ImpureRead(String),
    #[error("the host stopped the step")]
    Stopped,
}

/// Returns true if the host stopped the guest on request of the worker.
pub(crate) fn is_stopped(error: &wasmtime::Error) -> bool {
    matches!(error.downcast_ref(), Some(HostFault::Stopped))
}

/// Returns the failure of a guest that ended without a result. The failure contains a code, the reason, and the
/// functions on the guest's stack.
pub(crate) fn failure(error: &wasmtime::Error) -> Failure {
    let (code, mut message) = classify(error);
    if let Some(place) = stack_suffix(error) {
        message.push_str(&place);
    }
    Failure::new(code, truncate::at_bytes(&message, MESSAGE_BYTES_MAX).start)
}

fn classify(error: &wasmtime::Error) -> (Code, String) {
    if let Some(fault) = error.downcast_ref::<HostFault>() {
        let code = match fault {
            HostFault::Memory { .. } | HostFault::Tables { .. } => Code::MemoryLimit,
            HostFault::EventBytes(_) | HostFault::RecordedBytes(_) => Code::OutputLimit,
            HostFault::InvalidEvent(_) => Code::SchemaValidationFailed,
            HostFault::WallClock(_) | HostFault::Deadline => Code::WallClockLimit,
            HostFault::Machine(_) => Code::MachineFault,
            HostFault::HostCalls(_)
            | HostFault::RandomBytes(_)
            | HostFault::WasiCalls(_)
            | HostFault::TooManyHandles(_)
            | HostFault::OversizedWrite(..)
            | HostFault::EmptyPoll
            | HostFault::AbsentFunction { .. }
            | HostFault::UnknownImport(_)
            | HostFault::ImpureRead(_)
            | HostFault::Stopped => Code::PluginTrap,
        };
        return (code, format!("the plugin {fault}").replace("the plugin the ", "the "));
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => {
            return (Code::OutOfFuel, "the plugin used up its fuel; raise limits.fuel or do less".to_owned());
        }
        Some(Trap::StackOverflow) => return (Code::StackOverflow, "the plugin recursed too deeply".to_owned()),
        Some(trap) => return (Code::PluginTrap, format!("the plugin trapped: {trap}")),
        None => {}
    }
    if let Some(I32Exit(status)) = error.downcast_ref() {
        return (Code::PluginTrap, format!("the plugin ended itself with exit({status}) instead of answering"));
    }
    let root = error.root_cause().to_string();
    if is_lack_of_resources(error) {
        return (Code::MachineFault, format!("the machine has no more room for the plugin: {root}"));
    }
    // The next two checks recognize errors of the engine by their texts, because the engine's types for these errors
    // are private. Tests with hostile guests check the texts.
    if root.contains("fuel allocated for hostcalls") {
        return (Code::OutputLimit, "the plugin handed over more bytes than limits.output allows".to_owned());
    }
    if root.contains("utf-8") && stack_suffix(error).is_none() {
        return (Code::SchemaValidationFailed, "the plugin's answer is not UTF-8 text".to_owned());
    }
    (Code::PluginTrap, format!("the plugin trapped: {root}"))
}

/// Returns true if the engine failed because the machine lacks memory, descriptors, or places in the pool of instances.
fn is_lack_of_resources(error: &wasmtime::Error) -> bool {
    // The engine gets `AGAIN` from the system where another limit of the process leaves no memory.
    let lacks = |error: &std::io::Error| {
        is_lack(error) || rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::AGAIN)
    };
    error.is::<wasmtime::PoolConcurrencyLimitError>()
        || error.is::<wasmtime::error::OutOfMemory>()
        || error.chain().any(|cause| match cause.downcast_ref::<rustix::io::Errno>() {
            Some(errno) => lacks(&std::io::Error::from(*errno)),
            None => cause.downcast_ref().is_some_and(lacks),
        })
}

/// Formats the guest's stack as ` in f, called from g, h`.
fn stack_suffix(error: &wasmtime::Error) -> Option<String> {
    let mut functions = stack_functions(error);
    functions.truncate(FRAMES_SHOWN + 1);
    let (first, callers) = functions.split_first()?;
    let mut text = format!(" in {first}");
    if !callers.is_empty() {
        text.push_str(&format!(", called from {}", callers.join(", ")));
    }
    Some(text)
}

/// Returns the functions on the guest's stack by name, innermost first: the function that the guest was executing, then
/// its callers. The names come from the component's name section.
pub(crate) fn stack_functions(error: &wasmtime::Error) -> Vec<String> {
    error.downcast_ref::<WasmBacktrace>().map(functions_of).unwrap_or_default()
}

/// Returns the functions of a stack by name, innermost first.
pub(crate) fn functions_of(backtrace: &WasmBacktrace) -> Vec<String> {
    let names = backtrace.frames().iter().map(|frame| match frame.func_name() {
        // Function names of Rust guests are mangled. The format `{:#}` leaves out the trailing hash of a demangled
        // name, so the names stay the same in every build.
        Some(name) => {
            let name = truncate::at_bytes(name, NAME_BYTES_MAX).start;
            let name = format!("{:#}", rustc_demangle::demangle(name));
            truncate::at_bytes(&name, NAME_BYTES_MAX).start.to_owned()
        }
        None => format!("function {}", frame.func_index()),
    });
    names.take(FRAMES_KEPT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I223: a lack of system resources is a fault of the machine, in any context. A trap or another error is not.
    #[test]
    fn lack_of_resources_is_a_fault_of_the_machine() {
        let code = |error: &wasmtime::Error| classify(error).0;
        for errno in [rustix::io::Errno::NOMEM, rustix::io::Errno::MFILE, rustix::io::Errno::NFILE] {
            let system = std::io::Error::from(errno);
            assert_eq!(code(&wasmtime::Error::from(system).context("mmap failed")), Code::MachineFault);
            assert_eq!(code(&wasmtime::Error::from(errno).context("mprotect failed")), Code::MachineFault);
        }
        assert_eq!(code(&HostFault::Machine("no memory".to_owned()).into()), Code::MachineFault);
        let missing = wasmtime::Error::from(std::io::Error::from(rustix::io::Errno::NOENT));
        assert_eq!(code(&missing), Code::PluginTrap);
        assert_eq!(code(&Trap::UnreachableCodeReached.into()), Code::PluginTrap);
    }
}
