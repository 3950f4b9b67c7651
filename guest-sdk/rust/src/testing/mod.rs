//! A test host. With the test host, `cargo test` runs handlers natively.
//!
//! ```
//! use latchwork_guest::clock::{self, Timestamp};
//! use latchwork_guest::testing::Host;
//!
//! let noon = Timestamp { seconds: 1_763_812_800, nanoseconds: 0 };
//! let date = Host::new().now(noon).run(|| clock::now().date());
//! assert_eq!(date, (2025, 11, 22));
//! ```
//!
//! Outside of [`Host::run`] a default host is active, with a fixed clock, random numbers, no tools and no grants.

pub(crate) mod doubles;
pub(crate) mod files;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;
use crate::bindings::context::StepContext;
use crate::bindings::invocation::InvocationContext;
use crate::data::{Level, Timestamp, http};

type Tool = Rc<dyn Fn(&str) -> Result<String, Error>>;
type Http = Rc<dyn Fn(&http::Request) -> Result<http::Response, http::Error>>;

/// A test host. Grants what the test configures, and records calls, events and log records.
#[derive(Clone)]
pub struct Host {
    now: Timestamp,
    context: StepContext,
    invocation: InvocationContext,
    tools: BTreeMap<String, Tool>,
    http: Option<Http>,
    dirs: Vec<(String, PathBuf)>,
    config: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    kv_granted: bool,
    state: Rc<RefCell<HostState>>,
}

/// State that handlers change. All clones of a host share the state, so a test can read it after a run.
#[derive(Default)]
struct HostState {
    random: u64,
    kv: BTreeMap<String, Vec<u8>>,
    calls: Vec<(String, Value)>,
    events: Vec<(String, Value)>,
    logs: Vec<(Level, String)>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::new(Host::new());
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Host {
    /// Creates a host with a fixed clock, 2025-11-21T23:00:00Z, and no grants.
    pub fn new() -> Self {
        let text = |text: &str| text.to_owned();
        Self {
            now: Timestamp { seconds: 1_763_766_000, nanoseconds: 0 },
            context: StepContext {
                tenant: text("default"),
                actor: text("ada"),
                correlation_id: text("cor_test"),
                job_id: text("job_test"),
                plan_id: text("test"),
                step_id: text("s1"),
            },
            invocation: InvocationContext {
                trace_id: text("trace_test"),
                slot: text("s1"),
                external_key: text("latch:job_test:s1:1"),
                attempt: 1,
                tries_before: 0,
                timeout_ms: 30_000,
            },
            tools: BTreeMap::new(),
            http: None,
            dirs: Vec::new(),
            config: BTreeMap::new(),
            secrets: BTreeMap::new(),
            kv_granted: false,
            state: Rc::default(),
        }
    }

    /// Sets the time that both clocks return: [`clock`](crate::clock) and [`wall`](crate::wall).
    #[must_use]
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// Adds a tool that steps may call, answered by `answer`.
    #[must_use]
    pub fn tool<A, R>(mut self, operator: &str, answer: impl Fn(A) -> Result<R, Error> + 'static) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
    {
        let name = operator.to_owned();
        let tool: Tool =
            Rc::new(move |args| crate::schema::to_json(&name, &answer(crate::schema::parse_json(&name, args)?)?));
        self.tools.insert(operator.to_owned(), tool);
        self
    }

    /// Grants HTTP. `answer` gets every request and returns the response.
    #[must_use]
    pub fn http(mut self, answer: impl Fn(&http::Request) -> Result<http::Response, http::Error> + 'static) -> Self {
        self.http = Some(Rc::new(answer));
        self
    }

    /// Grants read and write access to a directory of this machine under the guest path `guest`.
    #[must_use]
    pub fn dir(mut self, guest: &str, directory: &Path) -> Self {
        self.dirs.push((guest.to_owned(), directory.to_owned()));
        self
    }

    /// Sets a key of the plugin's config table.
    #[must_use]
    pub fn config(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config.insert(key.to_owned(), value.into().to_string());
        self
    }

    /// Grants a secret. [`secrets::get`](crate::secrets::get) returns `placeholder`.
    #[must_use]
    pub fn secret(mut self, name: &str, placeholder: &str) -> Self {
        self.secrets.insert(name.to_owned(), placeholder.to_owned());
        self
    }

    /// Grants a key-value namespace.
    #[must_use]
    pub fn grant_kv(mut self) -> Self {
        self.kv_granted = true;
        self
    }

    /// Sets the external key of the running call. The default is `latch:job_test:s1:1`.
    #[must_use]
    pub fn external_key(mut self, key: &str) -> Self {
        key.clone_into(&mut self.invocation.external_key);
        self
    }

    /// Runs `f` with this host as the host of the current thread.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        /// Restores the previous host, also if `f` panics.
        struct Restore(Option<Host>);
        impl Drop for Restore {
            fn drop(&mut self) {
                if let Some(before) = self.0.take() {
                    HOST.with(|host| *host.borrow_mut() = before);
                }
            }
        }
        let _restore = Restore(Some(HOST.with(|host| host.replace(self.clone()))));
        f()
    }

    /// Returns all tool calls so far, as operator and arguments.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.state.borrow().calls.clone()
    }

    /// Returns all events so far, as name and payload.
    pub fn events(&self) -> Vec<(String, Value)> {
        self.state.borrow().events.clone()
    }

    /// Returns all log records so far.
    pub fn logs(&self) -> Vec<(Level, String)> {
        self.state.borrow().logs.clone()
    }
}

/// Returns the host of this thread.
fn current() -> Host {
    HOST.with(|host| host.borrow().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{events, log, tools};

    #[test]
    fn test_host_records_calls_events_and_logs() {
        let host = Host::new().tool("A.B", |n: u32| Ok(n + 1));
        let answer: u32 = host
            .run(|| {
                log::warn!("{}", 1);
                events::emit("e", &2)?;
                tools::call("A.B", &3)
            })
            .unwrap();
        assert_eq!(answer, 4);
        assert_eq!(host.calls(), [("A.B".to_owned(), Value::from(3))]);
        assert_eq!(host.events(), [("e".to_owned(), Value::from(2))]);
        assert_eq!(host.logs(), [(Level::Warn, "1".to_owned())]);
    }

    #[test]
    fn unknown_tool_is_unavailable() {
        let error = Host::new().run(|| tools::call::<_, Value>("A.B", &1)).unwrap_err();
        assert_eq!(error.code(), crate::Code::DependencyUnavailable);
    }
}
