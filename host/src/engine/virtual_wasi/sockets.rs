//! `wasi:sockets`: no socket can be created and no name can be looked up.

use super::absent::AbsentAnswer;

const INSTEAD: &str = "a step has no network; call a tool with a tcp grant through latchwork:plugin/tools";

/// Returns the answers of an interface's functions if the interface belongs to `wasi:sockets`.
pub(super) fn answers(interface: &str) -> Option<fn(&str) -> AbsentAnswer> {
    const INTERFACES: [&str; 7] =
        ["network", "instance-network", "tcp", "tcp-create-socket", "udp", "udp-create-socket", "ip-name-lookup"];
    let name = interface.strip_prefix("wasi:sockets/")?;
    INTERFACES.contains(&name).then_some(answer)
}

fn answer(function: &str) -> AbsentAnswer {
    match function {
        "instance-network" => AbsentAnswer::EmptyNetwork,
        "network-error-code" => AbsentAnswer::NoErrorCode,
        "create-tcp-socket" | "create-udp-socket" | "resolve-addresses" => AbsentAnswer::Denied(INSTEAD),
        // Methods of sockets. No socket can exist.
        _ => AbsentAnswer::Refused(INSTEAD),
    }
}
