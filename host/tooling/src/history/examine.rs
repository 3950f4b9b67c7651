//! Runs a component on the mutations of a history.

use std::sync::Arc;

use latchwork::evidence;
use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::{Engine, LoadError, Plugin};

use crate::history::mutate::{Mutation, MutationKind};
use crate::history::play;
use crate::history::types::{History, HistoryEntry, StepRun};

/// Behaviour of a component on a changed history.
#[derive(Clone, Debug, PartialEq)]
pub enum MutationVerdict {
    /// The component behaves differently from the changed history. Contains the first difference.
    Diverged(Box<Divergence>),
    /// The change affects nothing that a step can observe, so the component was not run.
    Same,
    /// The component behaves exactly as the changed history records. Its behaviour thus does not depend on the changed
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
    /// True if the component behaves like both the original and the changed history, although no deterministic
    /// component can do this ([`History::must_differ`]). In this case the behaviour of the component is not repeatable.
    pub is_missed: bool,
}

impl History {
    /// Mutates the runs that `plugin` serves, and runs the plugin on each mutation. Returns one finding per
    /// mutation.
    ///
    /// # Errors
    /// Returns the first difference if the component behaves differently from the unchanged history.
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
        let own = |entry: &&HistoryEntry| runs.iter().any(|run| run.step_id == entry.step_id);
        let entries = self.entries.iter().filter(own).cloned().collect();
        History { job_id: self.job_id.clone(), runs, entries }
    }
}

/// Loads a component on which histories can be played.
///
/// # Errors
/// Returns every problem if the host cannot run the component.
pub fn load_component(engine: &Engine, component: &[u8], wasi: WasiMode) -> Result<Arc<Plugin>, LoadError> {
    engine.load(component, PluginSettings { wasi, ..evidence::jobless_step_settings("subject") })
}
