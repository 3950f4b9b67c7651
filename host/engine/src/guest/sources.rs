//! Context, clock and random numbers of a step, which are the same in every try of the step.

use serde::{Deserialize, Serialize};

use latchwork_core::encoding::rng::StepRng;

/// Deterministic inputs of a step: its context, its clock and its random numbers. Every implementation of
/// [`StepCalls`](crate::guest::step_calls::StepCalls) contains one value of this type.
#[derive(Clone, Debug)]
pub struct StepSources {
    /// Ids of the tenant, the actor and the job.
    pub context: StepContext,
    /// The step's clock, in microseconds since 1970 UTC.
    pub now_us: i64,
    rng: StepRng,
}

impl StepSources {
    /// Creates the sources of a step that started at `now_us`. The seed comes from
    /// [`step_seed`](latchwork_core::model::keys::step_seed).
    pub fn new(context: StepContext, seed: [u8; 32], now_us: i64) -> Self {
        Self { context, now_us, rng: StepRng::new(seed) }
    }

    /// Advances the clock to the time at which an answer was recorded. The clock never goes back. The caller advances
    /// the clock after the step has received the answer.
    pub fn advance_clock_to(&mut self, recorded_us: i64) {
        self.now_us = self.now_us.max(recorded_us);
    }

    /// Fills `buf` with the next random bytes.
    pub fn random(&mut self, buf: &mut [u8]) {
        buf.copy_from_slice(&self.rng.bytes(buf.len()));
    }

    /// Returns the next random number.
    pub fn next_u32(&mut self) -> u32 {
        self.rng.next_u32()
    }

    /// Returns a random number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }
}

/// Information about the job that steps and tools can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepContext {
    /// Tenant that owns the job.
    pub tenant: String,
    /// Actor that submitted the job.
    pub actor: String,
    /// Correlation id of the request.
    pub correlation_id: String,
    /// Id of the job.
    pub job_id: String,
    /// Label of the plan.
    pub plan_id: String,
    /// Id of the step.
    pub step_id: String,
}
