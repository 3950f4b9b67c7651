//! An HTTP server with resources, entity tags, scripted refusals of posts, and answers that can be held back.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// One received request.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl RecordedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct ServerState {
    requests: Mutex<Vec<RecordedRequest>>,
    /// Status and entity tag by path. Other paths answer 404.
    resources: Mutex<BTreeMap<String, (u16, Option<String>)>>,
    /// Statuses of the next answers to posts. All later posts are answered with 200.
    next_post_statuses: Mutex<Vec<u16>>,
    waiting: Mutex<WaitingRequests>,
    released: Condvar,
}

/// Requests that wait for an answer.
#[derive(Default)]
struct WaitingRequests {
    is_held: bool,
    /// Minimum duration of an answer. Other requests can arrive in this time.
    delay: Duration,
    /// Current number of waiting requests, by the first segment of the path.
    current: BTreeMap<String, u32>,
    /// Maximum number of concurrently waiting requests, by the first segment of the path.
    maximum: BTreeMap<String, u32>,
}

/// The server, whose thread runs until the process ends.
pub(crate) struct TestServer {
    pub(crate) port: u16,
    shared: Arc<ServerState>,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(ServerState::default());
        serve_each(listener, &shared, serve);
        TestServer { port, shared }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Sets status and entity tag of the resource at a path.
    pub(crate) fn set_resource(&self, path: &str, status: u16, etag: Option<&str>) {
        self.shared.resources.lock().unwrap().insert(path.to_owned(), (status, etag.map(str::to_owned)));
    }

    /// Sets the statuses of the next answers to posts.
    pub(crate) fn refuse_next_posts(&self, statuses: &[u16]) {
        *self.shared.next_post_statuses.lock().unwrap() = statuses.to_vec();
    }

    /// Holds all answers back until `release_answers` is called.
    pub(crate) fn hold_answers(self) -> TestServer {
        self.shared.waiting.lock().unwrap().is_held = true;
        self
    }

    /// Releases the answers that `hold_answers` holds back.
    pub(crate) fn release_answers(&self) {
        self.shared.waiting.lock().unwrap().is_held = false;
        self.shared.released.notify_all();
    }

    /// Delays each answer by 100 ms.
    pub(crate) fn with_slow_answers(self) -> TestServer {
        self.with_delay(Duration::from_millis(100))
    }

    /// Delays each answer by this duration.
    pub(crate) fn with_delay(self, each: Duration) -> TestServer {
        self.shared.waiting.lock().unwrap().delay = each;
        self
    }

    /// Returns the maximum number of concurrently waiting requests below this path.
    pub(crate) fn max_concurrent(&self, below: &str) -> u32 {
        self.shared.waiting.lock().unwrap().maximum.get(below).copied().unwrap_or(0)
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Waits until this number of requests was received, and returns all of them.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<RecordedRequest> {
        for _ in 0..1_500 {
            if self.requests().len() >= count {
                return self.requests();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{count} requests are expected: {:#?}", self.requests());
    }
}

impl ServerState {
    /// Waits until answers are released and the delay is over. Counts the request as waiting during this
    /// time.
    fn wait_for_release(&self, of: &str) {
        let mut inside = self.waiting.lock().unwrap();
        let now = inside.current.entry(of.to_owned()).or_default();
        *now += 1;
        let now = *now;
        let most = inside.maximum.entry(of.to_owned()).or_default();
        *most = now.max(*most);
        let inside = self.released.wait_while(inside, |inside| inside.is_held).unwrap();
        let takes = inside.delay;
        drop(inside);
        std::thread::sleep(takes);
        *self.waiting.lock().unwrap().current.get_mut(of).unwrap() -= 1;
    }
}

/// Serves each connection on a thread of its own until the process ends.
pub(crate) fn serve_each<S: Send + Sync + 'static>(
    listener: TcpListener,
    shared: &Arc<S>,
    serve: fn(TcpStream, &S) -> Option<()>,
) {
    let shared = shared.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = shared.clone();
            std::thread::spawn(move || serve(stream, &shared));
        }
    });
}

/// Reads the first line and the headers of a request. Header names are in lower case.
pub(crate) fn read_head(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<(String, String)>)> {
    let line = read_line(reader)?;
    let mut headers = Vec::new();
    loop {
        let header = read_line(reader)?;
        let Some((name, value)) = header.split_once(':') else { return Some((line, headers)) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn serve(stream: TcpStream, shared: &ServerState) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (line, headers) = read_head(&mut reader)?;
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, n)| n.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let asked = RecordedRequest { line, headers, body: String::from_utf8_lossy(&body).into_owned() };
    let mut words = asked.line.split(' ');
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let (status, etag) = if method == "POST" {
        let mut refuses = shared.next_post_statuses.lock().unwrap();
        (if refuses.is_empty() { 200 } else { refuses.remove(0) }, None)
    } else {
        shared.resources.lock().unwrap().get(&path).cloned().unwrap_or((404, None))
    };
    shared.requests.lock().unwrap().push(asked);
    shared.wait_for_release(path.split('/').nth(1).unwrap_or_default());
    let etag = etag.map(|etag| format!("ETag: {etag}\r\n")).unwrap_or_default();
    let head = format!("HTTP/1.1 {status} Whatever\r\n{etag}Content-Length: 0\r\nConnection: close\r\n\r\n");
    reader.get_mut().write_all(head.as_bytes()).ok()
}

fn read_line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
}
