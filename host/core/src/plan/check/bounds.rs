//! Size limits of plans.

/// Maximum size of a plan's text in bytes. The plan is copied into the log of every job.
pub const PLAN_BYTES_MAX: usize = 1 << 20;

/// Maximum number of steps in a plan.
pub const STEPS_MAX: usize = 1_000;
