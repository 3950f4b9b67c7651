//! `latch job list`.

use latchwork_core::storage::Filter;
use serde_json::json;

use crate::cli::args::JobListArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::open;
use crate::cli::output::table;
use crate::os;

pub(super) async fn run(args: JobListArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let jobs = match open::missing(&config)? {
        Some(path) => {
            ctx.printer.note(open::looked_in(&path));
            Vec::new()
        }
        None => {
            let filter = Filter { state: args.state, open: args.open, limit: args.limit, ..Filter::default() };
            open::stores_only(&config).await?.journal.jobs(&filter).await?
        }
    };
    ctx.answer(&json!({ "jobs": jobs }), || {
        if jobs.is_empty() {
            return "no jobs; `latch run PLAN` starts one".to_owned();
        }
        let rows: Vec<[String; 5]> = jobs
            .iter()
            .map(|row| {
                let created = humantime::format_rfc3339_seconds(os::clock::system_time(row.created_us)).to_string();
                [
                    row.job_id.to_string(),
                    row.state.as_str().to_owned(),
                    row.plan_id.clone(),
                    row.actor_id.clone(),
                    created,
                ]
            })
            .collect();
        table(["job", "state", "plan", "actor", "accepted"], &rows).join("\n")
    });
    Ok(Exit::Done)
}
