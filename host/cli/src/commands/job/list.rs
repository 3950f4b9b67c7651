//! `latch job list`.

use serde_json::{Value, json};

use latchwork_core::model::job::JobState;
use latchwork_core::storage::{JobFilter, JobRow, StateReason};

use crate::args::JobListArgs;
use crate::context::CommandContext;
use crate::display::brief::{age, short_duration};
use crate::error::Exit;
use crate::open;
use crate::text::{Text, table};

/// Minimum terminal width for the column `took`.
const WITH_DURATION: usize = 72;
/// Minimum terminal width for the columns `plan` and `actor`.
const WITH_PLAN: usize = 100;

pub(super) async fn run(args: JobListArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let jobs = match open::missing_database(&config)? {
        Some(path) => {
            ctx.printer.note(open::missing_database_message(&path));
            Vec::new()
        }
        None => {
            let filter = JobFilter { state: args.state, open: args.open, limit: args.limit, ..JobFilter::default() };
            let journal = open::stores_to_read(ctx.session(), &config).await?.journal().clone();
            let rows = journal.jobs(&filter).await?;
            let whys = journal.state_reasons(&rows).await?;
            rows.into_iter().zip(whys).collect()
        }
    };
    let now_us = ctx.session().now_us();
    let documents: Vec<Value> = jobs.iter().map(|job| document(job, now_us)).collect();
    ctx.answer(&json!({ "jobs": documents }), || match jobs.is_empty() {
        true => Text::from(ctx.add_flags_to_commands("no jobs; `latch run PLAN` starts one")),
        false => job_table(&jobs, now_us, ctx.printer.width()),
    });
    Ok(Exit::Done)
}

/// Returns the duration of a finished job in microseconds. Returns `None` for any other job.
fn duration_us(row: &JobRow, why: &StateReason) -> Option<i64> {
    why.since_us.filter(|_| row.state.is_terminal()).map(|ended_us| (ended_us - row.created_us).max(0))
}

fn document((row, why): &(JobRow, StateReason), now_us: i64) -> Value {
    let mut value = json!(row);
    let (Value::Object(fields), Value::Object(reason_fields)) = (&mut value, json!(why)) else { return value };
    fields.extend(reason_fields);
    fields.insert("age_us".into(), json!((now_us - row.created_us).max(0)));
    if let Some(duration_us) = duration_us(row, why) {
        fields.insert("duration_us".into(), json!(duration_us));
    }
    value
}

/// Describes briefly why the job is in its state.
fn reason(row: &JobRow, why: &StateReason, now_us: i64) -> String {
    let at = why.slot.as_ref().map(|slot| format!(" at {slot}")).unwrap_or_default();
    match (why.reason_code, &why.by, row.wake_at_us) {
        (Some(code), ..) => format!("{code}{at}"),
        (None, Some(by), _) => format!("by {by}"),
        (None, None, Some(wake_us)) if row.state == JobState::Waiting => {
            format!("continues in {}", short_duration(wake_us - now_us))
        }
        _ if why.undone => "being undone".to_owned(),
        _ if row.cancel_requested && !row.state.is_terminal() => "being cancelled".to_owned(),
        _ => String::new(),
    }
}

fn job_table(jobs: &[(JobRow, StateReason)], now_us: i64, width: Option<usize>) -> Text {
    let cells = jobs.iter().map(|(row, why)| {
        let age = age(now_us - row.created_us);
        let took = duration_us(row, why).map(|us| format!("{:>5}", short_duration(us))).unwrap_or_default();
        let (id, state) = (row.job_id.to_string(), row.state.as_str().to_owned());
        [id, state, age, took, reason(row, why, now_us), row.plan_id.clone(), row.actor_id.clone()]
    });
    let cells: Vec<[String; 7]> = cells.collect();
    match width {
        Some(width) if width < WITH_DURATION => {
            let rows = cells.into_iter().map(|[id, state, age, _, reason, ..]| [id, state, age, reason]);
            table(["job", "state", "age", "reason"], &rows.collect::<Vec<_>>())
        }
        Some(width) if width < WITH_PLAN => {
            let rows = cells.into_iter().map(|[id, state, age, took, reason, ..]| [id, state, age, took, reason]);
            table(["job", "state", "age", "took", "reason"], &rows.collect::<Vec<_>>())
        }
        _ => table(["job", "state", "age", "took", "reason", "plan", "actor"], &cells),
    }
}
