//! Actions of the step that use WASI 0.2.

use serde_json::{Value, json};
use wasip2::cli::{environment, exit as ends, stderr, stdin, stdout};
use wasip2::cli::{terminal_stderr, terminal_stdin, terminal_stdout};
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::filesystem::preopens::get_directories;
use wasip2::http::types::Fields;
use wasip2::io::poll::{Pollable, poll as wait};
use wasip2::io::streams::StreamError;
use wasip2::random::{insecure, insecure_seed, random as secure};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::IpAddressFamily;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

use crate::hex;

/// Returns two readings of both clocks, and the resolutions of the clocks.
pub(crate) fn both() -> Value {
    let wall = || {
        let now = wall_clock::now();
        now.seconds * 1_000_000_000 + u64::from(now.nanoseconds)
    };
    let resolution = wall_clock::resolution();
    json!({
        "wall": [wall(), wall()],
        "monotonic": [monotonic_clock::now(), monotonic_clock::now()],
        "resolution": [resolution.seconds, resolution.nanoseconds, monotonic_clock::resolution()],
    })
}

pub(crate) fn sleep(ns: u64) {
    monotonic_clock::subscribe_duration(ns).block();
}

pub(crate) fn random(len: u64) -> Value {
    json!([
        hex(&secure::get_random_bytes(len)),
        format!("{:016x}", secure::get_random_u64()),
        hex(&insecure::get_insecure_random_bytes(len)),
        format!("{:016x}", insecure::get_insecure_random_u64()),
        format!("{:016x?}", insecure_seed::insecure_seed()),
    ])
}

/// Polls lists of timers, one list also with a stream. Returns for each list the entries that were ready, and the time
/// since `began`.
///
/// The timer `twin` is due slightly before `early`. Reading `began` advances the clock, `early` counts from the
/// advanced clock, and `twin` counts from `began`.
pub(crate) fn poll(ns: u64) -> Value {
    let began = monotonic_clock::now();
    let late = monotonic_clock::subscribe_duration(ns * 3);
    let early = monotonic_clock::subscribe_duration(ns);
    let twin = monotonic_clock::subscribe_instant(began + ns);
    let past = monotonic_clock::subscribe_instant(began);
    let stream = stdout::get_stdout().subscribe();
    let since = |all: &[&Pollable]| json!([wait(all), monotonic_clock::now() - began]);
    json!({
        "stream first": since(&[&late, &stream, &early]),
        "past": since(&[&late, &past]),
        "earliest": since(&[&late, &early, &twin]),
        "again": since(&[&late, &early, &twin]),
        "ready": [early.ready(), late.ready()],
        "latest": since(&[&late]),
        "then": [late.ready(), monotonic_clock::now() - began],
    })
}

/// Runs three loops that wait for time to pass without sleeping. Returns the number of rounds of each loop.
pub(crate) fn spin(ns: u64) -> Value {
    let mut loops = [0u64; 3];
    let until = monotonic_clock::now() + ns;
    while monotonic_clock::now() < until {
        loops[0] += 1;
    }
    let timer = monotonic_clock::subscribe_duration(ns);
    while !timer.ready() {
        loops[1] += 1;
    }
    let (timer, stream) = (monotonic_clock::subscribe_duration(ns), stdout::get_stdout().subscribe());
    while !wait(&[&timer, &stream]).contains(&0) {
        loops[2] += 1;
    }
    json!(loops)
}

pub(crate) fn program() -> Value {
    let stdin = stdin::get_stdin();
    let closed = |error: StreamError| matches!(error, StreamError::Closed);
    json!({
        "environment": environment::get_environment(),
        "arguments": environment::get_arguments(),
        "directory": environment::initial_cwd(),
        "terminals": [
            terminal_stdin::get_terminal_stdin().is_some(),
            terminal_stdout::get_terminal_stdout().is_some(),
            terminal_stderr::get_terminal_stderr().is_some(),
        ],
        "stdin at its end": [
            stdin.read(1).is_err_and(closed),
            stdin.blocking_read(1).is_err_and(closed),
            stdin.skip(1).is_err_and(closed),
            stdin.blocking_skip(1).is_err_and(closed),
            stdout::get_stdout().splice(&stdin, 1).is_err_and(closed),
            stdout::get_stdout().blocking_splice(&stdin, 1).is_err_and(closed),
        ],
        "stdin is ready": stdin.subscribe().ready(),
    })
}

/// Writes lines to standard output and standard error in pieces. The last line of each stream has no line
/// end.
pub(crate) fn print() -> Value {
    let (out, err) = (stdout::get_stdout(), stderr::get_stderr());
    let room = out.check_write().expect("there is room");
    out.write(b"one ").expect("taken");
    err.blocking_write_and_flush(b"first\r\n\nsec").expect("taken");
    // A second handle of the same stream.
    stdout::get_stdout().write(b"line\ntwo").expect("taken");
    out.flush().expect("flushed");
    err.write(b"ond").expect("taken");
    out.blocking_flush().expect("flushed");
    out.subscribe().block();
    out.write_zeroes(1).expect("taken");
    out.blocking_write_zeroes_and_flush(1).expect("taken");
    json!(room)
}

/// Writes this number of lines of 1,000 bytes each.
pub(crate) fn flood(lines: u64) -> Value {
    let (out, line) = (stdout::get_stdout(), [&[b'x'; 999][..], b"\n"].concat());
    (0..lines).for_each(|_| out.write(&line).expect("taken"));
    json!(lines)
}

pub(crate) fn exit(status: u64) -> Value {
    match status {
        0 => ends::exit(Ok(())),
        1 => ends::exit(Err(())),
        code => ends::exit_with_code(u8::try_from(code).expect("a status")),
    }
    json!("execution continued")
}

pub(crate) fn files() -> Value {
    let all = get_directories();
    // Calls `stat` on each directory, so that the component imports this function.
    let seen: Vec<bool> = all.iter().map(|(directory, _)| directory.stat().is_ok()).collect();
    json!({ "directories": all.len(), "seen": seen })
}

pub(crate) fn sockets() -> Value {
    let network = instance_network();
    let tcp = create_tcp_socket(IpAddressFamily::Ipv4);
    if let Ok(socket) = &tcp {
        drop(socket.subscribe());
    }
    json!({
        "tcp": tcp.err().map(|code| code.name()),
        "udp": create_udp_socket(IpAddressFamily::Ipv6).err().map(|code| code.name()),
        "name": resolve_addresses(&network, "localhost").err().map(|code| code.name()),
        "address": resolve_addresses(&instance_network(), "127.0.0.1").err().map(|code| code.name()),
    })
}

pub(crate) fn http() -> Value {
    let fields = Fields::new();
    json!(fields.entries().len())
}

pub(crate) fn handles(n: u64) -> Value {
    let held: Vec<Pollable> = (0..n).map(|_| monotonic_clock::subscribe_duration(0)).collect();
    json!(held.len())
}

pub(crate) fn poll_nothing() -> Value {
    json!(wait(&[]))
}

pub(crate) fn write(n: u64) -> Value {
    let bytes = vec![b'x'; usize::try_from(n).expect("fits")];
    json!(stdout::get_stdout().write(&bytes).is_ok())
}

pub(crate) fn zeroes(n: u64) -> Value {
    json!(stdout::get_stdout().write_zeroes(n).is_ok())
}
