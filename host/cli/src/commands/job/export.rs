//! `latch job export`: writes the log of a job as one evidence file.

use std::path::PathBuf;

use serde_json::json;

use latchwork::builder::Stores;
use latchwork_core::evidence;
use latchwork_core::evidence::{Export, ExportError, Withhold};
use latchwork_core::model::effect::Effect;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::{Hash, JobId};
use latchwork_core::response::shell_quoted;
use latchwork_core::storage::{StoreError, StoredJob};

use crate::args::JobExportArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::files::save::FileReaders;
use crate::files::{save, signing_key};
use crate::open;
use crate::stored_job::load::no_such_job;
use crate::text::Tone;

/// Maximum number of times that the export reads a job whose log keeps changing. Afterwards the export is refused.
const READS_MAX: u32 = 20;

pub(super) async fn run(args: JobExportArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let path = args.out.unwrap_or_else(|| PathBuf::from(format!("{}.evidence.jsonl", args.job)));
    if !args.force && path.as_os_str() != "-" {
        save::refuse_existing(&path)?;
    }
    let key = args.sign.as_deref().map(signing_key::read).transpose()?;
    let stores = open::stores_to_read(ctx.session(), &ctx.config(None)?).await?;
    let (record, effects) = load_consistent(&stores, &args.job).await?;
    let withhold = match (args.withhold_all, args.withhold.is_empty()) {
        (true, _) => Withhold::Everything,
        (false, true) => Withhold::Nothing,
        (false, false) => Withhold::Labels(args.withhold.clone()),
    };
    let export = Export {
        record: &record,
        effects: &effects,
        withhold: &withhold,
        program: concat!("latchwork ", env!("CARGO_PKG_VERSION")),
        exported_us: ctx.session().now_us(),
        signer: key.as_ref().map(|key| key.public()),
    };
    let mut file = evidence::write(&export).map_err(|error| match error {
        ExportError::Label(error) => {
            anyhow::Error::from(CliError::input(error_docs::WITHHOLD_UNKNOWN, error.to_string()))
        }
        ExportError::Log(error) => StoreError::Damaged(format!("job {}: {error}", args.job)).into(),
    })?;
    if let Some(key) = &key {
        let signature = key.sign(&evidence::message(&file));
        evidence::append_signature(&mut file, key.public(), signature);
    }
    if path.as_os_str() == "-" {
        ctx.printer.raw(&String::from_utf8(file).expect("lines of JSON are UTF-8"));
        return Ok(Exit::Done);
    }
    match args.force {
        true => save::replace(&path, &file, FileReaders::Owner)?,
        false => save::create(&path, &file, FileReaders::Owner)?,
    }
    let next = format!("latch verify {}", shell_quoted(&path.display().to_string()));
    let document = json!({
        "job_id": args.job,
        "state": record.row.state,
        "file": path.display().to_string(),
        "bytes": file.len(),
        "sha256": Hash::of(&[&file]),
        "events": record.events.len(),
        "signed_by": key.as_ref().map(|key| key.public().to_string()),
        "next_actions": [next],
    });
    ctx.answer(&document, || {
        let (done, state) = (Tone::Good.of("exported"), record.row.state.as_str());
        let signed = key.as_ref().map_or("not signed".to_owned(), |key| format!("signed by {}", key.public()));
        let head =
            format!(" {}: {} events, {state}, {} bytes, {signed}", path.display(), record.events.len(), file.len());
        (done + head).under("next:").with_command(&next)
    });
    Ok(Exit::Done)
}

/// Reads the log and the effects of one point in time.
///
/// Reads the log before and after the effects, until both readings of the log agree. The effects may be in another
/// database, so one transaction cannot read log and effects.
async fn load_consistent(stores: &Stores, job_id: &JobId) -> anyhow::Result<(StoredJob, Vec<Effect>)> {
    let mut before = load(stores, job_id).await?;
    for _ in 0..READS_MAX {
        let effects = stores.effects().effects(job_id).await?;
        let after = load(stores, job_id).await?;
        if after.row.head == before.row.head && after.ledger == before.ledger {
            return Ok((after, effects));
        }
        before = after;
    }
    let message = format!(
        "job {job_id} changes faster than it can be read: export it when it has settled (`latch job show {job_id}`)"
    );
    Err(CliError::action_required(error_docs::JOB_HELD, message).into())
}

async fn load(stores: &Stores, job_id: &JobId) -> anyhow::Result<StoredJob> {
    let record = stores.journal().load(job_id).await?;
    record.ok_or_else(|| no_such_job(job_id).into())
}
