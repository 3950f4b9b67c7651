//! Runs the steps of histories again on the checked build.

use std::sync::Arc;

use latchwork::evidence::first_withheld_label;
use latchwork::replay;
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{PluginKind, WasiMode};
use latchwork_core::model::step::StepState;
use latchwork_core::state::{Durable, Step};
use latchwork_engine::{PinnedComponents, Plugin, Runnable};

use crate::check::dynamic::StepCase;
use crate::check::finding::Finding;
use crate::check::history::verified::VerifiedHistory;
use crate::check::history::{cases, divergence};
use crate::check::report::{CheckReport, HistoryRun};
use crate::check::rule::RuleKind;

/// Maximum number of steps per operator that are made into cases. Cases also run under other hosts. Replay has no such
/// limit and covers every step.
const CASES_OF_AN_OPERATOR: usize = 10;

/// Source of components for a replay. Returns the checked build for every digest, in place of the build that the job
/// pinned.
struct ThisBuild(Arc<Plugin>);

impl PinnedComponents for ThisBuild {
    fn by_digest(&self, _: Hash, _: WasiMode) -> Result<Arc<dyn Runnable>, String> {
        Ok(self.0.clone())
    }
}

/// Replays every step whose operator this plugin serves, in all histories. Returns cases made from the steps that did
/// not diverge.
pub(crate) async fn run(
    plugin: &Arc<Plugin>,
    reads: &[VerifiedHistory<'_>],
    engine_profile: Hash,
    report: &mut CheckReport,
) -> Vec<StepCase> {
    if reads.is_empty() {
        report.mark_not_checked(RuleKind::History, "there are no histories (--history)");
        return vec![];
    }
    report.mark_checked(RuleKind::History);
    let mut cases: Vec<StepCase> = Vec::new();
    for read in reads {
        let made = check_history(plugin, read, engine_profile, report).await;
        for case in made {
            let known = cases.iter().filter(|known| known.operator == case.operator).count();
            if known < CASES_OF_AN_OPERATOR {
                cases.push(case);
            }
        }
    }
    cases
}

async fn check_history(
    plugin: &Arc<Plugin>,
    read: &VerifiedHistory<'_>,
    engine_profile: Hash,
    report: &mut CheckReport,
) -> Vec<StepCase> {
    let Some(durable) = &read.verified.durable else { return vec![] };
    let job = durable.job.header.job_id.to_string();
    let mut run = HistoryRun { file: read.file.to_owned(), job, steps: 0, diverged: 0 };
    let mut cases = Vec::new();
    let gone = missing_operators(plugin, read);
    let mut is_ours = !gone.is_empty();
    report.add(gone);
    for step in &durable.job.steps {
        let Some(operator) = served_operator(plugin, durable, step) else { continue };
        is_ours = true;
        match check_step(plugin, read, durable, step, &operator, &mut run).await {
            Ok(()) => cases.extend(cases::case_of_step(read, durable, step, &operator)),
            Err(finding) => report.add([*finding]),
        }
    }
    if !is_ours {
        let message =
            format!("no step of {} was run by this plugin: none is of its operators, or all were reused", run.job);
        report.add([Finding::new("D155", read.file, message)]);
    }
    if durable.job.header.engine_profile != engine_profile {
        let note = format!("{}: its steps ran under another engine profile than this program's", read.file);
        report.notes.push(note);
    }
    report.histories.push(run);
    cases
}

/// Returns the operator of a step if the step started and this plugin serves the operator.
fn served_operator(plugin: &Plugin, durable: &Durable, step: &Step) -> Option<Operator> {
    let planned = durable.job.plan.step(&step.id)?;
    let pinned = durable.job.pinned(&planned.name)?;
    let is_ours = pinned.kind == PluginKind::Step && plugin.operator(planned.name.as_str()).is_some();
    (is_ours && step.started_us.is_some()).then(|| planned.name.clone())
}

/// D153: reports operators that this build does not serve, although the job pinned them from a plugin of the same name.
fn missing_operators(plugin: &Plugin, read: &VerifiedHistory<'_>) -> Vec<Finding> {
    let header = read.verified.evidence.header();
    let plugins = header.into_iter().flat_map(|header| &header.plugins).filter(|record| record.plugin == plugin.name);
    let operators = plugins.flat_map(|record| &record.operators);
    let gone = operators.filter(|operator| plugin.operator(operator.as_str()).is_none());
    let finding = |operator: &Operator| {
        let message = format!("the job runs {operator}, which this build does not serve");
        Finding::new("D153", read.file, message)
            .of(operator.as_str())
            .hint("keep the operator, or keep the old build for the jobs that pinned it")
    };
    gone.map(finding).collect()
}

async fn check_step(
    plugin: &Arc<Plugin>,
    read: &VerifiedHistory<'_>,
    durable: &Durable,
    step: &Step,
    operator: &Operator,
    run: &mut HistoryRun,
) -> Result<(), Box<Finding>> {
    let salts = read.verified.evidence.salts();
    let finding = |rule: &str, message: String| {
        let finding = Finding::new(rule, read.file, message).of(operator.as_str());
        finding.case(format!("{}/{}", run.job, step.id)).at(read.verified.evidence.line_of_step(&step.id))
    };
    if let Some(label) = first_withheld_label(durable, &salts, step) {
        let message = format!("{} was not run again: {label} is withheld in the file", step.id);
        return Err(Box::new(finding("D154", message).hint("export the job with its payloads")));
    }
    let input = durable.input(&step.id).unwrap_or_default();
    let refused =
        serde_json::from_slice(&input).ok().and_then(|value| plugin.check_input(operator.as_str(), &value).err());
    if let (Some(failure), StepState::Succeeded) = (refused, step.state) {
        let message = format!("this build's schema refuses the recorded input of {}: {}", step.id, failure.message);
        let hint = "for the sake of running jobs, a schema may get wider but never narrower";
        run.diverged += 1;
        return Err(Box::new(finding("D153", message).hint(hint)));
    }
    let mut ran = replay::ReplayReport::default();
    let build = ThisBuild(plugin.clone());
    let found = replay::replay_step((&build, &salts), durable, &durable.job, step, &mut ran).await;
    let found =
        match found {
            Ok(None) => None,
            Ok(Some(divergence)) => {
                let description = divergence::describe_divergence(durable, &divergence);
                let finding =
                    finding(description.rule, description.message).values(&description.expected, &description.found);
                Some(finding.functions(ran.functions).hint(
                    "keep the old build for the jobs that pinned it, or fork them: this build behaves differently",
                ))
            }
            Err(error) => Some(finding("D154", format!("{} was not run again: {error}", step.id))),
        };
    run.steps += ran.step_runs;
    match found {
        None => Ok(()),
        Some(finding) => {
            run.diverged += u64::from(finding.rule != "D154");
            Err(Box::new(finding))
        }
    }
}
