//! Calls of tools, the only access of a step to the outside world.
//!
//! Each call goes through the ledger of the host and takes effect at most once. The host itself retries a failed call,
//! records the final answer, and returns the recorded answer from then on. An error is therefore final too.
//!
//! ```
//! use latchwork_guest::{testing::Host, tools};
//! use serde_json::{Value, json};
//!
//! let host = Host::new().tool("Web.Fetch", |args: Value| Ok(json!({ "status": 200, "url": args["url"] })));
//! host.run(|| {
//!     let page: Value = tools::call("Web.Fetch", &json!({ "url": "https://example.com/" }))?;
//!     assert_eq!(page["status"], 200);
//!
//!     // Several concurrent calls. Answers come in the order of the calls.
//!     let calls = ["a", "b"].map(|page| tools::Call::new("Web.Fetch", &json!({ "url": page })));
//!     let pages: Vec<Value> = tools::call_all(calls).into_iter().collect::<Result<_, _>>()?;
//!     assert_eq!(pages[1]["url"], "b");
//!     Ok::<(), latchwork_guest::Error>(())
//! })?;
//! # Ok::<(), latchwork_guest::Error>(())
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, finite, host};

/// Calls a tool and waits for its final answer.
pub fn call<A: Serialize + ?Sized, R: DeserializeOwned>(operator: &str, args: &A) -> Result<R, Error> {
    Call::new(operator, args).send()
}

/// Calls several tools concurrently. Answers come in the order of the calls.
pub fn call_all<R: DeserializeOwned>(calls: impl IntoIterator<Item = Call>) -> Vec<Result<R, Error>> {
    let calls: Vec<Call> = calls.into_iter().collect();
    // A call with invalid arguments fails on its own and is not sent to the host.
    let ready: Vec<(&str, &str, Option<&str>)> = calls
        .iter()
        .filter_map(|call| Some((call.operator.as_str(), call.args.as_deref().ok()?, call.action_key.as_deref())))
        .collect();
    let mut answers = if ready.is_empty() { Vec::new() } else { host::call_all(&ready) }.into_iter();
    calls
        .iter()
        .map(|call| match &call.args {
            Err(error) => Err(error.clone()),
            Ok(_) => match answers.next() {
                Some(answer) => call.read(answer),
                None => Err(Error::dependency_unavailable("the host returned fewer answers than calls")),
            },
        })
        .collect()
}

/// A prepared call.
#[derive(Clone, Debug)]
pub struct Call {
    operator: String,
    args: Result<String, Error>,
    action_key: Option<String>,
}

impl Call {
    /// Creates a call of `operator` with these arguments.
    pub fn new<A: Serialize + ?Sized>(operator: &str, args: &A) -> Self {
        let args = finite::to_string(args)
            .map_err(|error| Error::invalid_input(format!("arguments of {operator} are not JSON: {error}")));
        Self { operator: operator.to_owned(), args, action_key: None }
    }

    /// Sets the action key, which identifies the action across jobs. A second job with the same key gets the
    /// receipt of the first job instead of a second execution.
    #[must_use]
    pub fn action_key(mut self, key: impl Into<String>) -> Self {
        self.action_key = Some(key.into());
        self
    }

    /// Makes the call and waits for its final answer.
    pub fn send<R: DeserializeOwned>(&self) -> Result<R, Error> {
        let args = self.args.as_deref().map_err(Clone::clone)?;
        self.read(host::call(&self.operator, args, self.action_key.as_deref()))
    }

    fn read<R: DeserializeOwned>(&self, answer: Result<String, Error>) -> Result<R, Error> {
        serde_json::from_str(&answer?).map_err(|error| {
            Error::schema_validation_failed(format!("unexpected answer of {}: {error}", self.operator))
        })
    }
}

/// Calls a tool with arguments that are JSON text already, and returns its answer as JSON text.
pub fn call_text(operator: &str, args: &str) -> Result<String, Error> {
    host::call(operator, args, None)
}
