//! `wasi:sockets`: no socket can be created and no name can be looked up.

use crate::engine::virtual_wasi::absent::AbsentAnswer;

const INSTEAD: &str = "a step has no network; call a tool with a tcp grant through latchwork:plugin/tools";

/// Returns the answer to a call of `function`, a function of the package `wasi:sockets`.
pub(super) fn answer(function: &str) -> AbsentAnswer {
    match function {
        "instance-network" => AbsentAnswer::EmptyNetwork,
        "network-error-code" => AbsentAnswer::NoErrorCode,
        "create-tcp-socket" | "create-udp-socket" | "resolve-addresses" => AbsentAnswer::Denied(INSTEAD),
        // All other functions are methods of sockets. A step cannot create a socket, so it cannot call a method of one.
        _ => AbsentAnswer::Refused(INSTEAD),
    }
}
