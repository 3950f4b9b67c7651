//! Decisions of people: requests in the inbox, gates and verdicts.
//!
//! Floors, top first: `inbox` · `gate_rules`, `gates`, `person_decisions`, `verdict`.

pub(super) mod gate_rules;
pub(super) mod gates;
pub(super) mod inbox;
pub(super) mod person_decisions;
pub(super) mod verdict;
