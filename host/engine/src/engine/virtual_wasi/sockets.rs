//! `wasi:sockets`: no socket can be created and no name can be looked up.

use crate::engine::virtual_wasi::absent::AbsentAnswer;

const INSTEAD: &str = "a step has no network; call a tool with a tcp grant through latchwork:plugin/tools";

/// Returns the answer of a function of the package.
pub(super) fn answer(function: &str) -> AbsentAnswer {
    match function {
        "instance-network" => AbsentAnswer::EmptyNetwork,
        "network-error-code" => AbsentAnswer::NoErrorCode,
        "create-tcp-socket" | "create-udp-socket" | "resolve-addresses" => AbsentAnswer::Denied(INSTEAD),
        // Methods of sockets. No socket can exist.
        _ => AbsentAnswer::Refused(INSTEAD),
    }
}
