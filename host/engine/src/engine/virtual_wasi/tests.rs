use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tracing::Level;

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::Limits;

use crate::engine::describe_host::DescribeHost;
use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::absent::AbsentAnswer;
use crate::engine::virtual_wasi::absent_answers;
use crate::engine::virtual_wasi::bindings::io::streams::HostOutputStream;
use crate::engine::virtual_wasi::bindings::random::random;
use crate::engine::virtual_wasi::handles::{Pollable, StdStream};
use crate::engine::virtual_wasi::output::StreamOutput;
use crate::engine::virtual_wasi::poll::{Wait, wait_result};
use crate::guest::fault;
use crate::guest::sources::{StepContext, StepSources};
use crate::guest::step_calls::{StepCalls, Stop, ToolCall};
use crate::guest::step_clock::{READ_ADVANCE_NS, StepClock};
use crate::interfaces::virtual_wasi::{ABSENT, SERVED, interface};

/// I50: the clock follows the last received answer, advances with each read, and never goes back.
#[test]
fn clock_never_goes_back() {
    let mut clock = StepClock::default();
    assert_eq!(clock.now_ns(5), 5_000);
    assert_eq!((clock.read(5), clock.read(5), clock.now_ns(5)), (5_000, 6_000, 7_000));
    // The answer was recorded at 6,000 ns. The step's clock reads have already moved the clock beyond this time.
    assert_eq!(clock.now_ns(6), 7_000);
    assert_eq!(clock.read(100), 100_000);
    clock.sleep_until(50_000);
    assert_eq!(clock.now_ns(100), 101_000);
    clock.sleep_until(i64::MAX - 1);
    assert_eq!((clock.read(100), clock.read(100), clock.read(i64::MAX)), (i64::MAX - 1, i64::MAX, i64::MAX));
    assert_eq!(StepClock::default().now_ns(-7), -7_000, "times before 1970 are valid");
    assert_eq!(READ_ADVANCE_NS, 1_000);
}

#[test]
fn wait_ends_at_the_earliest_timer() {
    use Pollable::{At, Ready};
    for (all, found) in [
        (vec![Ready], Wait::AllReady),
        (vec![At(9), At(10)], Wait::AllReady),
        (vec![At(12), At(11), At(11)], Wait::Until(11)),
        (vec![At(12), Ready], Wait::SomeReady),
        (vec![At(10), At(11)], Wait::SomeReady),
        (vec![At(i64::MAX)], Wait::Until(i64::MAX)),
    ] {
        assert_eq!(wait_result(&all, 10), found, "{all:?}");
    }
}

/// I51: every function that could reach outside a step is refused. Virtual WASI either serves an interface or answers
/// it as absent, never both.
#[test]
fn absent_resources_cannot_be_created() {
    for (interface, function) in [
        ("wasi:sockets/tcp-create-socket", "create-tcp-socket"),
        ("wasi:sockets/udp-create-socket", "create-udp-socket"),
        ("wasi:sockets/ip-name-lookup", "resolve-addresses"),
    ] {
        assert!(matches!(absent_answers(interface).unwrap()(function), AbsentAnswer::Denied(_)), "{interface}");
    }
    for (interface, function) in [
        ("wasi:filesystem/types", "[method]descriptor.open-at"),
        ("wasi:sockets/tcp", "[method]tcp-socket.start-connect"),
        ("wasi:sockets/udp", "[method]udp-socket.stream"),
        ("wasi:http/types", "[constructor]fields"),
        ("wasi:http/outgoing-handler", "handle"),
        // Stands for a function that a later release of WASI may add.
        ("wasi:http/types", "new-function"),
    ] {
        assert!(matches!(absent_answers(interface).unwrap()(function), AbsentAnswer::Refused(_)), "{interface}");
    }
    assert_eq!(absent_answers("wasi:filesystem/preopens").unwrap()("get-directories"), AbsentAnswer::EmptyList);
    assert!(ABSENT.iter().all(|interface| absent_answers(interface).is_some()));
    assert!(SERVED.iter().all(|interface| absent_answers(interface).is_none()));
    for unknown in ["wasi:sockets/raw", "wasi:http/incoming-handler", "wasi:filesystem/watch", "wasi:cli/run"] {
        assert!(absent_answers(unknown).is_none() && !SERVED.contains(&unknown), "{unknown}");
    }
}

#[test]
fn all_wasi_0_2_releases_map_to_one_interface() {
    assert_eq!(interface("wasi:io/poll@0.2.0"), Some("wasi:io/poll"));
    assert_eq!(interface("wasi:io/poll@0.2.31"), Some("wasi:io/poll"));
    for other in
        ["wasi:io/poll", "wasi:io/poll@0.2", "wasi:io/poll@0.2.", "wasi:io/poll@0.2.0-rc", "mine:io/poll@0.2.0"]
    {
        assert_eq!(interface(other), None, "{other}");
    }
}

/// Collects log records.
struct LogCollector {
    own: StepSources,
    logged: Arc<Mutex<Vec<(Level, String)>>>,
}

#[async_trait]
impl StepCalls for LogCollector {
    fn sources(&mut self) -> &mut StepSources {
        &mut self.own
    }
    fn log(&mut self, level: Level, message: &str) {
        self.logged.lock().unwrap().push((level, message.to_owned()));
    }
    async fn call(&mut self, _: String, _: String, _: Option<String>) -> Result<Result<String, Failure>, Stop> {
        Err(Stop)
    }
    async fn call_all(&mut self, _: Vec<ToolCall>) -> Result<Vec<Result<String, Failure>>, Stop> {
        Err(Stop)
    }
    async fn emit(&mut self, _: String, _: String) -> Result<(), Stop> {
        Err(Stop)
    }
}

/// Writes the pieces in order, ends the output, and returns the log records.
fn log_records_of(pieces: &[(StdStream, &[u8])]) -> Vec<(Level, String)> {
    let own = StepSources::new(StepContext::default(), [0; 32], 0);
    let mut calls = LogCollector { own, logged: Arc::default() };
    let mut output = StreamOutput::default();
    for (stream, bytes) in pieces {
        output.write(*stream, bytes, &mut calls);
    }
    output.finish(&mut calls);
    output.finish(&mut calls);
    calls.logged.lock().unwrap().clone()
}

#[test]
fn output_lines_are_logged_in_the_order_they_end() {
    let (out, err) = (StdStream::Out, StdStream::Err);
    let lines = log_records_of(&[(out, b"a"), (err, b"b\n"), (out, b"c\r\n\n"), (err, b"\xff"), (out, b"d")]);
    let wanted = [(Level::WARN, "b"), (Level::INFO, "ac"), (Level::INFO, "d"), (Level::WARN, "\u{fffd}")];
    assert_eq!(lines, wanted.map(|(level, text)| (level, text.to_owned())));
    let long = vec![b'x'; bounds::LOG_RECORD_BYTES + 1];
    let lengths: Vec<_> = log_records_of(&[(out, &long), (out, b"y\n")]).iter().map(|(_, text)| text.len()).collect();
    assert_eq!(lengths, [bounds::LOG_RECORD_BYTES, 2]);
}

/// I225: bound `step_stream_bytes`.
#[test]
fn excessive_step_output_is_truncated_once() {
    let much = vec![b'\n'; 1];
    let most = vec![b'x'; bounds::STEP_STREAM_BYTES - 3];
    let whole = log_records_of(&[(StdStream::Out, &most), (StdStream::Err, b"123")]);
    assert_eq!(whole.iter().map(|(_, text)| text.len()).sum::<usize>(), bounds::STEP_STREAM_BYTES);
    let lines = log_records_of(&[(StdStream::Out, &most), (StdStream::Err, b"12345"), (StdStream::Out, &much)]);
    let (last, rest) = lines.split_last().unwrap();
    assert!(last.1.contains("1048576 bytes"), "{last:?}");
    assert_eq!(rest.last().unwrap().1, "123");
    let kept: usize = rest.iter().map(|(_, text)| text.len()).sum();
    assert_eq!(kept, bounds::STEP_STREAM_BYTES);
}

fn step_state() -> StepInstanceState {
    StepInstanceState::new(Box::new(DescribeHost::new("p")), &Limits::default())
}

#[track_caller]
fn assert_traps<T>(result: wasmtime::Result<T>, says: &str) {
    let failure = fault::failure(&result.err().expect("it is refused"));
    assert!(failure.code == Code::PluginTrap && failure.message.contains(says), "{failure}");
}

/// I225: bound `step_handles`. A handle that was dropped no longer counts.
#[test]
fn handles_of_a_step_are_bounded() {
    let mut state = step_state();
    let held: Vec<_> = (0..bounds::STEP_HANDLES).map(|_| state.new_handle(Pollable::Ready).unwrap()).collect();
    assert_traps(state.new_handle(Pollable::Ready), "1000 streams and pollables");
    for handle in held {
        state.wasi.table.delete(handle).unwrap();
    }
    state.new_handle(Pollable::Ready).unwrap();
}

/// I225: bound `step_write_bytes`.
#[test]
fn one_write_of_a_step_is_bounded() {
    let mut state = step_state();
    let mut write = |bytes: usize| {
        let stream = state.new_handle(StdStream::Out).unwrap();
        HostOutputStream::write(&mut state, stream, vec![b'x'; bytes])
    };
    write(bounds::STEP_WRITE_BYTES).unwrap().unwrap();
    assert_traps(write(bounds::STEP_WRITE_BYTES + 1), "65537 bytes");
}

/// I225: bound `random_bytes`, for `wasi:random`.
#[test]
fn random_bytes_of_one_call_are_bounded() {
    let mut state = step_state();
    let most = u64::from(bounds::RANDOM_BYTES);
    assert_eq!(random::Host::get_random_bytes(&mut state, most).unwrap().len() as u64, most);
    assert_traps(random::Host::get_random_bytes(&mut state, most + 1), "65537 random bytes at once, 65536 are allowed");
}
