//! A network between `latch` and a server: everything passes, until a connection is cut at a place that
//! was chosen.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use super::wire::{Client, Messages, NOTIFIED, READY};

/// Where a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// A COMMIT never reaches the server.
    BeforeCommit,
    /// The first half of a COMMIT's messages reaches the server.
    InCommit,
    /// The server has committed, and its answer is lost.
    AfterCommit,
    /// The first half of the answer to a COMMIT reaches the client.
    InAnswer,
    /// The first half of whatever else a client sends reaches the server.
    InQuestion,
    /// Of the connection that listens, a message does not arrive.
    Listener,
}

impl Cut {
    pub(super) const ALL: [Cut; 6] =
        [Cut::BeforeCommit, Cut::InCommit, Cut::AfterCommit, Cut::InAnswer, Cut::InQuestion, Cut::Listener];
}

type Choose = dyn Fn(Cut) -> bool + Send + Sync;

/// The network. Its threads end with their connections, at the latest with the process.
pub(super) struct Proxy {
    url: String,
    cuts: Arc<Mutex<Vec<Cut>>>,
    /// Where new connections lead.
    server: Arc<Mutex<PgConnectOptions>>,
    /// Whether answers to those that only read are held back.
    hushed: Arc<AtomicBool>,
    /// Answers that were held back.
    held: Arc<AtomicU32>,
}

impl Proxy {
    /// In front of the server of this address. At every place where a connection may be cut, `choose` is
    /// asked whether it is.
    pub(super) fn start(server: &str, choose: impl Fn(Cut) -> bool + Send + Sync + 'static) -> Proxy {
        let server: PgConnectOptions = server.parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let database = server.get_database().expect("it names a database");
        let url = format!("postgres://{}@127.0.0.1:{port}/{database}?sslmode=disable", server.get_username());
        let cuts = Arc::new(Mutex::new(Vec::new()));
        let (choose, noted): (Arc<Choose>, _) = (Arc::new(choose), cuts.clone());
        let server = Arc::new(Mutex::new(server));
        let hushed = Arc::new(AtomicBool::new(false));
        let held = Arc::new(AtomicU32::new(0));
        let (target, hush) = (server.clone(), (hushed.clone(), held.clone()));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // Where the server is away, the connection ends at once.
                let leads_to = target.lock().unwrap().clone();
                let Some(server) = Stream::connect(&leads_to) else { continue };
                // What is sent goes out at once.
                client.set_nodelay(true).expect("it is a TCP socket");
                let client = Stream::Tcp(client);
                let (choose, cuts, (hushed, held)) = (choose.clone(), noted.clone(), hush.clone());
                let (answer, cut, reads) = (Mutex::default(), false.into(), false.into());
                let line = Arc::new(Line { client, server, answer, cut, choose, cuts, reads, hushed, held });
                let other = line.clone();
                std::thread::spawn(move || other.upward());
                std::thread::spawn(move || line.downward());
            }
        });
        Proxy { url, cuts, server, hushed, held }
    }

    /// From now on new connections lead to the server of this address.
    pub(super) fn lead_to(&self, server: &str) {
        *self.server.lock().unwrap() = server.parse().expect("an address");
    }

    /// From now on, or no longer, answers to connections that only read are held back.
    pub(super) fn hush(&self, hushed: bool) {
        self.hushed.store(hushed, Ordering::SeqCst);
    }

    /// How many answers were held back so far.
    pub(super) fn held(&self) -> u32 {
        self.held.load(Ordering::SeqCst)
    }

    /// The address of the same database through this network.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What was cut so far.
    pub(super) fn cuts(&self) -> Vec<Cut> {
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

    /// Whoever does not read any more is found when something is read from it.
    fn write(&self, bytes: &[u8]) {
        let _ = match self {
            Stream::Tcp(stream) => (&*stream).write_all(bytes),
            Stream::Unix(stream) => (&*stream).write_all(bytes),
        };
    }

    fn shut(&self) {
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// What a connection that only reads says when it begins.
const READS: &[u8] = b"default_transaction_read_only=on";

/// One connection.
struct Line {
    client: Stream,
    server: Stream,
    /// What is to become of the answer that comes next.
    answer: Mutex<Option<Cut>>,
    cut: AtomicBool,
    choose: Arc<Choose>,
    cuts: Arc<Mutex<Vec<Cut>>>,
    /// Whether it only reads: it says so when it begins.
    reads: AtomicBool,
    hushed: Arc<AtomicBool>,
    held: Arc<AtomicU32>,
}

impl Line {
    fn chosen(&self, cut: Cut) -> bool {
        !self.cut.load(Ordering::SeqCst) && (self.choose)(cut)
    }

    fn end(&self, cut: Option<Cut>) {
        if let Some(cut) = cut {
            self.cut.store(true, Ordering::SeqCst);
            self.cuts.lock().unwrap().push(cut);
        }
        self.client.shut();
        self.server.shut();
    }

    fn upward(&self) {
        let (mut messages, mut client) = (Messages::default(), Client::default());
        let mut bytes = vec![0; 1 << 16];
        loop {
            let read = self.client.read(&mut bytes);
            if read == 0 {
                return self.end(None);
            }
            for message in messages.take(&bytes[..read]) {
                if message.windows(READS.len()).any(|text| text == READS) {
                    self.reads.store(true, Ordering::SeqCst);
                }
                let Some((sent, commits)) = client.sends(&message) else { continue };
                let cut = match commits {
                    true => [Cut::BeforeCommit, Cut::InCommit, Cut::AfterCommit, Cut::InAnswer].as_slice(),
                    false => &[Cut::InQuestion],
                };
                match cut.iter().copied().find(|cut| self.chosen(*cut)) {
                    Some(Cut::BeforeCommit) => return self.end(Some(Cut::BeforeCommit)),
                    Some(half @ (Cut::InCommit | Cut::InQuestion)) => {
                        self.server.write(&sent[..sent.len() / 2]);
                        return self.end(Some(half));
                    }
                    answer => *self.answer.lock().unwrap() = answer,
                }
                self.server.write(&sent);
            }
        }
    }

    fn downward(&self) {
        let mut messages = Messages::of_server();
        let mut bytes = vec![0; 1 << 16];
        let mut held = Vec::new();
        loop {
            let read = self.server.read(&mut bytes);
            if read == 0 {
                return self.end(None);
            }
            let is_held = || self.reads.load(Ordering::SeqCst) && self.hushed.load(Ordering::SeqCst);
            self.held.fetch_add(u32::from(is_held()), Ordering::SeqCst);
            while is_held() {
                std::thread::sleep(Duration::from_millis(20));
            }
            for message in messages.take(&bytes[..read]) {
                if message[0] == NOTIFIED && self.chosen(Cut::Listener) {
                    return self.end(Some(Cut::Listener));
                }
                let cut = *self.answer.lock().unwrap();
                let Some(cut) = cut else {
                    self.client.write(&message);
                    continue;
                };
                held.extend_from_slice(&message);
                if message[0] == READY {
                    if cut == Cut::InAnswer {
                        self.client.write(&held[..held.len() / 2]);
                    }
                    return self.end(Some(cut));
                }
            }
        }
    }
}
