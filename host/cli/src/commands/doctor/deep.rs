//! `latch doctor --deep`: recomputes every stored hash.
//!
//! Reads one job at a time. Writes the records of the job as evidence and verifies this evidence. The verification
//! compares event chain, ledger, effects, payloads and response with each other. A further check compares every payload
//! and effect with the event that names it.

use std::collections::BTreeSet;

use serde_json::Value;

use latchwork::evidence::is_valid_signature;
use latchwork_core::evidence::{Export, ProblemKind, Withhold};
use latchwork_core::model::ids::{Hash, JobId, Slot};
use latchwork_core::state::{Durable, FoldError};
use latchwork_core::storage::{EffectStore, JobFilter, Journal, StoreError};
use latchwork_core::{decide, evidence};

use crate::commands::doctor::check::DoctorCheck;
use crate::commands::doctor::database::store_failure;
use crate::context::CommandContext;
use crate::error::CliError;

const NAME: &str = "jobs";
/// Number of job rows read per page.
const PAGE: u32 = 200;
/// Interval between two progress lines.
const PROGRESS_US: u64 = 2_000_000;
/// Maximum number of checks in the answer. Problems beyond this number are only counted.
const FINDINGS_MAX: usize = 200;
/// Maximum number of reads of a job that keeps changing. Afterwards the job counts as not checked.
const READS_MAX: u32 = 5;
const FIX: &str =
    "restore the database from a backup that `latch doctor --deep` finds sound; until then do not run the job";

/// One problem of a job.
struct JobProblem {
    what: String,
    slot: Option<String>,
    event: Option<u64>,
}

/// Totals over all jobs.
#[derive(Default)]
struct DeepCheckTotals {
    jobs: u64,
    events: u64,
    effects: u64,
    payloads: u64,
    busy: Vec<JobId>,
    damaged: u64,
    omitted: u64,
}

pub(super) async fn jobs(
    ctx: &CommandContext<'_>,
    journal: &dyn Journal,
    effects: &dyn EffectStore,
    checks: &mut Vec<DoctorCheck>,
) {
    let mut tally = DeepCheckTotals::default();
    let mut reported_us = ctx.session().machine().boot_us();
    let mut last: Option<JobId> = None;
    loop {
        let page = JobFilter { older_than: last.take(), limit: PAGE, ..JobFilter::default() };
        let rows = match journal.jobs(&page).await {
            Ok(rows) => rows,
            Err(error) => return checks.push(store_failure(NAME, &error)),
        };
        let Some(end) = rows.last() else { break };
        last = Some(end.job_id.clone());
        for row in rows {
            match check_job(ctx, journal, effects, &row.job_id, &mut tally).await {
                Ok(found) => report(&row.job_id, found, &mut tally, checks),
                // Stops at the first error of the database, because every other job would fail with the same error.
                Err(error) => return checks.push(store_failure(NAME, &error)),
            }
            if ctx.session().machine().boot_us().saturating_sub(reported_us) > PROGRESS_US {
                reported_us = ctx.session().machine().boot_us();
                ctx.printer.note(format!("{} jobs checked, {} damaged", tally.jobs, tally.damaged));
            }
        }
    }
    summary(ctx, &tally, checks);
}

fn report(job_id: &JobId, found: Vec<JobProblem>, tally: &mut DeepCheckTotals, checks: &mut Vec<DoctorCheck>) {
    tally.damaged += u64::from(!found.is_empty());
    for JobProblem { what, slot, event } in found {
        if checks.len() >= FINDINGS_MAX {
            tally.omitted += 1;
            continue;
        }
        let place = [slot.as_ref().map(|slot| format!("slot {slot}")), event.map(|seq| format!("event {seq}"))];
        let place: Vec<_> = std::iter::once(format!("job {job_id}")).chain(place.into_iter().flatten()).collect();
        let check =
            DoctorCheck::fail(NAME, format!("{}: {what}", place.join(", ")), FIX).with_subject("job", job_id.as_str());
        let check = slot.into_iter().fold(check, |check, slot| check.with_subject("slot", slot));
        checks.push(event.into_iter().fold(check, |check, seq| check.with_subject("event", seq)));
    }
}

fn summary(ctx: &CommandContext<'_>, tally: &DeepCheckTotals, checks: &mut Vec<DoctorCheck>) {
    let DeepCheckTotals { jobs, events, effects, payloads, busy, damaged, omitted: unshown } = tally;
    if *unshown > 0 {
        checks.push(DoctorCheck::fail(NAME, format!("{unshown} more findings"), FIX));
    }
    for job_id in busy {
        let fix = format!("{} again when the job has settled", ctx.with_project_flags("latch doctor --deep"));
        let found = format!("job {job_id}: not checked, because it changes faster than it can be read");
        checks.push(DoctorCheck::warn(NAME, found, fix).with_subject("job", job_id.as_str()));
    }
    if *damaged == 0 {
        let found =
            format!("{jobs} checked: {events} events, {effects} effects and {payloads} payloads match their hashes");
        checks.push(DoctorCheck::ok(NAME, found));
    }
}

/// Returns every problem of a job.
async fn check_job(
    ctx: &CommandContext<'_>,
    journal: &dyn Journal,
    effects: &dyn EffectStore,
    job_id: &JobId,
    tally: &mut DeepCheckTotals,
) -> Result<Vec<JobProblem>, StoreError> {
    tally.jobs += 1;
    for _ in 0..READS_MAX {
        let record = match journal.load(job_id).await {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(Vec::new()),
            Err(StoreError::Damaged(what)) => return Ok(vec![JobProblem { what, slot: None, event: None }]),
            Err(error) => return Err(error),
        };
        let stored = match effects.effects(job_id).await {
            Ok(stored) => stored,
            Err(StoreError::Damaged(what)) => return Ok(vec![JobProblem { what, slot: None, event: None }]),
            Err(error) => return Err(error),
        };
        // Reads again if log or ledger changed while the effects were read. The effects may be in another database, so
        // one transaction cannot read effects, log and ledger.
        if !record.row.state.is_terminal() {
            let after = journal.load(job_id).await?;
            if after.is_none_or(|after| after.row.head != record.row.head || after.ledger != record.ledger) {
                continue;
            }
        }
        tally.events += record.events.len() as u64;
        tally.effects += stored.len() as u64;
        tally.payloads += record.payloads.len() as u64;
        let export = Export {
            record: &record,
            effects: &stored,
            withhold: &Withhold::Nothing,
            program: concat!("latchwork ", env!("CARGO_PKG_VERSION")),
            exported_us: ctx.session().now_us(),
            signer: None,
        };
        let written = evidence::write(&export);
        let (durable, problems) = match Durable::problems(record, stored) {
            Ok(loaded) => loaded,
            Err(error) => return Ok(vec![problem_of_log(&error)]),
        };
        let mut found: Vec<JobProblem> = problems.iter().map(problem_of_log).collect();
        // Compares the shared tables only if no problem was found. The comparison uses payloads and effects, and
        // damaged payloads or effects would make the result meaningless.
        if found.is_empty() {
            found.extend(shared_table_problems(journal, &durable).await?);
        }
        if let Ok(file) = written {
            // Leaves out problems that verification would report a second time. The problems found above already
            // include all problems of payloads, effects and the response, each with its event.
            let reported: &[ProblemKind] = if found.is_empty() {
                &[]
            } else {
                &[ProblemKind::Payload, ProblemKind::Effect, ProblemKind::Response]
            };
            found.extend(evidence_problems(&file, reported));
        }
        return Ok(found);
    }
    tally.busy.push(job_id.clone());
    Ok(Vec::new())
}

/// Compares the tables that all jobs share with the log and the ledger of this job. Returns the differences.
async fn shared_table_problems(journal: &dyn Journal, durable: &Durable) -> Result<Vec<JobProblem>, StoreError> {
    let header = &durable.job.header;
    let of_slot = |slot: &Slot, what: String| JobProblem { what, slot: Some(slot.to_string()), event: None };
    let key = |key: Option<Hash>| key.map_or_else(|| "none".to_owned(), |key| key.to_hex());
    let other_keys = decide::mismatched_action_keys(durable).into_iter().map(|(slot, events, ledger)| {
        let what = "the action key of the ledger row is not that of the events";
        of_slot(&slot, format!("{what} (expected {}, found {})", key(events), key(ledger)))
    });
    let mut found: Vec<JobProblem> = other_keys.collect();
    for expected in decide::expected_reservations(durable) {
        let stored = match journal.action_reservation(&header.tenant_id, &expected.operator, expected.key).await {
            Ok(stored) => stored,
            Err(StoreError::Damaged(what)) => {
                found.push(of_slot(&expected.slot, what));
                continue;
            }
            Err(error) => return Err(error),
        };
        found.extend(expected.difference(stored.as_ref()).map(|what| of_slot(&expected.slot, what)));
    }
    for expected in decide::indexed_results(durable) {
        let slot = Slot::of_step(&expected.step);
        match journal.reusable(&header.tenant_id, &expected.operator, expected.input_hash).await {
            Ok(Some(stored)) => {
                found.extend(expected.difference(&header.job_id, &stored).map(|what| of_slot(&slot, what)));
            }
            Ok(None) => {}
            Err(StoreError::Damaged(what)) => found.push(of_slot(&slot, what)),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Returns the finding for an error in the log or in a payload that the log names.
fn problem_of_log(error: &FoldError) -> JobProblem {
    let (event, slot) = match error {
        FoldError::Missing { seq, label } | FoldError::Altered { seq, label } => (Some(*seq), slot_of(label)),
        FoldError::BadStart { seq, .. }
        | FoldError::Job { seq, .. }
        | FoldError::Step { seq, .. }
        | FoldError::Invalid { seq, .. } => (Some(*seq), None),
        FoldError::BrokenChain { found, .. } => (Some(*found), None),
        FoldError::Plan(_) => (Some(1), None),
    };
    let text = error.to_string();
    let what = match text.split_once(": ") {
        Some((place, what)) if place.starts_with("event ") => what.to_owned(),
        _ => text,
    };
    JobProblem { what, slot, event }
}

/// Returns the step or call that a label names, such as `s6` for `output/s6` and `s3/0` for `answer/s3/0/1`.
fn slot_of(label: &str) -> Option<String> {
    let (kind, rest) = label.split_once('/')?;
    match kind {
        "answer" => rest.rsplit_once('/').map(|(slot, _)| slot.to_owned()),
        _ => Some(rest.to_owned()),
    }
}

/// Returns the problems that verification finds in the evidence of the job, each with its slot and event. Leaves out
/// problems of the kinds in `reported`, because the caller has already reported them.
fn evidence_problems(file: &[u8], reported: &[ProblemKind]) -> Vec<JobProblem> {
    let report = match evidence::verify(file, None, &is_valid_signature) {
        Ok(verified) => verified.report,
        Err(what) => return vec![JobProblem { what, slot: None, event: None }],
    };
    let about_file = [ProblemKind::Signature, ProblemKind::Trust, ProblemKind::FileHash];
    let wanted =
        report.problems.into_iter().filter(|it| !about_file.contains(&it.kind) && !reported.contains(&it.kind));
    let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
    let mut seen = BTreeSet::new();
    let found = wanted.filter_map(|problem| {
        let line = usize::try_from(problem.line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
        let (slot, event) = line.map_or((None, None), |line| subject_of_line(line));
        let values = match (problem.expected.as_str(), problem.found.as_str()) {
            ("", "") => String::new(),
            (expected, found) => format!(" (expected {expected}, found {found})"),
        };
        let what = format!("{}{values}", problem.message);
        seen.insert(what.clone()).then_some(JobProblem { what, slot, event })
    });
    found.collect()
}

/// Returns the slot and the event that a line of evidence is about.
fn subject_of_line(line: &[u8]) -> (Option<String>, Option<u64>) {
    let Ok(Value::Object(line)) = serde_json::from_slice::<Value>(line) else { return (None, None) };
    let all = line.values().filter_map(Value::as_object).chain([&line]);
    let (mut slot, mut event) = (None, None);
    for part in all {
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        slot = slot.or_else(|| text("slot").or_else(|| text("step_id")).map(str::to_owned));
        slot = slot.or_else(|| text("label").and_then(slot_of));
        event = event.or_else(|| part.get("seq").and_then(Value::as_u64));
    }
    (slot, event)
}

/// Checks the components that jobs have pinned, by digest.
pub(super) fn components(ctx: &CommandContext<'_>, state_dir: &std::path::Path, checks: &mut Vec<DoctorCheck>) {
    const NAME: &str = "components";
    match latchwork::registry::damaged_components(state_dir) {
        Ok((whole, damaged)) => {
            for stored in damaged {
                let path = stored.path.display();
                let found = format!("plugin {}: {path} does not match the digest in its name", stored.plugin);
                let fix = format!(
                    "restore a component with the digest {}: configure it as the plugin's source and run {}, or copy it \
                     from a backup; if no job needs it, remove the file",
                    stored.digest,
                    ctx.with_project_flags("latch plugin list")
                );
                let digest = format!("sha256:{}", stored.digest);
                checks.push(
                    DoctorCheck::fail(NAME, found, fix)
                        .with_subject("plugin", stored.plugin)
                        .with_subject("digest", digest),
                );
            }
            checks.push(DoctorCheck::ok(NAME, format!("{whole} match the digests in their names")));
        }
        Err(error) => {
            let code = CliError::from(anyhow::Error::from(error));
            checks.push(DoctorCheck::fail(NAME, code.message, "make the state directory readable"));
        }
    }
}

/// Checks the compiled code in the cache by its message authentication code.
pub(super) fn compiled(engine: &latchwork_engine::Engine, checks: &mut Vec<DoctorCheck>) {
    const NAME: &str = "plugin cache";
    match engine.check_cache_entries() {
        None => {}
        Some(Ok((whole, damaged))) => {
            for path in &damaged {
                let found = format!("{} is damaged, and is not used", path.display());
                let fix = format!("rm {}; it is recompiled when needed", path.display());
                checks.push(DoctorCheck::warn(NAME, found, fix).with_subject("file", path.display().to_string()));
            }
            checks.push(DoctorCheck::ok(NAME, format!("{whole} entries are authentic")));
        }
        Some(Err(error)) => checks.push(DoctorCheck::fail(NAME, error.to_string(), "make the directory readable")),
    }
}
