//! A program that embeds the host: it sends a letter with a tool of its own, at most once.
//!
//! `latchwork-example FOLDER` keeps its database and its letters in `FOLDER`. The program may be killed at any time.
//! The next run continues the same job, and the folder contains the letter once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use latchwork::{
    Answer, Config, EffectKind, Failure, FailureCode, Host, Manifest, NativeTool, NoObserver, Operator, OperatorSpec,
    Output, Resolution, Stores, Submission, SubmitResult, ToolCallContext,
};
use latchwork_store::{Database, OpenOptions, OwnerLock, StoreClock};

/// A tool that writes letters into a folder.
struct Letters {
    folder: PathBuf,
}

#[async_trait]
impl NativeTool for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn manifest(&self) -> Manifest {
        let send = OperatorSpec {
            description: "Sends a letter".to_owned(),
            input_schema: r#"{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}"#.to_owned(),
            // The same call never writes a second letter, because the name of the file is the key of the call.
            resolution: Resolution { idempotent_by_key_seconds: 86_400, settling_ms: 0 },
            ..OperatorSpec::new(Operator::new("Letter.Send"), EffectKind::ExternalSend)
        };
        Manifest { version: "1.0.0".to_owned(), operators: vec![send] }
    }

    async fn invoke(&self, _operator: &str, args: &Value, call: &ToolCallContext) -> Answer {
        let name = format!("{}.txt", call.external_key.replace(':', "-"));
        let (folder, text) = (self.folder.clone(), args["text"].as_str().unwrap_or_default().to_owned());
        let file = name.clone();
        // A tool may not block the thread.
        let written = tokio::task::spawn_blocking(move || write_durably(&folder, &file, &text)).await;
        match written.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Ok(()) => Answer::Ok(Output {
                result: json!({ "file": name }).to_string(),
                receipt: None,
                state_changes: vec![],
                usage: None,
            }),
            Err(error) => Answer::Unknown {
                failure: Failure::new(FailureCode::DependencyUnavailable, format!("{name} cannot be written: {error}")),
                kept: None,
            },
        }
    }
}

/// Writes a file atomically: after a failure of the machine at any moment, the file has its whole text or does not
/// exist.
fn write_durably(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let unfinished = folder.join(format!("{name}.new"));
    std::fs::write(&unfinished, text)?;
    File::open(&unfinished)?.sync_all()?;
    std::fs::rename(&unfinished, folder.join(name))?;
    File::open(folder)?.sync_all()
}

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| anyhow::anyhow!("usage: latchwork-example FOLDER"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(folder))
}

async fn run(folder: PathBuf) -> anyhow::Result<()> {
    std::fs::create_dir_all(&folder)?;
    // The process holds a lock while it may execute calls. The lock proves to other processes that this process is
    // alive.
    let options = OpenOptions::new(folder.join("jobs.db"));
    let nonce = format!("{}", std::process::id());
    let lock = OwnerLock::acquire(&options.owner_dir, "letters", &nonce, &StoreClock::new()?)?;
    let database = Database::open(options).await?;
    let host = Host::builder(Stores::new(database, lock.owner().clone()))
        .config(Config::with_defaults(&folder))
        .tool(Arc::new(Letters { folder: folder.clone() }))
        .start()?;

    let plan = json!({
        "plan_id": "greeting",
        "schema_version": "1.0",
        "steps": [{
            "step_id": "send",
            "name": "Letter.Send",
            "payload": { "text": "Dear Ada" },
            "effects": ["external_send"],
        }],
    });
    let plan = host
        .check(plan.to_string().as_bytes())
        .map_err(|violations| anyhow::anyhow!("the plan is invalid: {violations:?}"))?;
    // The request contains the approval. Without the approval, the job would wait for a person, because the operator
    // sends something.
    let mut submission = Submission::of_plan(plan, "ada");
    submission.standing_approvals = vec!["send".into()];
    let (claim, stored) = match host.submit(submission).await? {
        SubmitResult::New(claim) => (Some(claim), None),
        // The same request was submitted before. Its job continues if the job is still open and no other process holds
        // it.
        SubmitResult::Attached(row) => {
            (host.journal().claim_job(&row.job_id, &host.worker().lease_request()).await?, Some(row.state))
        }
    };
    let state = match (claim, stored) {
        (Some(claim), _) => host.drive(claim, Arc::new(NoObserver)).await?.state.as_str().to_owned(),
        (None, state) => format!("was {} before", state.map_or("new", |state| state.as_str())),
    };
    let letters =
        std::fs::read_dir(&folder)?.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "txt"));
    let line = format!("{state}, letters: {}\n", letters.count());
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())?;
    Ok(())
}
