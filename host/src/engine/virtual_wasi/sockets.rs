//! `wasi:sockets`: no socket can be made and no name looked up.

use super::absent::Answer;

const INSTEAD: &str = "a step has no network; call a tool with a tcp grant through latchwork:plugin/tools";

/// What the functions of an interface answer, if it is one of these.
pub(super) fn answers(interface: &str) -> Option<fn(&str) -> Answer> {
    const INTERFACES: [&str; 7] =
        ["network", "instance-network", "tcp", "tcp-create-socket", "udp", "udp-create-socket", "ip-name-lookup"];
    let name = interface.strip_prefix("wasi:sockets/")?;
    INTERFACES.contains(&name).then_some(answer)
}

fn answer(function: &str) -> Answer {
    match function {
        "instance-network" => Answer::EmptyNetwork,
        "network-error-code" => Answer::NoCode,
        "create-tcp-socket" | "create-udp-socket" | "resolve-addresses" => Answer::Denied(INSTEAD),
        // Methods of sockets, and nobody has one.
        _ => Answer::Refused(INSTEAD),
    }
}
