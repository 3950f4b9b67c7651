//! Witness outside of the tested process: a server that counts the request bodies that it received completely, by their
//! idempotency key. The server can stop reading in the middle of a body.

use std::collections::BTreeSet;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::support::checkout;
use crate::support::servers::http::{read_head, serve_each};
use crate::support::test_env::{TestEnv, build_plugin, step};
use crate::support::waiting::block_on;

/// Size of the kernel's receive buffer in bytes. A large body does not fit into the buffer, so most of the body arrives
/// only while the witness reads.
const RECEIVE_BUFFER_BYTES: u32 = 64 << 10;
/// Maximum time to wait for an expected event.
const WAIT_LIMIT: Duration = Duration::from_secs(120);

/// A completely received body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReceivedBody {
    pub(crate) key: String,
    pub(crate) text: String,
}

#[derive(Default)]
struct WitnessedBodies {
    complete: Vec<ReceivedBody>,
    /// Number of incomplete bodies whose connection has ended.
    broken: u32,
    /// True if the next body is to be read only up to its middle.
    stop_in_next_body: bool,
    /// True while a body has been read up to its middle and reading is stopped.
    is_halfway: bool,
}

#[derive(Default)]
struct WitnessState {
    seen: Mutex<WitnessedBodies>,
    changed: Condvar,
}

/// The server, whose threads run until the process ends.
pub(crate) struct Witness {
    pub(crate) port: u16,
    shared: Arc<WitnessState>,
}

impl Witness {
    pub(crate) fn start() -> Witness {
        let listener = listener_with_small_buffer();
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(WitnessState::default());
        serve_each(listener, &shared, serve);
        Witness { port, shared }
    }

    /// Creates an environment with tools that post to the witness. `lines` are added to the plugin's table.
    pub(crate) fn env(&self, commit: &str, lines: &str) -> TestEnv {
        let root = checkout::copy().join("tests/guests-effects");
        let config = format!(
            "commit = {commit:?}\n[[plugin]]\nname = \"witness-http\"\nsource = {:?}\n\
             grants = {{ http = [{{ url = \"http://127.0.0.1:{}\", methods = [\"GET\", \"POST\"] }}] }}\n{lines}\n",
            build_plugin(&root.join("witness-http")),
            self.port,
        );
        TestEnv::configured(&config, vec!["o", "k", "q"]).compile_plugins()
    }

    /// Returns a step that posts this note.
    pub(crate) fn step(&self, id: &str, name: &str, depends_on: &[&str], note: u32, bytes: usize) -> Value {
        let url = format!("http://127.0.0.1:{}/", self.port);
        step(id, name, depends_on, json!({ "url": url, "note": note, "bytes": bytes }))
    }

    /// Returns the bodies completely received for a job.
    pub(crate) fn bodies_of_job(&self, job: &str) -> Vec<ReceivedBody> {
        let own = format!("latch:{job}:");
        self.shared.seen.lock().unwrap().complete.iter().filter(|body| body.key.starts_with(&own)).cloned().collect()
    }

    /// Returns the bodies completely received for one slot of a job.
    pub(crate) fn bodies_of_slot(&self, job: &str, slot: &str) -> Vec<ReceivedBody> {
        let own = format!("latch:{job}:{slot}:");
        self.bodies_of_job(job).into_iter().filter(|body| body.key.starts_with(&own)).collect()
    }

    /// Returns the number of incomplete bodies whose connection has ended.
    pub(crate) fn broken_count(&self) -> u32 {
        self.shared.seen.lock().unwrap().broken
    }

    /// Returns the number of different keys received for a slot. This is the number of actions that a server performs
    /// if it ignores repeated keys.
    pub(crate) fn applied_count(&self, job: &str, slot: &str) -> usize {
        self.bodies_of_slot(job, slot).into_iter().map(|body| body.key).collect::<BTreeSet<_>>().len()
    }

    /// Stops reading in the middle of the next body, until `continue_reading` is called.
    pub(crate) fn stall_next_body(&self) {
        self.shared.seen.lock().unwrap().stop_in_next_body = true;
    }

    /// Waits until half of a body was received.
    pub(crate) fn wait_until_halfway(&self) {
        self.wait_until("half of a body was received", |seen| seen.is_halfway);
    }

    /// Continues to read the body at which `stall_next_body` stopped.
    pub(crate) fn continue_reading(&self) {
        self.shared.seen.lock().unwrap().is_halfway = false;
        self.shared.changed.notify_all();
    }

    /// Waits until this number of bodies has ended, complete or not.
    pub(crate) fn wait_for_bodies(&self, bodies: usize) {
        self.wait_until("the bodies have ended", |seen| seen.complete.len() + seen.broken as usize >= bodies);
    }

    fn wait_until(&self, what: &str, is: impl Fn(&WitnessedBodies) -> bool) {
        let seen = self.shared.seen.lock().unwrap();
        let (_seen, waited) = self.shared.changed.wait_timeout_while(seen, WAIT_LIMIT, |seen| !is(seen)).unwrap();
        assert!(!waited.timed_out(), "timed out waiting: {what}");
    }
}

/// Returns a listener with a small receive buffer. Its connections inherit the size of the buffer.
fn listener_with_small_buffer() -> TcpListener {
    let listener = block_on(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES).expect("it has a size");
        socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port is free");
        socket.listen(64).and_then(tokio::net::TcpListener::into_std).expect("it listens")
    });
    listener.set_nonblocking(false).expect("it blocks");
    listener
}

fn serve(stream: TcpStream, shared: &WitnessState) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (asked, headers) = read_head(&mut reader)?;
    let header = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
    let key = header("idempotency-key").unwrap_or_default().to_owned();
    let length = header("content-length").map_or(0, |length| length.parse().expect("a number"));
    let status = if asked.starts_with("POST ") {
        receive_body(&mut reader, shared, key, length)?;
        200
    } else {
        let seen = shared.seen.lock().unwrap();
        if seen.complete.iter().any(|body| body.key == key) { 200 } else { 404 }
    };
    let head = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    reader.get_mut().write_all(head.as_bytes()).ok()
}

/// Reads a body and counts it if it was received completely. Returns `None` if the body is incomplete.
fn receive_body(reader: &mut BufReader<TcpStream>, shared: &WitnessState, key: String, length: usize) -> Option<()> {
    let mut bytes = vec![0; length];
    let (first, second) = bytes.split_at_mut(length / 2);
    let mut read = reader.read_exact(first);
    let mut seen = shared.seen.lock().unwrap();
    if std::mem::take(&mut seen.stop_in_next_body) {
        seen.is_halfway = true;
        shared.changed.notify_all();
        seen = shared.changed.wait_while(seen, |seen| seen.is_halfway).unwrap();
    }
    drop(seen);
    read = read.and_then(|()| reader.read_exact(second));
    let mut seen = shared.seen.lock().unwrap();
    match read {
        Ok(()) => seen.complete.push(ReceivedBody { key, text: String::from_utf8_lossy(&bytes).trim_end().to_owned() }),
        Err(_) => seen.broken += 1,
    }
    shared.changed.notify_all();
    read.ok()
}
