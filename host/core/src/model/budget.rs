//! Spending limits of a tenant.

use serde::{Deserialize, Serialize};

/// Spending limits of a tenant's jobs, in millionths of a US dollar. `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Limit for the whole life of one job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_job_micro_usd: Option<u64>,
    /// Limit for all jobs of the tenant in a calendar month, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_month_micro_usd: Option<u64>,
}

impl Budget {
    /// Returns a budget that has, for each period, the smaller limit of the two budgets.
    pub fn narrowed_by(self, other: Budget) -> Budget {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Budget {
            per_job_micro_usd: least(self.per_job_micro_usd, other.per_job_micro_usd),
            per_month_micro_usd: least(self.per_month_micro_usd, other.per_month_micro_usd),
        }
    }

    /// Returns true if the budget has no limits.
    pub fn is_unlimited(&self) -> bool {
        self.per_job_micro_usd.is_none() && self.per_month_micro_usd.is_none()
    }
}
