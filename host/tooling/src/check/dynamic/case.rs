//! Cases: an input for an operator, and the answers to its tool calls.

use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{Determinism, EffectKind, Limits};
use latchwork_engine::guest::sources::StepContext;

use crate::check::dynamic::script::{ANSWER_US, RunScript, ScriptedAnswer};
use crate::check::finding::SourceLocation;
use crate::check::variations::CASE_START_S;

/// Start time of the steps in cases, in microseconds since 1970.
const START_US: i64 = CASE_START_S * 1_000_000;

/// Answer to one call of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseAnswer {
    /// Operator that must be called. `None` allows any operator.
    pub operator: Option<String>,
    /// Canonical arguments that must be passed. `None` allows any arguments.
    pub args: Option<String>,
    /// Determinism class of the called tool. `None` if the case does not state it.
    pub determinism: Option<Determinism>,
    /// Effects of the called tool. `None` if the case does not state them.
    pub effects: Option<Vec<EffectKind>>,
    /// Result of the call.
    pub answer: Result<String, Failure>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCase {
    /// Name, unique in the file.
    pub name: String,
    /// Operator that is run.
    pub operator: String,
    /// Input of the operator, as canonical JSON.
    pub input: String,
    /// Answers, in the order of the calls.
    pub answers: Vec<CaseAnswer>,
    /// Code of the expected error. `None` if an output is expected.
    pub error: Option<Code>,
    /// Location of the case.
    pub place: SourceLocation,
    /// Recorded environment of a real job's step. `None` for a handwritten case.
    pub recorded: Option<RecordedEnvironment>,
}

/// Recorded environment of a real job's step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEnvironment {
    /// Context of the job.
    pub context: StepContext,
    /// Seed of the random numbers.
    pub seed: [u8; 32],
    /// Start time, in microseconds since 1970 UTC.
    pub started_us: i64,
    /// Time of each answer, in microseconds since 1970 UTC.
    pub answered_us: Vec<i64>,
    /// Limits of the run.
    pub limits: Limits,
}

impl StepCase {
    /// Creates the script of the case. `limits` is used if the case has no recorded limits.
    pub(super) fn script(&self, limits: Limits) -> RunScript {
        let given = |k: usize, answer: &CaseAnswer| ScriptedAnswer {
            operator: answer.operator.clone(),
            args: answer.args.clone(),
            heard_us: match &self.recorded {
                Some(recorded) => recorded.answered_us.get(k).copied().unwrap_or(recorded.started_us),
                None => START_US + ANSWER_US * (k as i64 + 1),
            },
            answer: answer.answer.clone(),
        };
        let answers = self.answers.iter().enumerate().map(|(k, answer)| given(k, answer)).collect();
        let (context, seed, started_us, limits) = match &self.recorded {
            Some(recorded) => (recorded.context.clone(), recorded.seed, recorded.started_us, recorded.limits),
            None => (self.context(), self.seed(), START_US, limits),
        };
        RunScript {
            operator: self.operator.clone(),
            input: self.input.clone(),
            context,
            seed,
            started_us,
            answers,
            otherwise: None,
            limits,
            loose: false,
            reversed: false,
            restarts_random: false,
            stop_at: None,
            stop_at_read: None,
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

    /// Seed derived from the case alone.
    fn seed(&self) -> [u8; 32] {
        Hash::of(&[b"latch plugin check", self.operator.as_bytes(), &[0], self.input.as_bytes()]).0
    }
}
