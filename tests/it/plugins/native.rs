//! Tools that an embedding program implements in Rust, in a host with a real database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use latchwork::builder::{HostBuilder, StartError, Stores};
use latchwork::reopen::UndoSubmission;
use latchwork::runtime::WorkerError;
use latchwork::validate::{StepValidator, ValidationRequest};
use latchwork::{
    Answer, CommittedCall, Config, EffectKind, EnqueueResult, Failure, FailureCode, Host, LoadOptions, Manifest,
    NativeFunctions, NativeTool, NoObserver, Operator, OperatorSpec, Output, ReconcileVerdict, Response, Secrets,
    Submission, ToolCallContext,
};
use latchwork_core::model::ids::JobId;
use latchwork_store::{Database, OpenOptions, OwnerLock, StoreClock};

use crate::support::servers::http::TestServer;

/// A tool with one operator that changes the world. It counts the calls of its functions.
#[derive(Default)]
struct Letters {
    name: &'static str,
    version: &'static str,
    /// The answer of the first call is lost.
    loses_answer: bool,
    invoked: AtomicU32,
    reconciled: AtomicU32,
    compensated: AtomicU32,
}

impl Letters {
    fn new() -> Self {
        Self { name: "letters", version: "1.0.0", ..Self::default() }
    }

    fn counts(&self) -> [u32; 3] {
        [&self.invoked, &self.reconciled, &self.compensated].map(|count| count.load(Ordering::Relaxed))
    }
}

fn output(result: &Value) -> Output {
    Output { result: result.to_string(), receipt: None, state_changes: vec![], usage: None }
}

#[async_trait::async_trait]
impl NativeTool for Letters {
    fn name(&self) -> &str {
        self.name
    }

    fn manifest(&self) -> Manifest {
        let send = OperatorSpec::new(Operator::new("Letter.Send"), EffectKind::InternalWrite);
        Manifest { version: self.version.to_owned(), operators: vec![send] }
    }

    fn functions(&self) -> NativeFunctions {
        NativeFunctions { reconcile: true, verify: false, compensate: true }
    }

    async fn invoke(&self, _: &str, _: &Value, _: &ToolCallContext) -> Answer {
        self.invoked.fetch_add(1, Ordering::Relaxed);
        if self.loses_answer {
            return Answer::Unknown { failure: Failure::new(FailureCode::NetworkUnavailable, "no answer"), kept: None };
        }
        Answer::Ok(output(&json!({ "by": "invoke" })))
    }

    async fn reconcile(&self, _: &str, _: &Value, _: &ToolCallContext) -> Result<ReconcileVerdict, Failure> {
        self.reconciled.fetch_add(1, Ordering::Relaxed);
        Ok(ReconcileVerdict::Happened(output(&json!({ "by": "reconcile" }))))
    }

    async fn compensate(&self, _: &str, of: CommittedCall<'_>, _: &ToolCallContext) -> Answer {
        self.compensated.fetch_add(1, Ordering::Relaxed);
        Answer::Ok(output(&json!({ "undone": of.result })))
    }
}

/// A database in a folder of its own.
struct Place {
    database: Arc<Database>,
    lock: OwnerLock,
    folder: TempDir,
}

impl Place {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = OpenOptions::new(folder.path().join("jobs.db"));
        let lock = OwnerLock::acquire(&options.owner_dir, "test", "1", &StoreClock::new().unwrap()).unwrap();
        Self { database: Database::open(options).await.unwrap(), lock, folder }
    }

    fn host(&self) -> HostBuilder {
        Host::builder(Stores::new(self.database.clone(), self.lock.owner().clone()))
    }
}

async fn enqueue(host: &Host) -> JobId {
    let step = json!({ "step_id": "send", "name": "Letter.Send", "payload": {}, "effects": ["internal_write"] });
    let plan = json!({ "plan_id": "letter", "schema_version": "1.0", "steps": [step] });
    let plan = host.check(plan.to_string().as_bytes()).unwrap();
    match host.enqueue(Submission::of_plan(plan, "ada")).await.unwrap() {
        EnqueueResult::New(row) => row.job_id,
        EnqueueResult::Attached(row) => panic!("the job is new: {row:?}"),
    }
}

async fn drive(host: &Host, job_id: &JobId) -> Response {
    let claim = host.journal().claim_job(job_id, &host.worker().lease_request()).await.unwrap();
    host.drive(claim.expect("no other worker has the job"), Arc::new(NoObserver)).await.unwrap()
}

/// Limits and prices are found by the name of a plugin, so each name must be valid and unique.
#[tokio::test]
async fn tool_needs_a_name_of_its_own() {
    let place = Place::new().await;
    let start = |names: &[&'static str]| {
        let tools = names.iter().map(|&name| Arc::new(Letters { name, ..Letters::new() }));
        tools.fold(place.host(), |builder, tool| builder.tool(tool)).start()
    };
    for (names, why) in [(&["Letters!"][..], "1 to 64 letters"), (&["letters", "letters"], "has this name")] {
        match start(names) {
            Err(error @ StartError::ToolName { .. }) => assert!(error.to_string().contains(why), "{error}"),
            other => panic!("{names:?}: {:?}", other.map(drop)),
        }
    }
    // The first tool keeps the operator that both serve.
    let host = start(&["letters", "post"]).unwrap();
    let refused: Vec<String> = host.registry().refused().iter().map(ToString::to_string).collect();
    assert!(refused.len() == 1 && refused[0].contains("post") && refused[0].contains("Letter.Send"), "{refused:?}");
    assert_eq!(host.registry().pinned_operators()["Letter.Send"].plugin, "letters");
}

/// A call whose answer is lost is resolved by the tool's own `reconcile` and is not repeated.
#[tokio::test]
async fn lost_answer_is_resolved_by_reconcile() {
    let tool = Arc::new(Letters { loses_answer: true, ..Letters::new() });
    let place = Place::new().await;
    let host = place.host().tool(tool.clone()).start().unwrap();
    let job_id = enqueue(&host).await;
    let response = drive(&host, &job_id).await;
    assert_eq!(response.state.as_str(), "COMPLETED", "{response:#?}");
    assert_eq!(response.outputs["send"], json!({ "by": "reconcile" }));
    assert_eq!(tool.counts(), [1, 1, 0]);
}

/// I194: an open job does not continue with another version of the tool.
#[tokio::test]
async fn open_job_waits_for_its_version_of_the_tool() {
    let place = Place::new().await;
    let job_id = enqueue(&place.host().tool(Arc::new(Letters::new())).start().unwrap()).await;
    let changed = Arc::new(Letters { version: "1.0.1", ..Letters::new() });
    let host = place.host().tool(changed.clone()).start().unwrap();
    let claim = host.journal().claim_job(&job_id, &host.worker().lease_request()).await.unwrap().unwrap();
    let refused = host.drive(claim, Arc::new(NoObserver)).await.unwrap_err();
    assert!(matches!(&refused, WorkerError::PluginMissing { operator, .. } if operator.as_str() == "Letter.Send"));
    assert_eq!(changed.counts(), [0, 0, 0]);
}

#[tokio::test]
async fn undo_calls_compensate_with_the_recorded_result() {
    let tool = Arc::new(Letters::new());
    let place = Place::new().await;
    let host = place.host().tool(tool.clone()).start().unwrap();
    let job_id = enqueue(&host).await;
    assert_eq!(drive(&host, &job_id).await.state.as_str(), "COMPLETED");
    let asked = host.undo(&job_id, "ada", None, true).await.unwrap();
    assert!(matches!(&asked, UndoSubmission::Accepted(due) if due.len() == 1), "{asked:?}");
    let response = drive(&host, &job_id).await;
    let durable = host.load(&job_id).await.unwrap();
    let undone =
        durable.effects.values().find(|effect| effect.slot.as_str().contains('~')).map(|effect| &effect.answer);
    let expected = json!({ "undone": { "by": "invoke" } }).to_string();
    assert!(matches!(undone, Some(Answer::Ok(output)) if output.result == expected), "{undone:?} {response:#?}");
    assert_eq!(tool.counts(), [1, 0, 1]);
}

/// Refuses every step, and checks what a validator sees of a native tool.
struct Refusing;

#[async_trait::async_trait]
impl StepValidator for Refusing {
    fn name(&self) -> &'static str {
        "refusing"
    }
    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
        assert!(request.imports().is_empty());
        assert!(request.run_in_sandbox(request.conditions()).await.is_none(), "a native tool has no sandbox");
        Err(format!("{} is not sent", request.operator))
    }
}

/// Validators run before a call of a native tool, as they do before a call of a component.
#[tokio::test]
async fn validators_can_refuse_a_native_tool() {
    let tool = Arc::new(Letters::new());
    let place = Place::new().await;
    let host = place.host().tool(tool.clone()).validator(Arc::new(Refusing)).start().unwrap();
    let job_id = enqueue(&host).await;
    let response = drive(&host, &job_id).await;
    assert_eq!(response.state.as_str(), "FAILED", "{response:#?}");
    assert!(response.failed[0].message.contains("Letter.Send is not sent"), "{:?}", response.failed);
    assert_eq!(tool.counts(), [0, 0, 0]);
}

/// A source with one value for every name.
struct OneSecret(&'static str);

impl Secrets for OneSecret {
    fn value(&self, _: &str) -> Option<String> {
        Some(self.0.to_owned())
    }
}

/// Two hosts of one process have secrets of their own.
#[tokio::test]
async fn each_host_reads_the_secrets_of_its_builder() {
    let server = TestServer::start();
    for value in ["first", "second"] {
        let place = Place::new().await;
        let file = place.folder.path().join("latch.toml");
        let notify = format!(
            "[notify]\nwebhook = {:?}\nheaders = {{ Authorization = \"Bearer ${{HOOK}}\" }}\n",
            server.url("/")
        );
        std::fs::write(&file, notify).unwrap();
        let options =
            LoadOptions { cwd: place.folder.path(), config: Some(&file), db: None, plan_folder: None, env: &|_| None };
        let config = Config::load(&options).unwrap();
        let builder = place.host().config(config).tool(Arc::new(Letters::new()));
        let host = builder.secrets(Arc::new(OneSecret(value))).start().unwrap();
        let job_id = enqueue(&host).await;
        assert_eq!(drive(&host, &job_id).await.state.as_str(), "COMPLETED");
        let notifier = host.notifier().expect("the configuration has a webhook");
        assert_eq!(notifier.wait_until_delivered(Duration::from_secs(20)).await, 0);
    }
    let received: Vec<_> =
        server.wait_for(2).iter().map(|one| one.header("authorization").map(str::to_owned)).collect();
    assert_eq!(received, [Some("Bearer first".to_owned()), Some("Bearer second".to_owned())]);
}
