//! Rules: pure decisions about one call, such as the ledger table, policy, reuse, retries and cost.

pub mod cost;
pub mod ledger;
pub mod policy;
pub mod retry;
pub mod reuse;
