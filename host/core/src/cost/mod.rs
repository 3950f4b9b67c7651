//! What calls cost (§12): the charge that an answer makes, and sums of them.
//!
//! A charge is read from the event that records the answer, so it is counted exactly once,
//! wherever the answer came from and however often the job is resumed or replayed. A call that
//! reports no usage makes none: nothing is written for it beyond its effect.

mod calendar;
mod price;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::effect::Provenance;
use crate::event::{Body, Event};
use crate::ids::JobId;

pub use calendar::{day, month};
pub use price::{BadPrice, Price, Prices, micro_usd, usd};

/// Sums over charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Answers that were charged, or served from earlier ones.
    pub calls: u64,
    /// Those of them that a model gave: they may be others another time.
    pub nondeterministic: u64,
    /// Tokens read by models.
    pub tokens_in: u64,
    /// Tokens written by models.
    pub tokens_out: u64,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u64,
    /// The providers' own units.
    pub credits: u64,
    /// Answers that an earlier one stood in for.
    pub cache_hits: u64,
    /// Answers that had to be got.
    pub cache_misses: u64,
    /// Fuel that the tools used.
    pub fuel: u64,
    /// Milliseconds that the calls took.
    pub wall_ms: u64,
}

impl Totals {
    /// The sums in the order in which stores keep them.
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

    /// What [`Totals::columns`] gave.
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

    /// Both together.
    pub fn add(&mut self, other: &Totals) {
        let (mut sums, others) = (self.columns(), other.columns());
        sums.iter_mut().zip(others).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        *self = Self::from_columns(sums);
    }
}

/// What one answer adds to the sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The model that answered; empty where none did.
    pub model: String,
    /// When it was recorded, microseconds since 1970 UTC: its day and month.
    pub time_us: i64,
    /// What it adds.
    pub totals: Totals,
}

/// The charge that an event makes; most make none.
pub fn charge(event: &Event) -> Option<Charge> {
    let (model, totals) = charge_of(&event.body)?;
    Some(Charge { model, time_us: event.time_us, totals })
}

/// The same of what an event says, whenever that was.
pub fn charge_of(body: &Body) -> Option<(String, Totals)> {
    let Body::ToolInvocationFinished { usage, provenance, spent, assumed_micro_usd, nondeterministic, .. } = body
    else {
        return None;
    };
    if usage.is_none() && assumed_micro_usd.is_none() {
        return None;
    }
    let usage = usage.clone().unwrap_or_default();
    let model = usage.model.unwrap_or_default();
    let once = Totals { calls: 1, nondeterministic: u64::from(*nondeterministic), ..Totals::default() };
    if *provenance == Provenance::Reused {
        // It was paid for when it was got.
        return Some((model, Totals { cache_hits: 1, ..once }));
    }
    let spent = spent.unwrap_or_default();
    Some((
        model,
        Totals {
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

/// How sums are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// One row per job and model.
    Job,
    /// One row per tenant, actor, day and model.
    ActorDay,
    /// One row per tenant, month and model.
    TenantMonth,
}

/// One group's sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Whose house.
    pub tenant_id: String,
    /// Who asked; none where a tenant's actors are one row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// The job, where each has rows of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// `2026-11-22` or `2026-11`, UTC; none in rows of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// The model; empty where none answered.
    pub model: String,
    /// The sums.
    #[serde(flatten)]
    pub totals: Totals,
}

/// What a tenant's jobs may spend, in millionths of a US dollar; none: as much as they like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// One job in its whole life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_job_micro_usd: Option<u64>,
    /// All jobs of the tenant in a calendar month, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_month_micro_usd: Option<u64>,
}

impl Budget {
    /// The smaller of both, each for itself.
    pub fn narrowed_by(self, other: Budget) -> Budget {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Budget {
            per_job_micro_usd: least(self.per_job_micro_usd, other.per_job_micro_usd),
            per_month_micro_usd: least(self.per_month_micro_usd, other.per_month_micro_usd),
        }
    }

    /// Whether there is nothing to keep to.
    pub fn is_unlimited(&self) -> bool {
        self.per_job_micro_usd.is_none() && self.per_month_micro_usd.is_none()
    }
}
