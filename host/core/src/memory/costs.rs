//! Cost sums of the in-memory store, which is the reference model of a store.

use std::collections::BTreeMap;

use crate::model::ids::JobId;
use crate::rules::cost::{Charge, CostGrouping, CostRow, CostTotals, day, month};
use crate::storage::JobRow;

/// Cost sums of each language model, per job, per actor and day, and per tenant and month.
#[derive(Default)]
pub(super) struct Costs {
    jobs: BTreeMap<(JobId, String), CostTotals>,
    actor_days: BTreeMap<(String, String, String, String), CostTotals>,
    tenant_months: BTreeMap<(String, String, String), CostTotals>,
}

impl Costs {
    /// Adds a charge of this job.
    pub(super) fn add(&mut self, job: &JobRow, charge: &Charge) {
        let Charge { model, time_us, totals } = charge;
        let (tenant, actor) = (job.tenant_id.clone(), job.actor_id.clone());
        self.jobs.entry((job.job_id.clone(), model.clone())).or_default().add(totals);
        let day = (day(*time_us), tenant.clone(), actor, model.clone());
        self.actor_days.entry(day).or_default().add(totals);
        self.tenant_months.entry((month(*time_us), tenant, model.clone())).or_default().add(totals);
    }

    /// Returns the amount that a tenant has spent in a month, in millionths of a US dollar.
    pub(super) fn spent(&self, tenant: &str, month: &str) -> u64 {
        let of_month = self.tenant_months.iter().filter(|((at, whose, _), _)| at == month && whose == tenant);
        of_month.map(|(_, totals)| totals.cost_micro_usd).sum()
    }

    /// Returns the sums as rows. `jobs` must be in the order in which jobs are listed.
    pub(super) fn rows(&self, by: CostGrouping, jobs: &[JobRow]) -> Vec<CostRow> {
        match by {
            CostGrouping::Job => {
                let mut rows = Vec::new();
                for job in jobs {
                    for ((_, model), totals) in self.jobs.iter().filter(|((id, _), _)| *id == job.job_id) {
                        rows.push(CostRow {
                            tenant_id: job.tenant_id.clone(),
                            actor_id: Some(job.actor_id.clone()),
                            job_id: Some(job.job_id.clone()),
                            period: None,
                            model: model.clone(),
                            totals: *totals,
                        });
                    }
                }
                rows
            }
            CostGrouping::ActorDay => {
                newest_first(self.actor_days.iter().map(|((day, tenant, actor, model), totals)| CostRow {
                    tenant_id: tenant.clone(),
                    actor_id: Some(actor.clone()),
                    job_id: None,
                    period: Some(day.clone()),
                    model: model.clone(),
                    totals: *totals,
                }))
            }
            CostGrouping::TenantMonth => {
                newest_first(self.tenant_months.iter().map(|((month, tenant, model), totals)| CostRow {
                    tenant_id: tenant.clone(),
                    actor_id: None,
                    job_id: None,
                    period: Some(month.clone()),
                    model: model.clone(),
                    totals: *totals,
                }))
            }
        }
    }
}

/// Sorts rows by period, newest first. Rows of one period keep their order.
fn newest_first(rows: impl Iterator<Item = CostRow>) -> Vec<CostRow> {
    let mut rows: Vec<CostRow> = rows.collect();
    rows.sort_by(|a, b| b.period.cmp(&a.period));
    rows
}
