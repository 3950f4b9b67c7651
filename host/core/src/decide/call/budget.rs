//! Checks whether the budget of the policy covers a call (§12). The check precedes the start of the call.

use std::collections::BTreeMap;

use crate::decide::Context;
use crate::decide::types::Invocation;
use crate::event::{Body, BudgetPeriod};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::manifest::Determinism;
use crate::rules::cost::usd;
use crate::state::Durable;

/// Result of the budget check for a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BudgetCheck {
    /// The call is covered by the budget.
    Within,
    /// The result depends on the tenant's spending of this month, which has to be read first.
    NeedsMonthlySpending,
    /// The call would exceed the budget.
    Exceeded(Box<Body>, Failure),
}

/// Maximum costs of the calls in flight in this process. The key is the slot of the call. The value is the number of
/// the try and the amount in micro-USD.
pub type ReservedCosts = BTreeMap<Slot, (u32, u64)>;

/// Returns the amount in micro-USD that is reserved for calls other than the call at `slot`. Calls with a recorded
/// answer are not counted.
pub fn reserved_cost(durable: &Durable, in_flight: &ReservedCosts, slot: &Slot) -> u64 {
    let recorded = |slot: &Slot, try_no: u32| {
        let finished = durable.job.calls.get(slot).and_then(|call| call.finished.as_ref());
        finished.is_some_and(|finished| finished.try_no >= try_no)
    };
    let open = in_flight.iter().filter(|(other, (try_no, _))| *other != slot && !recorded(other, *try_no));
    open.fold(0, |sum: u64, (_, (_, most))| sum.saturating_add(*most))
}

/// Refuses a call that can cost money if the spent and reserved amounts have reached the budget. Also refuses the call
/// if its maximum cost is known and would exceed the budget.
pub(crate) fn check(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> BudgetCheck {
    let budget = &context.rules.budget;
    let job = &durable.job;
    let answered = job.calls.get(&invocation.slot).is_some_and(|call| call.committed);
    if budget.is_unlimited() || answered || !can_cost(durable, invocation) {
        return BudgetCheck::Within;
    }
    if let Some(limit) = budget.per_job_micro_usd
        && exceeds_budget(job.cost.cost_micro_usd, invocation, limit)
    {
        return exceeded(durable, invocation, BudgetPeriod::Job, limit, job.cost.cost_micro_usd);
    }
    match (budget.per_month_micro_usd, invocation.month_micro_usd) {
        (Some(_), None) => BudgetCheck::NeedsMonthlySpending,
        (Some(limit), Some(spent)) if exceeds_budget(spent, invocation, limit) => {
            exceeded(durable, invocation, BudgetPeriod::Month, limit, spent)
        }
        _ => BudgetCheck::Within,
    }
}

/// Returns true if the operator is a model, if the call has a price, or if an earlier call of the operator in this
/// job had a cost.
fn can_cost(durable: &Durable, invocation: &Invocation) -> bool {
    let job = &durable.job;
    let model = job.pinned(&invocation.operator).is_some_and(|pinned| pinned.determinism == Determinism::Stable);
    model
        || invocation.max_cost_micro_usd.is_some()
        || job.calls.values().filter(|call| call.operator == invocation.operator).any(|call| {
            let usage = call.finished.as_ref().and_then(|finished| finished.usage.as_ref());
            usage.is_some_and(|usage| usage.cost_micro_usd > 0)
        })
}

fn exceeds_budget(spent: u64, invocation: &Invocation, limit: u64) -> bool {
    let promised = spent.saturating_add(invocation.reserved_micro_usd);
    promised >= limit || promised.saturating_add(invocation.max_cost_micro_usd.unwrap_or(0)) > limit
}

fn exceeded(durable: &Durable, invocation: &Invocation, period: BudgetPeriod, limit: u64, spent: u64) -> BudgetCheck {
    let tenant = &durable.job.header.tenant_id;
    let (whose, key) = match period {
        BudgetPeriod::Job => ("the job has".to_owned(), "per_job_usd"),
        BudgetPeriod::Month => (format!("tenant {tenant} has, this month,"), "per_month_usd"),
    };
    let needs = match invocation.max_cost_micro_usd {
        Some(most) => format!(", and the call may cost {} USD", usd(most)),
        None => String::new(),
    };
    let promised = match invocation.reserved_micro_usd {
        0 => String::new(),
        more => format!(" and promised {} USD to calls in flight", usd(more)),
    };
    let message = format!(
        "{whose} spent {} USD{promised}{needs}; the budget is {} USD (budget.{key} in the policy of tenant {tenant})",
        usd(spent),
        usd(limit)
    );
    let body = Body::BudgetExceeded {
        slot: invocation.slot.clone(),
        period,
        budget_micro_usd: limit,
        spent_micro_usd: spent,
        reserved_micro_usd: invocation.reserved_micro_usd,
        most_micro_usd: invocation.max_cost_micro_usd,
    };
    BudgetCheck::Exceeded(Box::new(body), Failure::new(Code::BudgetExceeded, message))
}
