//! D064, D073 and D076: runs the case as other jobs, with other clocks, random numbers and ids.

use std::collections::BTreeMap;
use std::ops::Range;

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::Determinism;
use latchwork_engine::Plugin;
use latchwork_engine::guest::runtime_reads::is_of_the_runtime;
use latchwork_engine::guest::step_calls::NondeterminismSource;

use crate::check::dynamic::address;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{FirstDifference, Trace, compare_between_jobs};
use crate::check::finding::Finding;
use crate::check::other_ids::{OTHER_IDS, OtherId};

const SECOND_US: i64 = 1_000_000;
const DAY_US: i64 = 86_400 * SECOND_US;

/// Shifts of the clock, in microseconds. The shifted clocks differ in fraction, second, minute, hour, day, month, year
/// and century.
const SHIFTS_US: [i64; 8] = [
    401 * DAY_US + 12_345_678_901,
    SECOND_US,
    2 * SECOND_US + 1,
    61 * SECOND_US,
    3_661 * SECOND_US,
    DAY_US,
    181 * DAY_US,
    -27 * 365 * DAY_US,
];

/// Names of the clock and of the random numbers in a finding.
const CLOCK: &str = "its clock";
const RANDOM: &str = "its random numbers";

/// Advice of a finding about a pure operator that depends on its job.
const IMPURE_HINT: &str = "declare the determinism class `stable`, or take what differs from the input";

/// Number of other seeds of the random generator. Few seeds could miss a rare difference. For example, only one of six
/// orders of a map in Go may give another result.
const SEEDS: u8 = 32;

/// Number of other seeds if the case runs with another input.
const FEW_SEEDS: u8 = 4;

/// Maximum number of reads of one source for which the check searches the reading function. Each search stops a run at
/// one read.
const READS_MAX: u32 = 16;

/// One value that differs from job to job.
#[derive(Clone, Copy)]
enum JobValue {
    Id(&'static OtherId),
    Clock(i64),
    Seed(u8),
}

impl JobValue {
    fn name(self) -> &'static str {
        match self {
            JobValue::Id((name, _)) => name,
            JobValue::Clock(_) => CLOCK,
            JobValue::Seed(_) => RANDOM,
        }
    }

    /// Replaces the value in a script.
    fn replace(self, script: &mut RunScript) {
        match self {
            JobValue::Id((_, replace)) => replace(&mut script.context),
            JobValue::Clock(shift_us) => {
                script.started_us = script.started_us.saturating_add(shift_us);
                for given in &mut script.answers {
                    given.heard_us = given.heard_us.saturating_add(shift_us);
                }
            }
            JobValue::Seed(number) => script.seed = Hash::of(&[b"another seed", &[number], &script.seed]).0,
        }
    }
}

fn ids() -> impl Iterator<Item = JobValue> {
    OTHER_IDS.iter().map(JobValue::Id)
}

/// Returns another value for each id, for the clock and for the random numbers.
fn all_values() -> impl Iterator<Item = JobValue> {
    ids().chain([JobValue::Clock(SHIFTS_US[0]), JobValue::Seed(0)])
}

/// Runs the case as another job. A pure operator has to do the same, and every other operator must not break.
pub(super) async fn vary_job(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Vec<Finding> {
    let all: Vec<JobValue> = all_values().collect();
    let Some(trace) = runs.run(&script_of(runs, &all), plugin).await else { return vec![] };
    if let Some(finding) = run_end::broken(runs.ran, &trace, "in another job, with another clock and random numbers, ")
    {
        return vec![finding];
    }
    let spec = plugin.operator(&runs.ran.case.operator).expect("cases are of operators that are served");
    if spec.determinism != Determinism::Pure {
        return action_key_finding(runs, &trace).into_iter().collect();
    }
    let differing = compare_between_jobs(&runs.ran.base, &trace);
    // After a difference, each value is varied by itself to find the causes. Without a difference, only a clock and
    // random numbers that the step reads are varied, because they can still cause a rare difference.
    let mut single: Vec<JobValue> = Vec::new();
    if differing.is_some() {
        single.extend(ids());
    }
    if differing.is_some() || runs.ran.base.took_time {
        single.extend(SHIFTS_US.map(JobValue::Clock));
    }
    if differing.is_some() || runs.ran.base.took_chance {
        single.extend((0..SEEDS).map(JobValue::Seed));
    }
    let (mut causes, mut first) = (Vec::new(), None);
    for value in single {
        if causes.contains(&value.name()) {
            continue;
        }
        if let Some(found) = difference(runs, plugin, value).await {
            causes.push(value.name());
            first.get_or_insert(found);
        }
    }
    let difference = first.or(differing);
    match difference {
        Some(difference) => vec![impure(runs, &causes, &difference)],
        None => reads(runs, plugin).await,
    }
}

/// D064 and D073: if the operator of a case declares that it is pure, runs the case with another input as a few other
/// jobs. `usual` contains the number of reads of each source in the run with the case's own input.
pub(super) async fn vary_few(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    usual: &BTreeMap<NondeterminismSource, u32>,
) -> Option<Finding> {
    let spec = plugin.operator(&runs.ran.case.operator).expect("cases are of operators that are served");
    let reads = runs.ran.base.reads.clone();
    if spec.determinism != Determinism::Pure || reads.is_empty() {
        return None;
    }
    let all: Vec<JobValue> = all_values().collect();
    // A larger input can be near a limit. The runtime of Go then passes the limit in some jobs, because its scheduler reads
    // random numbers.
    let compared =
        |base: &Trace, trace: Trace| trace.fault().is_none().then(|| compare_between_jobs(base, &trace)).flatten();
    let trace = runs.run(&script_of(runs, &all), plugin).await?;
    let mut causes = vec![];
    let mut differing = compared(&runs.ran.base, trace);
    for seed in 0..FEW_SEEDS {
        if differing.is_none() && runs.ran.base.took_chance {
            let trace = runs.run(&script_of(runs, &[JobValue::Seed(seed)]), plugin).await?;
            differing = compared(&runs.ran.base, trace);
            causes = vec![RANDOM];
        }
    }
    if let Some(differing) = differing {
        return Some(impure(runs, &causes, &differing));
    }
    let is_more = reads.iter().any(|(source, count)| usual.get(source).is_none_or(|usual| usual < count));
    if is_more { self::reads(runs, plugin).await.into_iter().next() } else { None }
}

/// D076: a call of another job has the operator and the action key of a call of this job, but other arguments.
fn action_key_finding(runs: &PerturbedRuns<'_>, other: &Trace) -> Option<Finding> {
    let base = &runs.ran.base;
    for (name, key, args) in other.keyed_calls() {
        let usual: Vec<_> = base.keyed_calls().filter(|(of, with, _)| (*of, *with) == (name, key)).collect();
        let Some((_, _, expected)) = usual.first() else { continue };
        if usual.iter().all(|(_, _, usual)| *usual != args) {
            let message = format!("another job calls {name} with other arguments under the same action key {key:?}");
            return Some(runs.ran.finding("D076", message).values(expected, args));
        }
    }
    None
}

/// Returns the script of the case in a job with these other values.
fn script_of(runs: &PerturbedRuns<'_>, values: &[JobValue]) -> RunScript {
    let mut script = runs.script_of_other_calls();
    for value in values {
        value.replace(&mut script);
    }
    script
}

/// Returns the first difference of a run in which only this value differs.
async fn difference(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, value: JobValue) -> Option<FirstDifference> {
    let trace = runs.run(&script_of(runs, &[value]), plugin).await?;
    compare_between_jobs(&runs.ran.base, &trace)
}

fn impure(runs: &PerturbedRuns<'_>, causes: &[&str], difference: &FirstDifference) -> Finding {
    let what = match causes {
        [] => "values of its job".to_owned(),
        [cause] => (*cause).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    };
    let is_of_ids = !causes.iter().any(|cause| [CLOCK, RANDOM].contains(cause));
    if is_of_ids
        && let Some(finding) = address::moved(runs.ran, &format!("in a job in which {what} is another one"), difference)
    {
        return finding;
    }
    let message =
        format!("it declares that it is pure but depends on {what}: in another job, {} differs", difference.what);
    let finding = runs.ran.finding("D064", message).values(&difference.expected, &difference.found);
    finding.hint(IMPURE_HINT)
}

/// D073: the sources that a pure operator reads although no run differed, with the function that reads.
async fn reads(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Vec<Finding> {
    let mut found = Vec::new();
    for (source, count) in runs.ran.base.reads.clone() {
        let Some(functions) = reading(runs, plugin, &runs.script(), source, 0..count).await else { continue };
        let what = of_source(source);
        let message = format!("it declares that it is pure but reads {what}; no run showed a difference yet");
        found.push(runs.ran.finding("D073", message).functions(functions));
    }
    found
}

fn of_source(source: NondeterminismSource) -> &'static str {
    match source {
        NondeterminismSource::Clock => "its clock",
        NondeterminismSource::Random => "random numbers",
        NondeterminismSource::Context => "the ids of its job",
    }
}

/// Returns the call stack of the first of these reads of `source` that the language runtime does not make itself.
async fn reading(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    script: &RunScript,
    source: NondeterminismSource,
    reads: Range<u32>,
) -> Option<Vec<String>> {
    for read in reads.take(READS_MAX as usize) {
        let mut script = script.clone();
        script.stop_at_read = Some((source, read));
        let trace = runs.run(&script, plugin).await?;
        if !is_of_the_runtime(&trace.functions) {
            return Some(trace.functions);
        }
    }
    None
}

/// D064 and D073: checks a run with a failed call of a pure operator. The result of the operator must not depend on its
/// job. In this run, the operator must not read more of its job than in the usual run.
///
/// `script` and `failed` belong to the run with the failed call, which `when` describes. A run with more reads than the
/// usual run is always compared with a run in another job. Any other run is compared only if `is_compared` is true.
pub(super) async fn after_failure(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    (script, failed): (&RunScript, &Trace),
    when: &str,
    is_compared: bool,
) -> Option<Finding> {
    let spec = plugin.operator(&runs.ran.case.operator).expect("cases are of operators that are served");
    let usual = |source: NondeterminismSource| runs.ran.base.reads.get(&source).copied().unwrap_or_default();
    let more: Vec<(NondeterminismSource, Range<u32>)> = failed
        .reads
        .iter()
        .map(|(source, count)| (*source, usual(*source)..*count))
        .filter(|(_, reads)| !reads.is_empty())
        .collect();
    if spec.determinism != Determinism::Pure || more.is_empty() && !is_compared {
        return None;
    }
    let mut other = script.clone();
    all_values().for_each(|value| value.replace(&mut other));
    let trace = runs.run(&other, plugin).await?;
    if let Some(differing) = compare_between_jobs(failed, &trace) {
        let message = format!(
            "it declares that it is pure but depends on its job: {when}{} differs in another job",
            differing.what
        );
        let finding = runs.ran.finding("D064", message).values(&differing.expected, &differing.found);
        return Some(finding.hint(IMPURE_HINT));
    }
    for (source, reads) in more {
        if let Some(functions) = reading(runs, plugin, script, source, reads).await {
            let message = format!(
                "it declares that it is pure but, {when}it reads {}; no run showed a difference yet",
                of_source(source)
            );
            return Some(runs.ran.finding("D073", message).functions(functions));
        }
    }
    None
}
