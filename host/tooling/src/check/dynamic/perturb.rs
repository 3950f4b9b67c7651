//! Runs the same case under different hosts: D062, D064, D066, D067, D070, D071.

use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::Determinism;
use latchwork_engine::Plugin;

use crate::check::dynamic::baseline::host_difference;
use crate::check::dynamic::loaded_variants::LoadedVariants;
use crate::check::dynamic::memory_layout::EXTRA_MEMORY_BYTES;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::run_end;
use crate::check::dynamic::trace::{RunEnd, Trace, compare_behaviour, compare_with_usage};
use crate::check::finding::Finding;

/// Shift of the clock, in microseconds: more than a year and not a whole number of days.
const SHIFT_US: i64 = 401 * 86_400_000_000 + 12_345_678_901;
/// Factor by which the latency of tools is multiplied.
const LATENCY_FACTOR: i64 = 149;
/// Maximum number of calls of a case at which a crash is simulated.
const CRASHES_MAX: usize = 100;

/// Runs the case under all alternative hosts.
pub(super) async fn all_variations(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    loaded: &LoadedVariants,
) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(vary_host(runs, plugin, loaded).await);
    found.extend(vary_memory_layout(runs, loaded).await);
    found.extend(simulate_crashes(runs, plugin).await);
    found.extend(vary_job(runs, plugin).await);
    // The second run in one instance is skipped if there are findings. It could report a known difference again, such
    // as a dependency on the memory layout.
    if found.is_empty() {
        found.extend(rerun_in_instance(runs, plugin).await);
    }
    found.extend(vary_latency(runs, plugin).await);
    found
}

/// Runs the case a second time, and with other memory, half the stack, a lower memory limit, or answers in reverse
/// order. Returns at most one finding, because the same defect appears in several of these runs.
async fn vary_host(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, loaded: &LoadedVariants) -> Option<Finding> {
    let script = runs.script();
    let mut tight = script.clone();
    // Limits the memory to the size that the usual run needed. A deterministic step needs the same size in every run.
    tight.limits.memory_bytes = runs.ran.base.memory_bytes;
    let mut reversed = script.clone();
    reversed.reversed = true;
    let usual = Some(plugin);
    let hosts = [
        ("run a second time", usual, &script),
        ("with an instance of its own memory and half the stack", loaded.apart.as_deref(), &script),
        ("with no more memory than it used", usual, &tight),
        ("with concurrent calls answered in reverse order", usual, &reversed),
    ];
    for (host, plugin, script) in hosts {
        let Some(plugin) = plugin else { continue };
        let trace = runs.run(script, plugin).await?;
        match trace.fault_code() {
            Some(Code::WallClockLimit) => continue,
            Some(Code::StackOverflow) => {
                let message = format!("{host}, it recurses too deeply: the usual stack is almost used up");
                return Some(runs.ran.finding("D062", message).functions(trace.functions));
            }
            _ => {}
        }
        if let Some(parting) = compare_with_usage(&runs.ran.base, &trace) {
            return Some(host_difference(runs.ran, host, &parting, &trace));
        }
    }
    None
}

/// D070: changes the memory layout and fills memory that was never written.
async fn vary_memory_layout(runs: &mut PerturbedRuns<'_>, loaded: &LoadedVariants) -> Option<Finding> {
    let moved = loaded.moved.as_deref()?;
    let mut script = runs.script();
    // Raises the limits. The changed layout may change the seed of a hash map and with it the amount of fuel, and an
    // allocator may need more pages.
    script.limits.fuel = script.limits.fuel.saturating_mul(2);
    script.limits.memory_bytes = script.limits.memory_bytes.saturating_add(EXTRA_MEMORY_BYTES);
    let trace = runs.run(&script, moved).await?;
    let parting = compare_behaviour(&runs.ran.base, &trace)?;
    let message = format!("with its stack and heap moved in its memory, {} differs", parting.what);
    let finding = runs.ran.finding("D070", message).values(&parting.expected, &parting.found);
    let hint = "look for an address in a result, the order of a hash map, or memory that is read before it is written";
    Some(finding.functions(trace.functions).hint(hint))
}

/// D071: a second run in the instance of the first run. A real host never reuses an instance.
async fn rerun_in_instance(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let spec = plugin.operator(&runs.ran.case.operator)?;
    // A second run draws other random numbers and may thus give another result. The runs are therefore compared only if
    // the step used no random numbers or is declared pure.
    if runs.ran.base.took_chance && spec.determinism != Determinism::Pure {
        return None;
    }
    let mut script = runs.script();
    script.limits.host_calls = script.limits.host_calls.saturating_mul(2);
    script.limits.memory_bytes = script.limits.memory_bytes.saturating_mul(2);
    script.limits.output_bytes = script.limits.output_bytes.saturating_mul(2);
    let trace = runs.run_twice(&script, plugin).await?;
    if trace.fault().is_some() {
        // Many language runtimes support only one call per instance.
        return None;
    }
    let parting = compare_behaviour(&runs.ran.base, &trace)?;
    let message = format!("run again in the same instance, {} differs: the instance keeps state", parting.what);
    let finding = runs.ran.finding("D071", message).values(&parting.expected, &parting.found);
    Some(finding.hint("each run begins in a new instance: pass on in the output what a later step needs"))
}

/// D066: simulates a crash of the worker at each call, and a resume from the recorded answers.
async fn simulate_crashes(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    let calls = runs.ran.base.calls().count();
    for k in 0..calls.min(CRASHES_MAX) {
        let mut dying = runs.script();
        dying.stop_at = Some(k);
        let before = runs.run(&dying, plugin).await?;
        let resumed = runs.run(&runs.script(), plugin).await?;
        let base = &runs.ran.base;
        let known = before.asked.len().min(base.asked.len());
        let prefix = Trace { asked: base.asked[..known].to_vec(), ended: RunEnd::Stopped, ..base.clone() };
        let parting = compare_behaviour(&prefix, &before).or_else(|| compare_with_usage(base, &resumed));
        if let Some(parting) = parting {
            return Some(host_difference(runs.ran, &format!("resumed after a crash at call {k}"), &parting, &resumed));
        }
    }
    None
}

/// D064: runs the case as another job with another clock, other random numbers and other ids.
async fn vary_job(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Vec<Finding> {
    let mut script = runs.script();
    script.expected = None;
    script.loose = true;
    script.started_us = script.started_us.saturating_add(SHIFT_US);
    for given in &mut script.answers {
        given.heard_us = given.heard_us.saturating_add(SHIFT_US);
    }
    script.seed = Hash::of(&[b"another seed", &script.seed]).0;
    script.context.job_id = "job_01JZZZZZZZZZZZZZZZZZZZZZZZ".into();
    script.context.correlation_id = "cor_01JZZZZZZZZZZZZZZZZZZZZZZZ".into();
    for (given, (operator, args)) in script.answers.iter_mut().zip(runs.ran.base.calls()) {
        given.operator.get_or_insert_with(|| operator.clone());
        given.args.get_or_insert_with(|| args.clone());
    }
    let Some(trace) = runs.run(&script, plugin).await else { return vec![] };
    if let Some(finding) =
        run_end::host_fault(runs.ran, &trace, "in another job, with another clock and random numbers, ")
    {
        return vec![finding];
    }
    let spec = plugin.operator(&runs.ran.case.operator).expect("cases are of operators that are served");
    let parting = compare_behaviour(&runs.ran.base, &trace).filter(|_| spec.determinism == Determinism::Pure);
    let Some(parting) = parting else { return vec![] };
    let what = match (runs.ran.base.took_time, runs.ran.base.took_chance) {
        (true, true) => "its clock and random numbers",
        (true, false) => "its clock",
        (false, true) => "its random numbers",
        (false, false) => "the ids of its job",
    };
    let message =
        format!("it declares that it is pure but depends on {what}: in another job, {} differs", parting.what);
    let finding = runs.ran.finding("D064", message).values(&parting.expected, &parting.found);
    vec![finding.hint("declare the determinism class `stable`, or take what differs from the input")]
}

/// D066 and D067: runs the case with slower tools.
async fn vary_latency(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<Finding> {
    // Skips steps without calls, because slower tools cannot change their runs.
    runs.ran.base.calls().next()?;
    let took_time = runs.ran.base.took_time;
    let mut script = runs.script();
    if took_time {
        script.expected = None;
        script.loose = true;
    }
    for (given, (operator, args)) in script.answers.iter_mut().zip(runs.ran.base.calls()) {
        let after = given.heard_us.saturating_sub(script.started_us);
        given.heard_us = script.started_us.saturating_add(after.saturating_mul(LATENCY_FACTOR));
        given.operator.get_or_insert_with(|| operator.clone());
        given.args.get_or_insert_with(|| args.clone());
    }
    let host = "with tools that take longer";
    let trace = runs.run(&script, plugin).await?;
    if !took_time {
        let parting = compare_with_usage(&runs.ran.base, &trace)?;
        return Some(host_difference(runs.ran, host, &parting, &trace));
    }
    // Compares only the sequence of called tools. Values derived from the time may differ between the two runs.
    let called = |trace: &Trace| trace.calls().map(|(operator, _)| operator.clone()).collect::<Vec<_>>();
    let (usual, slow) = (called(&runs.ran.base), called(&trace));
    if usual == slow || trace.fault().is_some() {
        return None;
    }
    let finding = runs.ran.finding("D067", format!("{host}, it calls other tools"));
    let finding = finding.values(&usual.join(", "), &slow.join(", "));
    Some(finding.hint("let the host wait: the limits of a tool and `retry` in the plan say how long"))
}
