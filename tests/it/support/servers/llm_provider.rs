//! A local LLM provider: an HTTP server that speaks the chat completions protocol, sends scripted answers and records
//! the requests. Also creates a project folder that uses this provider.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::test_env::build_plugin;

/// API key of all tests. The key may reach only the provider.
pub(crate) const API_KEY_CANARY: &str = "sk-canary-5f0c2d71e9";

/// One received request.
#[derive(Clone, Debug)]
pub(crate) struct RecordedLlmRequest {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

impl RecordedLlmRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A scripted answer: status, headers, body and delay.
pub(crate) struct ScriptedAnswer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    after: Duration,
}

impl ScriptedAnswer {
    /// Returns an error answer.
    pub(crate) fn status(status: u16) -> Self {
        let body = json!({ "error": { "message": "no", "type": "test", "code": "test" } }).to_string();
        Self { status, headers: vec![], body, after: Duration::ZERO }
    }
    /// Returns an answer whose body is not a completion.
    pub(crate) fn body(body: &str) -> Self {
        Self { body: body.to_owned(), ..Self::status(200) }
    }
    /// Adds a header.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
    /// Delays the answer.
    pub(crate) fn delayed(mut self, after: Duration) -> Self {
        self.after = after;
        self
    }
    /// Returns a completion without usage.
    pub(crate) fn without_usage() -> Self {
        let mut body: Value = serde_json::from_str(&completion_body(0, 0)).expect("the completion is JSON");
        body.as_object_mut().expect("an object").remove("usage");
        Self::body(&body.to_string())
    }
    /// Returns a completion with these numbers of tokens.
    pub(crate) fn tokens(tokens_in: u32, tokens_out: u32) -> Self {
        Self {
            headers: vec![("x-request-id", "req_42".to_owned())],
            ..Self::body(&completion_body(tokens_in, tokens_out))
        }
    }
}

fn completion_body(tokens_in: u32, tokens_out: u32) -> String {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "small-2026-01",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "Because." } }],
        "usage": { "prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out },
    })
    .to_string()
}

#[derive(Default)]
struct ProviderState {
    requests: Mutex<Vec<RecordedLlmRequest>>,
    script: Mutex<VecDeque<ScriptedAnswer>>,
    open_connections: AtomicUsize,
}

/// The server, which runs until the process ends.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) port: u16,
    shared: Arc<ProviderState>,
}

impl Provider {
    /// Starts a server that sends the answers of `script` first. Every later answer is a completion with 100 input
    /// tokens and 10 output tokens.
    pub(crate) fn start(script: Vec<ScriptedAnswer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("the listener is bound").port();
        let shared = Arc::new(ProviderState { script: Mutex::new(script.into()), ..ProviderState::default() });
        let for_thread = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = for_thread.clone();
                shared.open_connections.fetch_add(1, SeqCst);
                std::thread::spawn(move || {
                    serve(stream, &shared);
                    shared.open_connections.fetch_sub(1, SeqCst);
                });
            }
        });
        Self { port, shared }
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<RecordedLlmRequest> {
        self.shared.requests.lock().expect("no holder panics").clone()
    }

    /// Returns all requests of processes that have ended. Also waits for requests that the server has not read yet.
    pub(crate) fn requests_of_ended_processes(&self) -> Vec<RecordedLlmRequest> {
        // The server accepts connections in the order in which they were made. Once the last connection ends, the
        // server has therefore accepted all earlier connections.
        let mut last = TcpStream::connect(("127.0.0.1", self.port)).expect("the server runs");
        last.shutdown(std::net::Shutdown::Write).expect("an open connection");
        last.read_to_end(&mut Vec::new()).expect("the server closes a connection without a request");
        while self.shared.open_connections.load(SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.requests()
    }

    /// Waits until this number of requests was received.
    pub(crate) fn wait_for(&self, times: usize) {
        for _ in 0..600 {
            if self.requests().len() >= times {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("received {} requests, expected {times}", self.requests().len());
    }
}

#[expect(clippy::disallowed_methods, reason = "tests measure when real requests arrive")]
fn serve(stream: TcpStream, shared: &ProviderState) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut text = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0).map(|_| line.trim_end().to_owned())
    };
    let line = text()?;
    let mut headers = Vec::new();
    while let Some(header) = text().filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    shared.requests.lock().ok()?.push(RecordedLlmRequest { line, headers, body, at: Instant::now() });
    let answer = shared.script.lock().ok()?.pop_front().unwrap_or_else(|| ScriptedAnswer::tokens(100, 10));
    std::thread::sleep(answer.after);
    let mut head = format!("HTTP/1.1 {} X\r\nContent-Type: application/json\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n{}", answer.body.len(), answer.body);
    reader.get_mut().write_all(head.as_bytes()).ok()
}

/// A project folder with the provider's plugin, its secret and a database.
pub(crate) struct LlmProject {
    _temp: tempfile::TempDir,
    pub(crate) dir: PathBuf,
    port: u16,
    more: String,
}

impl LlmProject {
    pub(crate) fn new(provider: &Provider) -> Self {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let dir = temp.path().to_owned();
        let desk = Self { _temp: temp, dir, port: provider.port, more: String::new() };
        desk.configure("");
        desk
    }

    /// Adds keys to the plugin's `config`.
    pub(crate) fn with(mut self, more: &str) -> Self {
        self.more = more.to_owned();
        self.configure("");
        self
    }

    /// Writes the configuration, with these lines at its top.
    pub(crate) fn configure(&self, top: &str) {
        let root = checkout::copy();
        let llm = build_plugin(&root.join("example-plugins/llm-openai-rust"));
        let steps = build_plugin(&root.join("tests/guests-effects/witness-step"));
        let (port, more) = (self.port, &self.more);
        let text = format!(
            "{top}\n[[plugin]]\nname = \"steps\"\nsource = {steps:?}\n\
             [[plugin]]\nname = \"llm\"\nsource = {llm:?}\n\
             grants = {{ http = [{{ url = \"http://127.0.0.1:{port}/v1\", read_methods = [\"POST\"], secrets = [\"LLM_API_KEY\"] }}] }}\n\
             limits = {{ timeout = \"5s\" }}\n\
             [plugin.config]\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
             model_prices = {{ small = {{ input = \"1.00\", output = \"10.00\" }} }}\n{more}\n"
        );
        std::fs::write(self.dir.join("latch.toml"), text).expect("writable");
    }

    pub(crate) fn plan(&self, steps: &[Value]) {
        let plan = json!({ "plan_id": "ask", "schema_version": "1.0", "steps": steps });
        std::fs::write(self.dir.join("plan.json"), plan.to_string()).expect("writable");
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = latch_command(&self.dir, args);
        command.env("LATCH_SECRET_LLM_API_KEY", API_KEY_CANARY);
        command
    }

    pub(crate) fn latch(&self, args: &[&str]) -> CommandOutput {
        command_output(self.command(args).output().expect("latch runs"))
    }

    /// Runs the plan with `latch run`.
    pub(crate) fn run(&self) -> CommandOutput {
        self.latch(&["run", "plan.json", "--json", "--actor", "ada"])
    }

    pub(crate) fn events(&self, job: &str) -> Vec<Value> {
        let listed = self.latch(&["job", "events", job, "--json"]);
        listed.json()["events"].as_array().expect("events").clone()
    }
}

/// Returns a step with one LLM call.
pub(crate) fn llm_step(id: &str, depends_on: &[&str]) -> Value {
    json!({
        "step_id": id, "kind": "llm", "name": "Llm.Chat", "depends_on": depends_on,
        "payload": { "model": "small", "prompt": format!("Why {id}?"), "params": { "temperature": 0 } },
        "effects": ["read_only"], "policy_tags": [], "gate": "none", "cache_policy": "never",
        "idempotency_template": format!("ask:{id}"),
        "retry": { "base_ms": 10, "cap_ms": 20 },
    })
}

/// Returns the events of one type.
pub(crate) fn events_of_type<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == name).collect()
}
