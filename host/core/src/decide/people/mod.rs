//! Decisions of people: requests in the inbox, gates and verdicts.

pub(super) mod gate_rules;
pub(super) mod gates;
pub(super) mod inbox;
pub(super) mod person_decisions;
pub(super) mod verdict;
