//! Latchwork: a WebAssembly plugin host with durable execution.
//!
//! A plan is data. The steps of a plan compute, and the tools of a plan act on the outside world. Both are
//! Wasm components. The host owns three stores. The event log is the authority for replay. The ledger alone
//! decides which worker may execute a call. The effect store keeps the answers of the outside world. A job
//! therefore survives any crash, no committed call is executed twice, and replay is deterministic.
//!
//! A program embeds the host in this way. The tool of the program is called once, however often the program is killed:
//!
//! ```
//! use std::sync::Arc;
//!
//! use latchwork::{Answer, EffectKind, Host, Manifest, NativeTool, NoObserver, Operator, OperatorSpec, Output, Stores};
//! use latchwork::{ManualClock, MemoryStore, Owner, Submission, SubmitResult, ToolCallContext};
//!
//! struct Greeter;
//!
//! #[async_trait::async_trait]
//! impl NativeTool for Greeter {
//!     fn name(&self) -> &str {
//!         "greeter"
//!     }
//!     fn manifest(&self) -> Manifest {
//!         let greet = OperatorSpec::new(Operator::new("Greeting.Make"), EffectKind::ReadOnly);
//!         Manifest { version: "1.0.0".to_owned(), operators: vec![greet] }
//!     }
//!     async fn invoke(&self, _: &str, args: &serde_json::Value, _: &ToolCallContext) -> Answer {
//!         let result = serde_json::json!({ "greeting": format!("Hello {}", args["name"].as_str().unwrap_or("you")) });
//!         Answer::Ok(Output { result: result.to_string(), receipt: None, state_changes: vec![], usage: None })
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A store in memory. The crate `latchwork-store` has durable stores.
//!     let store = Arc::new(MemoryStore::new(Arc::new(ManualClock::default()), 2_000));
//!     let host = Host::builder(Stores::new(store, Owner::unlocked("example"))).tool(Arc::new(Greeter)).start()?;
//!     let plan = br#"{ "plan_id": "p", "schema_version": "1.0", "steps": [
//!         { "step_id": "greet", "name": "Greeting.Make", "payload": { "name": "Ada" } } ] }"#;
//!     let plan = host.check(plan).map_err(|violations| format!("{violations:?}"))?;
//!     let SubmitResult::New(claim) = host.submit(Submission::of_plan(plan, "ada")).await? else { panic!("a new job") };
//!     let response = host.drive(claim, Arc::new(NoObserver)).await?;
//!     assert_eq!(response.state.as_str(), "COMPLETED");
//!     Ok(())
//! }
//! ```
//!
//! The items that this file exports are the interface for embedding. The modules are `pub` only for the program `latch`
//! and for tests, and may change in any version. `host/example` is a whole program with a database.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle. The test `floors` checks both rules. This crate depends on `latchwork-engine` and
//! `latchwork-core`.
//!
//! | floor | content |
//! |---|---|
//! | [`builder`] | builder of a host |
//! | [`fork`], [`reopen`] | submission of forks, and requests to retry or undo finished jobs |
//! | [`host`] | the host: opens a configuration, submits requests, drives jobs |
//! | [`runtime`] | worker, jobs and calls |
//! | [`config_changes`] | settings that changed since a job was accepted |
//! | [`registry`], [`evidence`], [`notify`] | stored components, evidence files, notices |
//! | [`replay`], [`validate`], [`verifier`], [`submit`] | replay, validators, verifiers, submission of requests |
//! | [`config`] | the configuration `latch.toml` |
//! | [`located_toml`] | TOML with positions |

pub mod builder;
pub mod config;
pub mod config_changes;
pub mod evidence;
pub mod fork;
pub mod host;
pub mod located_toml;
pub mod notify;
pub mod registry;
pub mod reopen;
pub mod replay;
pub mod runtime;
pub mod submit;
pub mod validate;
pub mod verifier;

pub use builder::{HostBuilder, StartError, Stores};
pub use config::{CommitMode, Config, LoadOptions};
pub use host::{EnqueueResult, Host, SubmitError, SubmitResult};
pub use latchwork_core::memory::{ManualClock, Memory as MemoryStore};
pub use latchwork_core::model::effect::{Answer, Output};
pub use latchwork_core::model::error::{Code as FailureCode, Failure};
pub use latchwork_core::model::ids::Operator;
pub use latchwork_core::model::manifest::{EffectKind, Manifest, OperatorSpec, ResolutionSpec as Resolution};
pub use latchwork_core::plan::Violation;
pub use latchwork_core::response::Response;
pub use latchwork_core::storage::{Clock, Owner};
pub use latchwork_engine::capability::Secrets;
pub use latchwork_engine::guest::tool_call::ToolCallContext;
pub use latchwork_engine::native::{CommittedCall, NativeFunctions, NativeTool};
pub use latchwork_engine::os::{Entropy, Machine};
pub use latchwork_engine::{CompilationStart, Explain, PoolSize, ReconcileVerdict, VerifyResult};
pub use runtime::{NoObserver, Observer, Pool, PoolEvent, PoolSettings, PoolTally, StopHandle, TraceIds, WorkerError};
pub use submit::Submission;
pub use validate::{StepValidator, ValidationRequest};
pub use verifier::{ResourceVerifier, VerificationRequest};
