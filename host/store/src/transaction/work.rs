//! Work that runs in a transaction of the writer.

use async_trait::async_trait;

use latchwork_core::model::ids::JobId;

use crate::sql::error::TransactionFailure;
use crate::transaction::tx::Tx;

/// Work that is queued for the writer and is not a batch. Its statements are one part of a transaction.
#[async_trait]
pub(crate) trait TransactionPart: Send + Sync + 'static {
    /// Outcome of the work, including refusals.
    type Output: Send + 'static;
    /// Returns true if the work claims jobs, extends leases or fires timers. Such work is refused if this is possibly
    /// not the database that was last used here (§5).
    fn starts_work(&self) -> bool;
    /// Returns the jobs whose rows the work writes, as far as these jobs are known before the work runs.
    fn jobs(&self) -> Vec<JobId> {
        Vec::new()
    }
    /// Returns the numbers of the locks that the work needs besides those of its jobs. SQLite has one writer and
    /// ignores them.
    fn lock_numbers(&self) -> Vec<i64> {
        Vec::new()
    }
    /// Returns true if something outside the database relies on this work, but no row of an event log proves its
    /// commit. The transaction of the work then writes a commit marker.
    fn needs_marker(&self) -> bool {
        false
    }
    /// Runs the work. Called again if the transaction is repeated.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure>;
}
