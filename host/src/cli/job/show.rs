//! `latch job show`.

use latchwork_core::model::ids::JobId;
use latchwork_core::response::{Response, response};
use latchwork_core::state::Durable;
use latchwork_core::storage::InboxRow;

use crate::cli::args::JobShowArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::{changed, gates, open, view};
use crate::config::Config;
use crate::host::Stores;
use crate::os::clock;

pub(super) async fn run(args: JobShowArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_to_read(&config).await?;
    JobDisplay::load(&stores, &args.job).await?.print(ctx, &config);
    // The exit code does not depend on the state of the job.
    Ok(Exit::Done)
}

/// A job and its unread inbox rows, ready to be shown.
pub(super) struct JobDisplay {
    durable: Durable,
    inbox: Vec<InboxRow>,
    pub(super) response: Response,
}

impl JobDisplay {
    pub(super) async fn load(stores: &Stores, job_id: &JobId) -> anyhow::Result<JobDisplay> {
        let (durable, inbox) = super::load_with_inbox(stores, job_id).await?;
        let shown = response(&durable).with_pending(&durable, &inbox, clock::now_us());
        let response = if open::is_restored().await? { shown.with_restored_database() } else { shown };
        Ok(JobDisplay { durable, inbox, response })
    }

    pub(super) fn print(&self, ctx: &Context<'_>, config: &Config) {
        let response = changed::with_changes(config, &self.durable, self.response.clone(), None);
        view::answer(ctx, &response, &gates::undecided_gate_lines(config, &self.durable, &self.inbox));
    }
}
