//! A stored job, ready to be shown.

use latchwork::builder::Stores;
use latchwork::config::Config;
use latchwork_core::model::ids::JobId;
use latchwork_core::response::{Response, response};
use latchwork_core::state::Durable;
use latchwork_core::storage::InboxRow;

use crate::context::CommandContext;
use crate::display::{changed, gates, view};
use crate::stored_job::load::load_with_inbox;

/// A job and its unread inbox rows, ready to be shown.
pub(crate) struct JobDisplay {
    durable: Durable,
    inbox: Vec<InboxRow>,
    pub(crate) response: Response,
}

impl JobDisplay {
    pub(crate) async fn load(ctx: &CommandContext<'_>, stores: &Stores, job_id: &JobId) -> anyhow::Result<JobDisplay> {
        let (durable, inbox) = load_with_inbox(stores, job_id).await?;
        let response = response(&durable).with_pending(&durable, &inbox, ctx.session().now_us());
        let response = if ctx.session().is_restored().await? { response.with_restored_database() } else { response };
        Ok(JobDisplay { durable, inbox, response })
    }

    pub(crate) fn print(&self, ctx: &CommandContext<'_>, config: &Config) {
        let response = changed::with_changes(config, &self.durable, self.response.clone(), None);
        view::answer(ctx, &response, &gates::undecided_gate_lines(config, &self.durable, &self.inbox));
    }
}
