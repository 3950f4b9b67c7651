//! Plans: the DAG of steps that one job executes, as data.
//!
//! [`check`] turns JSON text into a [`Plan`] in normal form, or lists every violation with its JSON pointer.
//! All later code works only on valid plans.

pub mod bindings;
mod check;
mod expand;
mod parameters;
mod request;
mod schema;
mod timeout;
mod types;
pub mod wait;

pub use check::{
    CONTEXT_RULE, Catalog, OperatorInfo, PLAN_BYTES_MAX, RULES, STEPS_MAX, SchemaMismatch, Violation, check,
    parse_timeout, uncovered,
};
pub use parameters::{INTENT, ParameterError, VALUES_BYTES_MAX, admits, declared_names, intent_payload};
pub use request::{CheckedRequest, Intent, check_request};
pub use schema::SCHEMA;
pub use types::{CachePolicy, OnFailure, OutcomeSpec, Plan, PlanGate, PlanStep, ReuseSpec, StepKind, context_name};
