//! The pure kernel of Latchwork.
//!
//! This crate reads no clock, draws no entropy, opens no file and never blocks. Time, random numbers and stored data
//! are passed in as arguments. Decisions are returned as events and actions. For this reason, replay is
//! deterministic. The crate is also built for a Wasm target, to show that it needs no operating system.
//!
//! The glossary, `docs/reference/glossary.md`, has the terms. This file re-exports nothing. Packages of this repository
//! import by full path, which shows the floor. Embedding programs use the re-exports of the crate `latchwork`.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle. The test `floors` checks both rules.
//!
//! | floor | content |
//! |---|---|
//! | [`evidence`] | evidence files: export, verification, redaction and signatures |
//! | [`response`] | the answer about a job: views, next actions and notices |
//! | [`decide`] | decisions: the next writes and actions for a durable state |
//! | [`replay`] | comparison of a step's behaviour with its log |
//! | [`state`] | state of a job: the fold of its events, with its stored rows |
//! | [`memory`] | reference model of a store |
//! | [`storage`] | interfaces of a store, and the rules that admit a batch |
//! | [`rules`] | ledger table, policy, reuse, retries and cost |
//! | [`event`] | events of the log |
//! | [`plan`] | plans: data, check, bindings, parameters and waits |
//! | [`model`] | plain data: ids, codes, manifests, effects, keys and settings |
//! | [`encoding`] | canonical JSON, JSON Pointers, the random stream of a step, suggestions, truncation |

pub mod decide;
pub mod encoding;
pub mod event;
pub mod evidence;
pub mod memory;
pub mod model;
pub mod plan;
pub mod replay;
pub mod response;
pub mod rules;
pub mod state;
pub mod storage;
