//! Plain data that every other module of the kernel uses: ids, codes, manifests, effects, keys and settings.

pub mod answer_requirement;
pub mod auto_exec;
pub mod bounds;
pub mod budget;
pub mod differences;
pub mod divergence;
pub mod effect;
pub mod error;
pub mod error_docs;
pub mod ids;
pub mod job;
pub mod keys;
pub mod manifest;
pub mod mode;
pub mod payload;
pub mod person;
pub mod result_type;
pub mod retry;
pub mod reuse_reason;
pub mod rules;
pub mod step;
