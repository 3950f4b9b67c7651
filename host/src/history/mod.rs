//! Histories of jobs, for tests by authors of step plugins.
//!
//! A history is read from [evidence](mod@crate::evidence). It contains the host calls that the steps of a real
//! job made, the answers and the outputs. A component that runs again on its history must behave exactly as
//! recorded, because a replay relies on the same behaviour.
//!
//! Mutations test whether a history would reveal a change in the behaviour of a component.
//! [`History::mutations`] changes the history in one place at a time: an entry is dropped, swapped, duplicated
//! or changed. [`History::examine`] runs the component on each changed history and reports whether the
//! behaviour of the component differs from that changed history.
//!
//! ```
//! use latchwork::history::{Entry, History, MutationKind, RecordedEnd, RecordedHostCall, StepRun};
//!
//! let run = StepRun::new("s1", "Letter.Write", r#"{"to":"ada"}"#, RecordedEnd::Output("\"sent\"".into()));
//! let call = |operator: &str| Entry {
//!     step_id: "s1".into(),
//!     host_call: RecordedHostCall::call(operator, r#"{"to":"ada"}"#, Ok("true".into())),
//! };
//! let history = History { job_id: "job_1".into(), runs: vec![run], entries: vec![call("Mail.Find"), call("Mail.Send")] };
//!
//! let mutations: Vec<_> = history.mutations().collect();
//! assert_eq!(mutations[0].description, "the call s1/0 of Mail.Find is left out");
//! let swapped = mutations.iter().find(|mutation| mutation.kind == MutationKind::Swap).unwrap();
//! assert!(history.must_differ(&swapped.history), "a deterministic step makes its calls in the same order again");
//! ```

mod mutate;
mod play;
mod read;

use std::sync::Arc;

use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::keys;
use latchwork_core::model::manifest::{Limits, WasiMode};
use latchwork_core::model::payload::PayloadRef;

use crate::capability::settings::PluginSettings;
use crate::engine::{Engine, LoadError, Plugin};
use crate::evidence;
use crate::guest::sources::StepContext;

pub use mutate::{Mutation, MutationKind};
pub use read::HistoryError;

/// Inputs, host calls and results of the steps of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Id of the job.
    pub job_id: String,
    /// The finished runs of step plugins, in the order of the plan.
    pub runs: Vec<StepRun>,
    /// Host calls of all steps, in the order of the log. The host calls of one step are in the order in which
    /// the step made them.
    pub entries: Vec<Entry>,
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
pub struct Entry {
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
        /// Time to which the answer moved the clock of the step, in microseconds since 1970 UTC.
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

/// Behaviour of a component on a changed history.
#[derive(Clone, Debug, PartialEq)]
pub enum MutationVerdict {
    /// The component behaves differently from the changed history. Contains the first difference.
    Diverged(Box<Divergence>),
    /// No step can notice the change, so no difference is possible.
    Same,
    /// The component behaves exactly as in the changed history, so the behaviour does not depend on the changed
    /// part.
    Independent,
}

/// Result of one mutation.
#[derive(Clone, Debug, PartialEq)]
pub struct MutationFinding {
    /// Description of the change.
    pub description: String,
    /// Kind of the change.
    pub kind: MutationKind,
    /// Behaviour of the component on the changed history.
    pub verdict: MutationVerdict,
    /// True if every deterministic component would differ from the changed history, but this component did not.
    /// The behaviour of this component is then not repeatable.
    pub is_missed: bool,
}

impl History {
    /// Reads the history from an exported evidence file (`latch job export`).
    ///
    /// # Errors
    /// The file is not evidence, was tampered with, or withholds data that a run needs.
    pub fn read(file: &[u8]) -> Result<Self, HistoryError> {
        read::read(file)
    }

    /// Returns the host calls of one step, in order.
    pub fn host_calls_of<'h>(&'h self, step_id: &'h str) -> impl Iterator<Item = &'h RecordedHostCall> {
        self.entries.iter().filter(move |entry| entry.step_id == step_id).map(|entry| &entry.host_call)
    }

    /// Returns all mutations of the history. Each mutation changes a single part. Entries are dropped,
    /// duplicated, or swapped with the next entry. Operators, arguments, answers, times, events, inputs and
    /// outputs are changed.
    pub fn mutations(&self) -> impl Iterator<Item = Mutation> + '_ {
        mutate::all_mutations(self)
    }

    /// Returns true if a deterministic component that behaves like this history cannot behave like `other`.
    /// This is the case if the histories differ in a host call or a result after equal inputs and answers.
    pub fn must_differ(&self, other: &History) -> bool {
        self.runs.len() != other.runs.len()
            || self.runs.iter().zip(&other.runs).any(|runs| play::must_differ((self, other), runs))
    }

    /// Executes again the runs whose operators `plugin` serves, and returns the first difference. No tool is
    /// called, because the history answers all tool calls.
    pub async fn play(&self, plugin: &Plugin) -> Option<Divergence> {
        for run in self.runs.iter().filter(|run| plugin.operator(&run.operator).is_some()) {
            let found = play::run(self, run, plugin).await;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Mutates the runs that `plugin` serves, and runs the plugin on each mutation. Returns one finding per
    /// mutation.
    ///
    /// # Errors
    /// The component behaves differently from the unchanged history. Contains the first difference.
    pub async fn examine(&self, plugin: &Plugin) -> Result<Vec<MutationFinding>, Box<Divergence>> {
        let own = self.served_by(plugin);
        if let Some(divergence) = own.play(plugin).await {
            return Err(Box::new(divergence));
        }
        let mut findings = Vec::new();
        for Mutation { kind, description, history } in own.mutations() {
            let verdict = if play::is_same(&own, &history) {
                MutationVerdict::Same
            } else {
                match history.play(plugin).await {
                    Some(divergence) => MutationVerdict::Diverged(Box::new(divergence)),
                    None => MutationVerdict::Independent,
                }
            };
            let is_missed = verdict == MutationVerdict::Independent && own.must_differ(&history);
            findings.push(MutationFinding { description, kind, verdict, is_missed });
        }
        Ok(findings)
    }

    /// Returns the part of the history that belongs to the operators of a plugin.
    fn served_by(&self, plugin: &Plugin) -> History {
        let serves = |run: &&StepRun| plugin.operator(&run.operator).is_some();
        let runs: Vec<_> = self.runs.iter().filter(serves).cloned().collect();
        let own = |entry: &&Entry| runs.iter().any(|run| run.step_id == entry.step_id);
        let entries = self.entries.iter().filter(own).cloned().collect();
        History { job_id: self.job_id.clone(), runs, entries }
    }
}

/// Loads a component on which histories can be played.
///
/// # Errors
/// The host cannot run the component. Contains every problem.
pub fn load_component(engine: &Engine, component: &[u8], wasi: WasiMode) -> Result<Arc<Plugin>, LoadError> {
    engine.load(component, PluginSettings { wasi, ..evidence::jobless_step_settings("subject") })
}
