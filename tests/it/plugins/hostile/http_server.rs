//! Local HTTP server that records the requests it receives.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Received>,
}

#[derive(Default)]
struct Received {
    requests: Mutex<Vec<ReceivedRequest>>,
    hung_up: Notify,
}

/// A received request: the first line, the headers in order, and the body.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Received::default());
        let for_task = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, for_task.clone()));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Waits until a client of `/never` closes its connection.
    pub(crate) async fn client_hung_up(&self) {
        self.seen.hung_up.notified().await;
    }
}

async fn serve(stream: TcpStream, seen: Arc<Received>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut request = ReceivedRequest { line: read_line(&mut stream).await?, ..ReceivedRequest::default() };
    loop {
        let header = read_line(&mut stream).await?;
        let Some((name, value)) = header.split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut body = Vec::new();
    if let Some(length) = request.header("content-length") {
        body.resize(length.parse().ok()?, 0);
        stream.read_exact(&mut body).await.ok()?;
    } else if request.header("transfer-encoding").is_some() {
        loop {
            let size = usize::from_str_radix(&read_line(&mut stream).await?, 16).ok()?;
            let at = body.len();
            body.resize(at + size, 0);
            stream.read_exact(&mut body[at..]).await.ok()?;
            read_line(&mut stream).await?;
            if size == 0 {
                break;
            }
        }
    }
    request.body = String::from_utf8_lossy(&body).into_owned();
    let target = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.requests.lock().unwrap().push(request);
    if target == "/never" {
        while stream.read_u8().await.is_ok() {}
        seen.hung_up.notify_one();
        return None;
    }
    let (status, location) = match target.split_once("/redirect?") {
        Some((_, location)) => ("302 Found", format!("Location: {location}\r\n")),
        None => ("200 OK", String::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\n{location}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let stream = stream.get_mut();
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(&body).await.ok()?;
    stream.shutdown().await.ok()
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    (stream.read_line(&mut line).await.ok()? > 0).then(|| line.trim_end().to_owned())
}
