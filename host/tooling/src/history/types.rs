//! The data of a history.

use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::keys;
use latchwork_core::model::manifest::{Limits, WasiMode};
use latchwork_core::model::payload::PayloadRef;
use latchwork_engine::guest::sources::StepContext;

/// Inputs, host calls and results of the steps of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Id of the job.
    pub job_id: String,
    /// The finished runs of step plugins, in the order of the plan.
    pub runs: Vec<StepRun>,
    /// Host calls of all steps, in the order of the log. The host calls of one step are in the order in which
    /// the step made them.
    pub entries: Vec<HistoryEntry>,
}

impl History {
    /// Returns the host calls of one step, in order.
    pub fn host_calls_of<'h>(&'h self, step_id: &'h str) -> impl Iterator<Item = &'h RecordedHostCall> {
        self.entries.iter().filter(move |entry| entry.step_id == step_id).map(|entry| &entry.host_call)
    }
}

/// One run of a step plugin: its inputs and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRun {
    /// Id of the step.
    pub step_id: String,
    /// Operator that the step runs.
    pub operator: String,
    /// Digest of the component that ran.
    pub digest: Hash,
    /// WASI mode of the run.
    pub wasi: WasiMode,
    /// Limits of the run.
    pub limits: Limits,
    /// Input, as JSON text.
    pub input: String,
    /// Context of the job that the step can read.
    pub context: StepContext,
    /// Seed of the random numbers.
    pub seed: [u8; 32],
    /// Start time, in microseconds since 1970 UTC.
    pub started_us: i64,
    /// Result of the run.
    pub end: RecordedEnd,
}

impl StepRun {
    /// Creates a run that started in 1970, with a zero seed and default limits.
    pub fn new(step_id: &str, operator: &str, input: &str, end: RecordedEnd) -> Self {
        Self {
            step_id: step_id.into(),
            operator: operator.into(),
            digest: Hash::default(),
            wasi: WasiMode::None,
            limits: Limits::default(),
            input: input.into(),
            context: StepContext { step_id: step_id.into(), ..StepContext::default() },
            seed: [0; 32],
            started_us: 0,
            end,
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedEnd {
    /// Output, as JSON text.
    Output(String),
    /// Failure with this code.
    Failed(Code),
}

/// One host call of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// Id of the step that made the host call.
    pub step_id: String,
    /// The host call and, for a tool call, its answer.
    pub host_call: RecordedHostCall,
}

/// A host call of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedHostCall {
    /// A tool call.
    Call {
        /// Operator that was called.
        operator: String,
        /// Arguments of the call.
        args: Args,
        /// Hash of the action key. `None` if the log records no action key.
        action_key: Option<Hash>,
        /// Answer to the call. A result is JSON text.
        answer: Result<String, Failure>,
        /// Time of the step's clock after the answer, in microseconds since 1970 UTC.
        time_us: i64,
    },
    /// An emitted event.
    Event {
        /// Name of the event.
        name: String,
        /// Payload as the step passed it.
        payload: String,
    },
}

impl RecordedHostCall {
    /// Creates a call with its answer, at time 0.
    pub fn call(operator: &str, args: &str, answer: Result<String, Failure>) -> Self {
        RecordedHostCall::Call {
            operator: operator.into(),
            args: Args::Text(args.into()),
            action_key: None,
            answer,
            time_us: 0,
        }
    }
}

/// Arguments of a call, as far as the log contains them.
#[derive(Clone, Debug, PartialEq)]
pub enum Args {
    /// Canonical JSON text.
    Text(String),
    /// Salted hash of the arguments. For calls that change nothing in the world, the log contains only the
    /// hash.
    Hashed {
        /// Salt that is hashed before the text.
        salt: Hash,
        /// Hash and length of the canonical text.
        reference: PayloadRef,
    },
}

impl Args {
    /// Returns true if the arguments equal this canonical text.
    pub fn equals(&self, canonical: &str) -> bool {
        match self {
            Args::Text(text) => text == canonical,
            Args::Hashed { salt, reference } => {
                keys::payload_ref_from_salt(salt, canonical.as_bytes()) == Some(*reference)
            }
        }
    }
}

impl std::fmt::Display for Args {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Args::Text(text) => f.write_str(text),
            Args::Hashed { reference, .. } => write!(f, "salted hash {}", reference.hash),
        }
    }
}
