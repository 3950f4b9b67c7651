//! `latch job events`.

use std::time::Duration;

use latchwork_core::event::{Body, Event};
use latchwork_core::ids::JobId;
use latchwork_core::job::JobState;
use latchwork_core::keys;
use serde_json::{Value, json};

use crate::cli::args::JobEventsArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::open;
use crate::cli::output::Tone;
use crate::cli::run::FOLLOW_MS;
use crate::os;

pub(super) async fn run(args: JobEventsArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let stores = open::stores_only(&ctx.config(None)?).await?;
    let mut next = args.after.map_or(0, |seq| seq + 1);
    let mut all = Vec::new();
    loop {
        // The state is read first: what is appended after it is shown in the next round.
        let state = super::row(&stores, &args.job).await?.state;
        let record = stores.journal.load(&args.job).await?.ok_or_else(|| super::no_such_job(&args.job))?;
        for event in record.events.iter().filter(|event| event.seq >= next) {
            match (ctx.json, args.follow) {
                (true, true) => ctx.printer.line(&document(&args.job, event)),
                (true, false) => all.push(document(&args.job, event)),
                (false, _) => ctx.printer.say(line(ctx, &args.job, event)),
            }
        }
        next = next.max(record.row.next_seq);
        let rests = state.is_terminal() || matches!(state, JobState::Parked | JobState::Diverged);
        if !args.follow || rests {
            break;
        }
        tokio::time::sleep(Duration::from_millis(FOLLOW_MS)).await;
    }
    if ctx.json && !args.follow {
        ctx.printer.document(&json!({ "job_id": args.job, "events": all }));
    }
    Ok(Exit::Done)
}

/// What is recorded of an event, and what follows from where it stands.
fn told(job: &JobId, event: &Event) -> Value {
    let mut value: Value = serde_json::from_slice(&event.bytes).expect("an event is JSON");
    if let Body::AsyncEventEmitted { step_id, n, .. } = &event.body {
        value["event_id"] = json!(keys::event_id(job, step_id, *n));
    }
    value
}

fn document(job: &JobId, event: &Event) -> Value {
    let mut value = told(job, event);
    value["hash"] = json!(event.hash);
    value["prev_hash"] = json!(event.prev_hash);
    value
}

fn line(ctx: &Context<'_>, job: &JobId, event: &Event) -> String {
    let mut value = told(job, event);
    let name = event.name();
    let fields = value.as_object_mut().expect("an event is an object");
    for known in ["seq", "time_us", "attempt", "schema_version", "type", "plan", "operators"] {
        fields.remove(known);
    }
    let time = humantime::format_rfc3339_micros(os::clock::system_time(event.time_us));
    let rest = if fields.is_empty() { String::new() } else { format!(" {value}") };
    let name = ctx.printer.tone(Tone::Title, &name);
    format!("{:>4} {time} attempt {} {name}{rest}", event.seq, event.attempt)
}
