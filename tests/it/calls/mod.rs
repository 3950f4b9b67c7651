//! Calls of tools: keys, answers, receipts, reuse and confirmation.

mod confirm;
mod keys;
mod late_answers;
mod recorded_answers;
mod reuse;
mod settling_time;
