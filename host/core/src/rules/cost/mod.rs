//! Cost of calls (§12): the charge for each answer, and sums of charges.
//!
//! A charge is derived from the event that records the answer. Each answer is therefore charged exactly once, for
//! every provenance and even if the job is resumed or replayed several times.
//!
//! A call has no charge if its answer reports no usage and no cost was assumed.

mod calendar;
mod price;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::event::{Body, Event};
use crate::model::effect::Provenance;
use crate::model::ids::JobId;

pub use calendar::{day, month};
pub use price::{BadPrice, Price, Prices, micro_usd, usd};

/// Sums of charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CostTotals {
    /// Number of counted answers: `cache_misses` plus `cache_hits`.
    pub calls: u64,
    /// Number of answers in `calls` that came from a model. The model may answer differently if the call is repeated.
    pub nondeterministic: u64,
    /// Tokens read by models.
    pub tokens_in: u64,
    /// Tokens written by models.
    pub tokens_out: u64,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: u64,
    /// Credits, in the providers' own units.
    pub credits: u64,
    /// Number of answers that were reused from earlier calls.
    pub cache_hits: u64,
    /// Number of answers that were not reused.
    pub cache_misses: u64,
    /// Fuel that the tools used.
    pub fuel: u64,
    /// Time that the calls took, in milliseconds.
    pub wall_ms: u64,
}

impl CostTotals {
    /// Returns the sums in the order of the store's columns.
    pub fn columns(&self) -> [u64; 10] {
        [
            self.calls,
            self.nondeterministic,
            self.tokens_in,
            self.tokens_out,
            self.cost_micro_usd,
            self.credits,
            self.cache_hits,
            self.cache_misses,
            self.fuel,
            self.wall_ms,
        ]
    }

    /// Builds the sums from the result of [`CostTotals::columns`].
    pub fn from_columns(columns: [u64; 10]) -> Self {
        let [
            calls,
            nondeterministic,
            tokens_in,
            tokens_out,
            cost_micro_usd,
            credits,
            cache_hits,
            cache_misses,
            fuel,
            wall_ms,
        ] = columns;
        Self {
            calls,
            nondeterministic,
            tokens_in,
            tokens_out,
            cost_micro_usd,
            credits,
            cache_hits,
            cache_misses,
            fuel,
            wall_ms,
        }
    }

    /// Adds `other` to these sums. Sums saturate and never wrap.
    pub fn add(&mut self, other: &CostTotals) {
        let (mut sums, others) = (self.columns(), other.columns());
        sums.iter_mut().zip(others).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        *self = Self::from_columns(sums);
    }
}

/// Amounts that one answer adds to the sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Model that answered. Empty if no model answered.
    pub model: String,
    /// Time at which the answer was recorded, microseconds since 1970 UTC. It determines the day and the month
    /// of the charge.
    pub time_us: i64,
    /// Amounts to add.
    pub totals: CostTotals,
}

/// Returns the charge that an event causes, or `None`. Most events cause no charge.
pub fn charge(event: &Event) -> Option<Charge> {
    let (model, totals) = charge_of(&event.body)?;
    Some(Charge { model, time_us: event.time_us, totals })
}

/// Returns the charge for an event with this body, as the name of the model and the amounts. Returns `None` if there
/// is no charge. Unlike [`charge`], this function does not need the time of the event.
pub fn charge_of(body: &Body) -> Option<(String, CostTotals)> {
    let Body::ToolInvocationFinished { usage, provenance, spent, assumed_micro_usd, nondeterministic, .. } = body
    else {
        return None;
    };
    if usage.is_none() && assumed_micro_usd.is_none() {
        return None;
    }
    let usage = usage.clone().unwrap_or_default();
    let model = usage.model.unwrap_or_default();
    let once = CostTotals { calls: 1, nondeterministic: u64::from(*nondeterministic), ..CostTotals::default() };
    if *provenance == Provenance::Reused {
        // The answer was reused, so this job counts it only as a cache hit. The job that received the answer from the
        // tool is charged for it.
        return Some((model, CostTotals { cache_hits: 1, ..once }));
    }
    let spent = spent.unwrap_or_default();
    Some((
        model,
        CostTotals {
            tokens_in: usage.tokens_in.into(),
            tokens_out: usage.tokens_out.into(),
            cost_micro_usd: assumed_micro_usd.unwrap_or(usage.cost_micro_usd.into()),
            credits: usage.credits.into(),
            cache_misses: 1,
            fuel: spent.fuel,
            wall_ms: spent.wall_ms.into(),
            ..once
        },
    ))
}

/// Grouping of the cost sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostGrouping {
    /// One row per job and model.
    Job,
    /// One row per tenant, actor, day and model.
    ActorDay,
    /// One row per tenant, month and model.
    TenantMonth,
}

/// Cost sums of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostRow {
    /// Tenant that owns the jobs.
    pub tenant_id: String,
    /// Actor that submitted the jobs. `None` if one row covers all actors of a tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// Job whose costs the row contains. Set only if the rows are grouped by [`CostGrouping::Job`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// Period in UTC: `2026-11-22` or `2026-11`. `None` in rows of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// The model. Empty if no model answered.
    pub model: String,
    /// Cost sums of the group.
    #[serde(flatten)]
    pub totals: CostTotals,
}
