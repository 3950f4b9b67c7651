//! A case: an input for an operator, and what the tools it calls answer.

use latchwork_core::error::{Code, Failure};
use latchwork_core::ids::Hash;
use latchwork_core::manifest::Limits;

use super::script::{Given, Script};
use crate::check::Place;
use crate::engine::StepContext;

/// When steps of cases start: 2026-01-05 09:00:00 UTC, a Monday.
const START_US: i64 = 1_767_603_600_000_000;
/// How long each tool of a case takes.
const ANSWER_US: i64 = 250_000;

/// An answer of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The operator that is expected to be called; any if there is none.
    pub operator: Option<String>,
    /// The arguments it is expected to be called with, canonical; any if there are none.
    pub args: Option<String>,
    /// What the call is answered.
    pub answer: Result<String, Failure>,
}

/// A case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Unique in its file.
    pub name: String,
    /// The operator.
    pub operator: String,
    /// Its input: canonical JSON.
    pub input: String,
    /// Answers in the order of the calls.
    pub answers: Vec<Answer>,
    /// The code of the error it is expected to give; none: it gives an output.
    pub error: Option<Code>,
    /// Where it stands.
    pub place: Place,
    /// What a real job's step found; none for one that was made up.
    pub recorded: Option<Recorded>,
}

/// What the step of a real job found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Whose it was.
    pub context: StepContext,
    /// Seed of its random numbers.
    pub seed: [u8; 32],
    /// When it started.
    pub started_us: i64,
    /// When each answer was recorded.
    pub heard_us: Vec<i64>,
    /// What it could use up.
    pub limits: Limits,
}

impl Case {
    /// How it is run, within these limits where no others are recorded.
    pub(super) fn script(&self, limits: Limits) -> Script {
        let given = |k: usize, answer: &Answer| Given {
            operator: answer.operator.clone(),
            args: answer.args.clone(),
            heard_us: match &self.recorded {
                Some(recorded) => recorded.heard_us.get(k).copied().unwrap_or(recorded.started_us),
                None => START_US + ANSWER_US * (k as i64 + 1),
            },
            answer: answer.answer.clone(),
        };
        let answers = self.answers.iter().enumerate().map(|(k, answer)| given(k, answer)).collect();
        let (context, seed, started_us, limits) = match &self.recorded {
            Some(recorded) => (recorded.context.clone(), recorded.seed, recorded.started_us, recorded.limits),
            None => (self.context(), self.seed(), START_US, limits),
        };
        Script {
            operator: self.operator.clone(),
            input: self.input.clone(),
            context,
            seed,
            started_us,
            answers,
            limits,
            loose: false,
            reversed: false,
            stop_at: None,
            expected: None,
        }
    }

    fn context(&self) -> StepContext {
        StepContext {
            tenant: "default".into(),
            actor: "check".into(),
            correlation_id: "cor_01JZ0000000000000000000000".into(),
            job_id: "job_01JZ0000000000000000000000".into(),
            plan_id: "plan".into(),
            step_id: "s1".into(),
        }
    }

    /// Follows from the case alone.
    fn seed(&self) -> [u8; 32] {
        Hash::of(&[b"latch plugin check", self.operator.as_bytes(), &[0], self.input.as_bytes()]).0
    }
}
