//! Claims of jobs, and the check whether the holder of a job is dead.

use latchwork_core::model::ids::JobId;
use latchwork_core::rules::ledger::{LedgerRow, Quiescence};
use latchwork_core::storage::quiescence::{OwnerFacts, assess};
use latchwork_core::storage::{Claim, LeaseRequest, Owner, StoreError};

use crate::database::handle::Database;
use crate::os::owner::is_owner_dead;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::tables::leases::{self, ClaimTarget, ClaimWork, ExtendLeases};
use crate::tables::timers::read_next;

impl Database {
    pub(crate) async fn claim_matching(
        &self,
        wanted: ClaimTarget,
        claimer: &LeaseRequest,
    ) -> Result<Option<Claim>, StoreError> {
        self.generation.begin_use(&self.access()).await?;
        // A first search runs outside a write transaction. Most searches find no job, so they need no write
        // transaction.
        let here = self.time_source.local_now();
        let statements = wanted.search(self.dialect, here.as_ref(), &self.machine.boot_id());
        let rows = self.readers.run(StatementName::CLAIM_LOOK, statements).await?;
        let mut claimable = RowReader::new(&rows[0][0], "jobs").bool()?;
        let (due_us, now_us) = read_next(&rows[2][0])?;
        let boot_us = self.time_source.at_server_time(now_us).boot_us;
        if due_us.is_some_and(|due_us| due_us <= now_us) {
            self.fire_due().await?;
            claimable = true;
        }
        let mut dead = Vec::new();
        for row in &rows[1] {
            let mut row = RowReader::new(row, "owners");
            let (id, owner) = (row.int()?, Owner::try_from(row)?);
            if is_owner_dead(&owner) {
                self.dead_owners.first_seen(&owner, boot_us);
                dead.push(id.to_string());
            }
        }
        if !claimable && dead.is_empty() {
            return Ok(None);
        }
        let work = ClaimWork { target: wanted, claimer: claimer.clone(), dead_owners: format!("[{}]", dead.join(",")) };
        Ok(self.writer.work(work).await?)
    }

    pub(crate) async fn extend_leases(&self, held: &[(JobId, u32)], lease_ms: u32) -> Result<Vec<JobId>, StoreError> {
        if held.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.writer.work(ExtendLeases { held: held.to_vec(), lease_ms }).await?)
    }

    pub(crate) async fn owner_quiescence(
        &self,
        job_id: &JobId,
        row: &LedgerRow,
        settling_ms: u32,
    ) -> Result<Quiescence, StoreError> {
        let now = self.time_source.local_now();
        let (owner, now_us) = leases::read_owner(&self.readers, self.dialect, now.as_ref(), job_id, row).await?;
        let now = self.time_source.at_server_time(now_us);
        let same_kernel = owner.boot_id == self.machine.boot_id();
        Ok(assess(&OwnerFacts {
            now_us: now.boot_us,
            // If leases use the server's time, `now.boot_id` is `None`. The server's time does not depend on the boot
            // of a machine, so the deadlines of all machines are comparable.
            same_boot: same_kernel || now.boot_id.is_none(),
            deadline_us: row.deadline_us,
            margin_ms: self.clock_margin_ms,
            owner_dead_us: (same_kernel && is_owner_dead(&owner))
                .then(|| self.dead_owners.first_seen(&owner, now.boot_us)),
            settling_ms,
        }))
    }
}
