//! Re-executes every step plugin of an evidence file with the recorded answers.

use latchwork_core::evidence::{EvidenceProblem, NotChecked, ProblemKind, Verified};
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::PluginKind;
use latchwork_core::state::{Durable, Step, label};

use super::ComponentDirectory;
use crate::replay;
use crate::replay::ReplayError;

/// A pinned component that the directory does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingComponent {
    /// Name of the plugin when the job was accepted.
    pub plugin: String,
    /// Digest of the component.
    pub digest: Hash,
    /// Operator of the component that a step needs.
    pub operator: Operator,
}

/// Executes each started step of a step plugin again, with the components that the job pinned. Adds the differences to
/// the report. After `max_fuel` units of fuel, no further step begins, and the report lists the steps that are left. The
/// steps of a file from another person could otherwise keep the verifier busy for days.
///
/// # Errors
/// Returns every pinned component that the directory lacks. In this case no step is executed.
pub async fn reexecute(
    components: &ComponentDirectory,
    engine_profile: Hash,
    max_fuel: u64,
    verified: &mut Verified,
) -> Result<(), Vec<MissingComponent>> {
    let Some(durable) = verified.durable.take() else { return Ok(()) };
    let missing = missing(components, &durable);
    if !missing.is_empty() {
        return Err(missing);
    }
    let salts = verified.evidence.salts();
    let (mut skipped, mut left, mut by_machine) = (Vec::new(), Vec::new(), Vec::new());
    let mut fuel: u64 = 0;
    for step in durable.job.steps.iter().filter(|step| is_step(&durable, step)) {
        if let Some(label) = first_withheld_label(&durable, &salts, step) {
            skipped.push(format!("{} ({label})", step.id));
            continue;
        }
        if fuel >= max_fuel {
            left.push(step.id.to_string());
            continue;
        }
        let mut ran = replay::ReplayReport::default();
        let found = replay::replay_step((components, &salts), &durable, &durable.job, step, &mut ran).await;
        verified.report.steps_reexecuted += 1;
        fuel = fuel.saturating_add(ran.fuel);
        by_machine.extend(ran.not_checked.iter().map(ToString::to_string));
        let line = verified.evidence.line_of_step(&step.id);
        let (message, expected, found) = match found {
            Ok(None) => continue,
            Ok(Some(difference)) => {
                let message = format!(
                    "executed again, {} differs: {} of the {}",
                    difference.at, difference.field, difference.what
                );
                (message, difference.recorded, difference.found)
            }
            Err(ReplayError::Log { message, .. } | ReplayError::Plugin(message)) => {
                (format!("{} cannot be executed again", step.id), String::new(), message)
            }
            Err(error @ ReplayError::Missing { .. }) => {
                (format!("{} cannot be executed again", step.id), String::new(), error.to_string())
            }
        };
        verified.report.add(EvidenceProblem { line, kind: ProblemKind::Reexecution, message, expected, found });
    }
    let notes = &mut verified.report.not_checked;
    if !skipped.is_empty() {
        let message =
            format!("steps not executed again, because something they need is withheld: {}", skipped.join(", "));
        notes.push(NotChecked { code: "not_reexecuted", message });
    }
    if !left.is_empty() {
        let message = format!(
            "steps not executed again, because the steps before them used {fuel} units of fuel (--max-fuel {max_fuel}): \
             {}",
            left.join(", ")
        );
        notes.push(NotChecked { code: "not_reexecuted", message });
    }
    if !by_machine.is_empty() {
        let message = format!("steps that ended by a limit of time or stack, here or then: {}", by_machine.join(", "));
        notes.push(NotChecked { code: "machine_limit", message });
    }
    let recorded = durable.job.header.engine_profile;
    if recorded != engine_profile {
        let message = format!("steps ran under engine profile {recorded} then, and under {engine_profile} now");
        notes.push(NotChecked { code: "other_engine_profile", message });
    }
    verified.durable = Some(durable);
    Ok(())
}

fn is_step(durable: &Durable, step: &Step) -> bool {
    let planned = durable.job.plan.step(&step.id);
    let pinned = planned.and_then(|planned| durable.job.pinned(&planned.name));
    step.started_us.is_some() && pinned.is_some_and(|pinned| pinned.kind == PluginKind::Step)
}

fn missing(components: &ComponentDirectory, durable: &Durable) -> Vec<MissingComponent> {
    let mut missing: Vec<MissingComponent> = Vec::new();
    for step in durable.job.steps.iter().filter(|step| is_step(durable, step)) {
        let Some(planned) = durable.job.plan.step(&step.id) else { continue };
        let Some(pinned) = durable.job.pinned(&planned.name) else { continue };
        if !components.has(pinned.digest) && missing.iter().all(|known| known.digest != pinned.digest) {
            let (plugin, operator) = (pinned.plugin.clone(), planned.name.clone());
            missing.push(MissingComponent { plugin, digest: pinned.digest, operator });
        }
    }
    missing
}

/// Returns the label of the first withheld payload that a re-execution of the step needs. Returns `None` if the
/// evidence file withholds no such payload.
pub fn first_withheld_label(durable: &Durable, salts: &latchwork_core::evidence::Salts, step: &Step) -> Option<String> {
    if durable.input(&step.id).is_none() {
        return Some(label::input(&step.id));
    }
    let calls = durable.job.calls_of(&step.id).filter(|(_, _, call)| call.committed);
    for (_, slot, call) in calls {
        if durable.answer(slot).is_none() {
            let try_no = call.finished.as_ref().map_or(0, |finished| finished.try_no);
            return Some(label::answer(slot, try_no));
        }
        if salts.payload_ref(&label::args(slot), b"").is_none() {
            return Some(label::args(slot));
        }
    }
    let output = label::output(&step.id);
    (step.output.is_some() && salts.payload_ref(&output, b"").is_none()).then_some(output)
}
