//! The interfaces that a step with `wasi = "virtual"` may import.

/// Interfaces that are implemented.
pub(crate) const SERVED: [&str; 18] = [
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

/// Interfaces of resources that no step has. A step may import these interfaces, but a call cannot reach a resource.
pub(crate) const ABSENT: [&str; 11] = [
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:http/types",
    "wasi:http/outgoing-handler",
    "wasi:sockets/network",
    "wasi:sockets/instance-network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
    "wasi:sockets/ip-name-lookup",
];

/// Returns true if a step may have this import under `wasi = "virtual"`. `import` is the name that the
/// component uses.
pub(crate) fn serves(import: &str) -> bool {
    interface(import).is_some_and(|interface| SERVED.contains(&interface) || ABSENT.contains(&interface))
}

/// Returns the name of the interface without its version, if `import` names an interface of WASI 0.2 in any release of
/// 0.2.
pub(crate) fn interface(import: &str) -> Option<&str> {
    let (interface, version) = import.split_once('@')?;
    let patch = version.strip_prefix("0.2.")?;
    let released = !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit());
    (interface.starts_with("wasi:") && released).then_some(interface)
}
