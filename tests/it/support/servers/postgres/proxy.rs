//! Proxy between `latch` and a server. It forwards everything until it cuts a connection at a chosen point.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use crate::support::servers::postgres::wire::{
    ClientMessages, MessageSplitter, NOTIFICATION_RESPONSE, READY_FOR_QUERY,
};

/// Point at which a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CutPoint {
    /// The COMMIT does not reach the server.
    BeforeCommit,
    /// Only the first half of the COMMIT's messages reaches the server.
    InCommit,
    /// The server has committed, and its answer is lost.
    AfterCommit,
    /// Only the first half of the answer to a COMMIT reaches the client.
    InAnswer,
    /// Only the first half of a client message other than COMMIT reaches the server.
    InRequest,
    /// A message of the notification connection does not arrive.
    Listener,
}

impl CutPoint {
    pub(crate) const ALL: [CutPoint; 6] = [
        CutPoint::BeforeCommit,
        CutPoint::InCommit,
        CutPoint::AfterCommit,
        CutPoint::InAnswer,
        CutPoint::InRequest,
        CutPoint::Listener,
    ];
}

type ChooseCut = dyn Fn(CutPoint) -> bool + Send + Sync;

/// The proxy. Its threads end with their connections, or with the process.
pub(crate) struct Proxy {
    url: String,
    cuts: Arc<Mutex<Vec<CutPoint>>>,
    /// Server that new connections lead to.
    server: Arc<Mutex<PgConnectOptions>>,
    /// True while answers to read-only connections are held back.
    hushed: Arc<AtomicBool>,
    /// Number of answers that were held back.
    held: Arc<AtomicU32>,
}

impl Proxy {
    /// Starts a proxy in front of the server of this address. The proxy calls `choose` at every point where
    /// it may cut a connection.
    pub(crate) fn start(server: &str, choose: impl Fn(CutPoint) -> bool + Send + Sync + 'static) -> Proxy {
        let server: PgConnectOptions = server.parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let database = server.get_database().expect("it names a database");
        let url = format!("postgres://{}@127.0.0.1:{port}/{database}?sslmode=disable", server.get_username());
        let cuts = Arc::new(Mutex::new(Vec::new()));
        let (choose, noted): (Arc<ChooseCut>, _) = (Arc::new(choose), cuts.clone());
        let server = Arc::new(Mutex::new(server));
        let hushed = Arc::new(AtomicBool::new(false));
        let held = Arc::new(AtomicU32::new(0));
        let (target, hush) = (server.clone(), (hushed.clone(), held.clone()));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // If the server is unreachable, the client's connection ends immediately.
                let leads_to = target.lock().unwrap().clone();
                let Some(server) = Stream::connect(&leads_to) else { continue };
                client.set_nodelay(true).expect("it is a TCP socket");
                let client = Stream::Tcp(client);
                let (choose, cuts, (hushed, held)) = (choose.clone(), noted.clone(), hush.clone());
                let (answer, is_closed, reads) = (Mutex::default(), false.into(), false.into());
                let line = Arc::new(ProxiedConnection {
                    client,
                    server,
                    answer,
                    is_closed,
                    choose,
                    cuts,
                    reads,
                    hushed,
                    held,
                });
                let other = line.clone();
                std::thread::spawn(move || other.forward_to_server());
                std::thread::spawn(move || line.forward_to_client());
            }
        });
        Proxy { url, cuts, server, hushed, held }
    }

    /// Makes new connections lead to the server of this address.
    pub(crate) fn redirect_to(&self, server: &str) {
        *self.server.lock().unwrap() = server.parse().expect("an address");
    }

    /// Starts or stops holding back answers to read-only connections.
    pub(crate) fn hold_reads(&self, hushed: bool) {
        self.hushed.store(hushed, Ordering::SeqCst);
    }

    /// Number of answers held back so far.
    pub(crate) fn held_answers(&self) -> u32 {
        self.held.load(Ordering::SeqCst)
    }

    /// Address of the same database through the proxy.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Cuts made so far, in order.
    pub(crate) fn cuts(&self) -> Vec<CutPoint> {
        self.cuts.lock().unwrap().clone()
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn connect(server: &PgConnectOptions) -> Option<Stream> {
        let port = server.get_port();
        match server.get_socket() {
            Some(dir) => UnixStream::connect(dir.join(format!(".s.PGSQL.{port}"))).ok().map(Stream::Unix),
            None => TcpStream::connect((server.get_host(), port)).ok().map(Stream::Tcp),
        }
    }

    fn read(&self, bytes: &mut [u8]) -> usize {
        let read = match self {
            Stream::Tcp(stream) => (&*stream).read(bytes),
            Stream::Unix(stream) => (&*stream).read(bytes),
        };
        read.unwrap_or(0)
    }

    /// Forwards the bytes. Ignores errors, because a closed connection is noticed at the next read.
    fn forward(&self, bytes: &[u8]) {
        let _ = match self {
            Stream::Tcp(stream) => (&*stream).write_all(bytes),
            Stream::Unix(stream) => (&*stream).write_all(bytes),
        };
    }

    fn shut_down(&self) {
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Startup parameter of a read-only connection.
const READ_ONLY_PARAMETER: &[u8] = b"default_transaction_read_only=on";

/// One connection through the proxy.
struct ProxiedConnection {
    client: Stream,
    server: Stream,
    /// Cut to make at the next answer, if any.
    answer: Mutex<Option<CutPoint>>,
    is_closed: AtomicBool,
    choose: Arc<ChooseCut>,
    cuts: Arc<Mutex<Vec<CutPoint>>>,
    /// True if the connection is read-only, according to its startup message.
    reads: AtomicBool,
    hushed: Arc<AtomicBool>,
    held: Arc<AtomicU32>,
}

impl ProxiedConnection {
    fn is_chosen(&self, point: CutPoint) -> bool {
        !self.is_closed.load(Ordering::SeqCst) && (self.choose)(point)
    }

    fn close(&self, point: Option<CutPoint>) {
        if let Some(point) = point {
            self.is_closed.store(true, Ordering::SeqCst);
            self.cuts.lock().unwrap().push(point);
        }
        self.client.shut_down();
        self.server.shut_down();
    }

    fn forward_to_server(&self) {
        let (mut messages, mut client) = (MessageSplitter::default(), ClientMessages::default());
        let mut bytes = vec![0; 1 << 16];
        loop {
            let read = self.client.read(&mut bytes);
            if read == 0 {
                return self.close(None);
            }
            for message in messages.push(&bytes[..read]) {
                if message.windows(READ_ONLY_PARAMETER.len()).any(|text| text == READ_ONLY_PARAMETER) {
                    self.reads.store(true, Ordering::SeqCst);
                }
                let Some((sent, commits)) = client.push(&message) else { continue };
                let point = match commits {
                    true => [CutPoint::BeforeCommit, CutPoint::InCommit, CutPoint::AfterCommit, CutPoint::InAnswer]
                        .as_slice(),
                    false => &[CutPoint::InRequest],
                };
                match point.iter().copied().find(|point| self.is_chosen(*point)) {
                    Some(CutPoint::BeforeCommit) => return self.close(Some(CutPoint::BeforeCommit)),
                    Some(half @ (CutPoint::InCommit | CutPoint::InRequest)) => {
                        self.server.forward(&sent[..sent.len() / 2]);
                        return self.close(Some(half));
                    }
                    answer => *self.answer.lock().unwrap() = answer,
                }
                self.server.forward(&sent);
            }
        }
    }

    fn forward_to_client(&self) {
        let mut messages = MessageSplitter::of_server();
        let mut bytes = vec![0; 1 << 16];
        let mut held = Vec::new();
        loop {
            let read = self.server.read(&mut bytes);
            if read == 0 {
                return self.close(None);
            }
            let is_held = || self.reads.load(Ordering::SeqCst) && self.hushed.load(Ordering::SeqCst);
            self.held.fetch_add(u32::from(is_held()), Ordering::SeqCst);
            while is_held() {
                std::thread::sleep(Duration::from_millis(20));
            }
            for message in messages.push(&bytes[..read]) {
                if message[0] == NOTIFICATION_RESPONSE && self.is_chosen(CutPoint::Listener) {
                    return self.close(Some(CutPoint::Listener));
                }
                let point = *self.answer.lock().unwrap();
                let Some(point) = point else {
                    self.client.forward(&message);
                    continue;
                };
                held.extend_from_slice(&message);
                if message[0] == READY_FOR_QUERY {
                    if point == CutPoint::InAnswer {
                        self.client.forward(&held[..held.len() / 2]);
                    }
                    return self.close(Some(point));
                }
            }
        }
    }
}
