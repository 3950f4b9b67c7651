//! Histories of jobs, for the tests of whoever writes a step plugin.
//!
//! A history is what the steps of a real job asked for, what they were answered, and what came of
//! it, read from [evidence](mod@crate::evidence). Played on a component, it must fit: that is what a
//! replay relies on. Whether a test with a history would notice anything at all is tried by
//! changing it: [`History::mutations`] drops, swaps, duplicates and changes entries one at a time,
//! and [`History::examine`] says of each whether the component was seen to differ from it.
//!
//! ```
//! use latchwork::history::{Asked, End, Entry, History, Kind, StepRun};
//!
//! let run = StepRun::new("s1", "Letter.Write", r#"{"to":"ada"}"#, End::Output("\"sent\"".into()));
//! let call = |operator: &str| Entry {
//!     step_id: "s1".into(),
//!     asked: Asked::call(operator, r#"{"to":"ada"}"#, Ok("true".into())),
//! };
//! let history = History { job_id: "job_1".into(), runs: vec![run], entries: vec![call("Mail.Find"), call("Mail.Send")] };
//!
//! let mutations: Vec<_> = history.mutations().collect();
//! assert_eq!(mutations[0].description, "the call s1/0 of Mail.Find is left out");
//! let swapped = mutations.iter().find(|mutation| mutation.kind == Kind::Swap).unwrap();
//! assert!(history.must_differ(&swapped.history), "a step that asked the one first asks it first again");
//! ```

mod mutate;
mod play;
mod read;

use std::sync::Arc;

use latchwork_core::error::{Code, Failure};
use latchwork_core::event::PayloadRef;
use latchwork_core::ids::Hash;
use latchwork_core::keys;
use latchwork_core::manifest::{Limits, WasiMode};
use latchwork_core::replay::Divergence;

use crate::engine::{Engine, LoadError, Plugin, PluginSettings, StepContext};
use crate::evidence;

pub use mutate::{Kind, Mutation};
pub use read::HistoryError;

/// What the steps of a job saw and did.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The job.
    pub job_id: String,
    /// The finished runs of step plugins, in the order of the plan.
    pub runs: Vec<StepRun>,
    /// What they asked for, in the order of the log; of one step, in the order it asked.
    pub entries: Vec<Entry>,
}

/// One run of a step plugin: what it was given, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRun {
    /// The step.
    pub step_id: String,
    /// The operator it runs.
    pub operator: String,
    /// The component that ran.
    pub digest: Hash,
    /// The WASI it was given.
    pub wasi: WasiMode,
    /// Its limits.
    pub limits: Limits,
    /// Its input: JSON text.
    pub input: String,
    /// What it is told of its job.
    pub context: StepContext,
    /// Seed of its random numbers.
    pub seed: [u8; 32],
    /// When it started: microseconds since 1970 UTC.
    pub started_us: i64,
    /// What came of it.
    pub end: End,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// An output: JSON text.
    Output(String),
    /// A failure with this code.
    Failed(Code),
}

/// Something that a step asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Which step.
    pub step_id: String,
    /// What.
    pub asked: Asked,
}

/// What a step asks of its host.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A tool call.
    Call {
        /// The operator.
        operator: String,
        /// Its arguments.
        args: Args,
        /// The action it named, hashed; none where it did not matter.
        action_key: Option<Hash>,
        /// What was answered: JSON text.
        answer: Result<String, Failure>,
        /// When: what the step's clock moved to.
        time_us: i64,
    },
    /// An announced event.
    Event {
        /// Its name.
        name: String,
        /// Its payload, as it was given.
        payload: String,
    },
}

/// Arguments of a call, as far as the log keeps them.
#[derive(Clone, Debug, PartialEq)]
pub enum Args {
    /// Canonical JSON text.
    Text(String),
    /// Of calls that change nothing the log has no more than this.
    Hashed {
        /// What goes into the hash before them.
        salt: Hash,
        /// Hash and length of the canonical text.
        reference: PayloadRef,
    },
}

impl Args {
    /// Whether they are these, in canonical form.
    pub fn are(&self, canonical: &str) -> bool {
        match self {
            Args::Text(text) => text == canonical,
            Args::Hashed { salt, reference } => keys::salted_ref(salt, canonical.as_bytes()) == Some(*reference),
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

impl Asked {
    /// A call with its answer, at no particular time.
    pub fn call(operator: &str, args: &str, answer: Result<String, Failure>) -> Self {
        Asked::Call { operator: operator.into(), args: Args::Text(args.into()), action_key: None, answer, time_us: 0 }
    }
}

impl StepRun {
    /// A run that began in 1970 with an empty seed and default limits.
    pub fn new(step_id: &str, operator: &str, input: &str, end: End) -> Self {
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

/// What a component does on a changed history.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Something else than the history says: the first difference.
    Diverged(Box<Divergence>),
    /// No step sees or did anything else by the change: there is nothing to be found.
    Same,
    /// Exactly what the changed history says: what was changed is nothing that the component depends on.
    Independent,
}

/// What became of one mutation.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was changed.
    pub description: String,
    /// How.
    pub kind: Kind,
    /// What the component does on it.
    pub verdict: Verdict,
    /// The component must have differed and did not: it does not do the same twice.
    pub is_missed: bool,
}

impl History {
    /// The history in an exported evidence file (`latch job export`).
    ///
    /// # Errors
    /// It is no evidence, was tampered with, or withholds what a run needs.
    pub fn read(file: &[u8]) -> Result<Self, HistoryError> {
        read::read(file)
    }

    /// What one step asked for, in order.
    pub fn asked_by<'h>(&'h self, step_id: &'h str) -> impl Iterator<Item = &'h Asked> {
        self.entries.iter().filter(move |entry| entry.step_id == step_id).map(|entry| &entry.asked)
    }

    /// Every change of one thing, each with the history it makes: entries dropped, swapped with the
    /// next, duplicated; operators, arguments, answers, times, events, inputs and outputs changed.
    pub fn mutations(&self) -> impl Iterator<Item = Mutation> + '_ {
        mutate::all(self)
    }

    /// Whether a deterministic component that does what this history says cannot do what the other
    /// one says: up to where they ask for different things, it has seen the same.
    pub fn must_differ(&self, other: &History) -> bool {
        self.runs.len() != other.runs.len()
            || self.runs.iter().zip(&other.runs).any(|runs| play::must_differ((self, other), runs))
    }

    /// Plays the runs whose operators `plugin` serves; the first difference, if there is one. Nothing
    /// but the plugin is run: tools are answered for by the history.
    pub async fn play(&self, plugin: &Plugin) -> Option<Divergence> {
        for run in self.runs.iter().filter(|run| plugin.operator(&run.operator).is_some()) {
            let found = play::run(self, run, plugin).await;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Plays every mutation of what `plugin` took part in.
    ///
    /// # Errors
    /// The history does not fit as it is: the first difference.
    pub async fn examine(&self, plugin: &Plugin) -> Result<Vec<Finding>, Box<Divergence>> {
        let own = self.served_by(plugin);
        if let Some(divergence) = own.play(plugin).await {
            return Err(Box::new(divergence));
        }
        let mut findings = Vec::new();
        for Mutation { kind, description, history } in own.mutations() {
            let verdict = if play::is_same(&own, &history) {
                Verdict::Same
            } else {
                match history.play(plugin).await {
                    Some(divergence) => Verdict::Diverged(Box::new(divergence)),
                    None => Verdict::Independent,
                }
            };
            let is_missed = verdict == Verdict::Independent && own.must_differ(&history);
            findings.push(Finding { description, kind, verdict, is_missed });
        }
        Ok(findings)
    }

    /// The part of it that a plugin's operators had.
    fn served_by(&self, plugin: &Plugin) -> History {
        let serves = |run: &&StepRun| plugin.operator(&run.operator).is_some();
        let runs: Vec<_> = self.runs.iter().filter(serves).cloned().collect();
        let own = |entry: &&Entry| runs.iter().any(|run| run.step_id == entry.step_id);
        let entries = self.entries.iter().filter(own).cloned().collect();
        History { job_id: self.job_id.clone(), runs, entries }
    }
}

/// Loads a component to play histories on.
///
/// # Errors
/// It is none that this host runs: everything that is wrong with it.
pub fn subject(engine: &Engine, component: &[u8], wasi: WasiMode) -> Result<Arc<Plugin>, LoadError> {
    engine.load(component, PluginSettings { wasi, ..evidence::settings("subject") })
}
