//! A witness outside of the tested process: a server that counts completely received bodies by their
//! idempotency key. It can stop reading in the middle of a body.

use std::collections::BTreeSet;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::checkout;
use crate::place::{Place, built, step};
use crate::postgres::live_call::blocking;
use crate::server::{read_head, serve_each};

/// Size of the kernel's receive buffer in bytes, small enough that a large body is not received before it is
/// read.
const TAKEN_IN: u32 = 64 << 10;
/// Maximum time to wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(120);

/// A completely received body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Body {
    pub(crate) key: String,
    pub(crate) text: String,
}

#[derive(Default)]
struct Seen {
    whole: Vec<Body>,
    /// Number of bodies whose connection ended before they were complete.
    broken: u32,
    /// True if the next body is to be read only up to its middle.
    stalls: bool,
    /// True while a body has been read up to its middle and reading is stopped.
    halfway: bool,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

/// The server, whose threads run until the process ends.
pub(crate) struct Witness {
    port: u16,
    shared: Arc<Shared>,
}

impl Witness {
    pub(crate) fn start() -> Witness {
        let listener = listener();
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared::default());
        serve_each(listener, &shared, serve);
        Witness { port, shared }
    }

    /// Creates an environment with tools that post to the witness. `lines` are added to the plugin's table.
    pub(crate) fn place(&self, commit: &str, lines: &str) -> Place {
        let root = checkout::copy().join("tests/guests-effects");
        let config = format!(
            "commit = {commit:?}\n[[plugin]]\nname = \"witness-http\"\nsource = {:?}\n\
             grants = {{ http = [\"http://127.0.0.1:{}\"] }}\n{lines}\n",
            built(&root.join("witness-http")),
            self.port,
        );
        Place::configured(&config, vec!["o", "k", "q"]).warm()
    }

    /// Returns a step that posts this note.
    pub(crate) fn step(&self, id: &str, name: &str, depends_on: &[&str], note: u32, bytes: usize) -> Value {
        let url = format!("http://127.0.0.1:{}/", self.port);
        step(id, name, depends_on, json!({ "url": url, "note": note, "bytes": bytes }))
    }

    /// Returns the bodies completely received for a job.
    pub(crate) fn whole(&self, job: &str) -> Vec<Body> {
        let own = format!("latch:{job}:");
        self.shared.seen.lock().unwrap().whole.iter().filter(|body| body.key.starts_with(&own)).cloned().collect()
    }

    /// Returns the bodies completely received for one slot of a job.
    pub(crate) fn of_slot(&self, job: &str, slot: &str) -> Vec<Body> {
        let own = format!("latch:{job}:{slot}:");
        self.whole(job).into_iter().filter(|body| body.key.starts_with(&own)).collect()
    }

    /// Returns the number of bodies whose connection ended before they were complete.
    pub(crate) fn broken(&self) -> u32 {
        self.shared.seen.lock().unwrap().broken
    }

    /// Returns the number of actions that a server would have applied for a slot if it applies each key once.
    pub(crate) fn applied(&self, job: &str, slot: &str) -> usize {
        self.of_slot(job, slot).into_iter().map(|body| body.key).collect::<BTreeSet<_>>().len()
    }

    /// Stops reading in the middle of the next body until `go_on` is called.
    pub(crate) fn stall(&self) {
        self.shared.seen.lock().unwrap().stalls = true;
    }

    /// Waits until half of a body was received.
    pub(crate) fn until_halfway(&self) {
        self.until("half of a body was received", |seen| seen.halfway);
    }

    /// Continues to read the body at which `stall` stopped.
    pub(crate) fn go_on(&self) {
        self.shared.seen.lock().unwrap().halfway = false;
        self.shared.changed.notify_all();
    }

    /// Waits until this number of bodies has ended, complete or not.
    pub(crate) fn until_over(&self, bodies: usize) {
        self.until("the bodies have ended", |seen| seen.whole.len() + seen.broken as usize >= bodies);
    }

    fn until(&self, what: &str, is: impl Fn(&Seen) -> bool) {
        let seen = self.shared.seen.lock().unwrap();
        let (_seen, waited) = self.shared.changed.wait_timeout_while(seen, PATIENCE, |seen| !is(seen)).unwrap();
        assert!(!waited.timed_out(), "timed out waiting: {what}");
    }
}

/// Connections inherit the small receive buffer of the listener.
fn listener() -> TcpListener {
    let listener = blocking(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(TAKEN_IN).expect("it has a size");
        socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port is free");
        socket.listen(64).and_then(tokio::net::TcpListener::into_std).expect("it listens")
    });
    listener.set_nonblocking(false).expect("it blocks");
    listener
}

fn serve(stream: TcpStream, shared: &Shared) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (asked, headers) = read_head(&mut reader)?;
    let header = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
    let key = header("idempotency-key").unwrap_or_default().to_owned();
    let length = header("content-length").map_or(0, |length| length.parse().expect("a number"));
    let status = if asked.starts_with("POST ") {
        take(&mut reader, shared, key, length)?;
        200
    } else {
        let seen = shared.seen.lock().unwrap();
        if seen.whole.iter().any(|body| body.key == key) { 200 } else { 404 }
    };
    let head = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    reader.get_mut().write_all(head.as_bytes()).ok()
}

/// Counts a completely received body. Returns `None` if the body is incomplete.
fn take(reader: &mut BufReader<TcpStream>, shared: &Shared, key: String, length: usize) -> Option<()> {
    let mut bytes = vec![0; length];
    let (first, second) = bytes.split_at_mut(length / 2);
    let mut read = reader.read_exact(first);
    let mut seen = shared.seen.lock().unwrap();
    if std::mem::take(&mut seen.stalls) {
        seen.halfway = true;
        shared.changed.notify_all();
        seen = shared.changed.wait_while(seen, |seen| seen.halfway).unwrap();
    }
    drop(seen);
    read = read.and_then(|()| reader.read_exact(second));
    let mut seen = shared.seen.lock().unwrap();
    match read {
        Ok(()) => seen.whole.push(Body { key, text: String::from_utf8_lossy(&bytes).trim_end().to_owned() }),
        Err(_) => seen.broken += 1,
    }
    shared.changed.notify_all();
    read.ok()
}
