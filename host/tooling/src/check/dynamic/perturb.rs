//! Runs the same case under different hosts: D062, D066, D067, D070, D071, D074.

use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::Determinism;
use latchwork_engine::Plugin;
use latchwork_engine::guest::step_calls::NondeterminismSource;

use crate::check::dynamic::address;
use crate::check::dynamic::baseline::host_difference;
use crate::check::dynamic::loaded_variants::LoadedVariants;
use crate::check::dynamic::memory_layout::with_more_room;
use crate::check::dynamic::other_job;
use crate::check::dynamic::other_times;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{
    FirstDifference, RunEnd, Trace, compare_behaviour, compare_between_jobs, compare_with_usage,
};
use crate::check::finding::Finding;
use crate::check::rule::Severity;

/// Factor by which the latency of tools is multiplied.
const LATENCY_FACTOR: i64 = 149;
/// Number of spaces after the input, which moves the objects that are allocated after it.
const INPUT_PADDING_BYTES: usize = 5_000;
/// Number of runs in one instance. There are more than two, because the effect of kept state may appear late.
const RUNS_IN_INSTANCE: usize = 4;
/// Number of other seeds that are tried to find out if a random generator is the cause of a difference. The result must
/// differ for one of them. An event that one in twenty seeds causes is then seen in 64 of 100 cases.
const OTHER_SEEDS: u8 = 20;
/// Times in microseconds by which reads of a language runtime may shift the clock of a later run.
const SHORT_TIMES_US: [i64; 4] = [1, 7, 100, 5_000];
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
    if !found.iter().any(|finding| finding.rule == "D074") {
        found.extend(pad_input(runs, plugin, loaded).await);
    }
    found.extend(simulate_crashes(runs, plugin).await);
    let has_address = found.iter().any(|finding| finding.rule == "D074");
    // After a finding about an address, D064 is left out. The address also differs in another job, so D064 would report
    // the same defect.
    let of_jobs = other_job::vary_job(runs, plugin).await;
    found.extend(of_jobs.into_iter().filter(|finding| !has_address || finding.rule != "D064"));
    // The runs in one instance are skipped if there are findings. These runs could report a known difference again,
    // such as a dependency on the memory layout.
    if found.iter().all(|finding| finding.severity == Severity::Warning) {
        found.extend(rerun(runs, plugin, loaded.has_runtime).await);
    }
    found.extend(vary_latency(runs, plugin).await);
    // A step that broke in an earlier run would also break at another time, so these runs are skipped, too.
    if found.iter().all(|finding| finding.severity == Severity::Warning) {
        found.extend(other_times::vary_times(runs, plugin).await);
    }
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
            Some(Code::WallClockLimit | Code::MachineFault) => continue,
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
pub(super) async fn vary_memory_layout(runs: &mut PerturbedRuns<'_>, loaded: &LoadedVariants) -> Option<Finding> {
    let mut script = runs.script();
    script.limits = with_more_room(&script.limits);
    for moved in &loaded.moved {
        let trace = runs.run(&script, moved).await?;
        let Some(parting) = compare_behaviour(&runs.ran.base, &trace) else { continue };
        if let Some(finding) = address::moved(runs.ran, "with its stack and heap moved in its memory", &parting) {
            return Some(finding.functions(trace.functions));
        }
        let message = format!("with its stack and heap moved in its memory, {} differs", parting.what);
        let finding = runs.ran.finding("D070", message).values(&parting.expected, &parting.found);
        let hint = "look for the order of a hash map, a number made from an address, or memory that is read before it \
                    is written";
        return Some(finding.functions(trace.functions).hint(hint));
    }
    None
}

/// D070 and D074: appends spaces to the input. A language runtime allocates objects after the input, and the spaces
/// change the addresses of these objects. A step without a language runtime may look at the text of its input. For such
/// a step, and for one whose clock its runtime shifts, only a difference in addresses is reported.
pub(super) async fn pad_input(
    runs: &mut PerturbedRuns<'_>,
    plugin: &Plugin,
    loaded: &LoadedVariants,
) -> Option<Finding> {
    let host = "with other objects before it in its memory";
    let mut script = runs.ran.script.clone();
    script.input.push_str(&" ".repeat(INPUT_PADDING_BYTES));
    script.limits = with_more_room(&script.limits);
    let trace = runs.run(&script, plugin).await?;
    let parting = compare_between_jobs(&runs.ran.base, &trace)?;
    if let Some(finding) = address::moved(runs.ran, host, &parting) {
        return Some(finding.functions(trace.functions));
    }
    if !loaded.has_runtime || runtime_shifts_clock(runs, plugin)? || trace.fault().is_some() {
        return None;
    }
    let message = format!("{host}, {} differs", parting.what);
    let finding = runs.ran.finding("D070", message).values(&parting.expected, &parting.found);
    Some(finding.hint("look for a number or a text that is made from an address, also as the input of a hash"))
}

/// Returns true if reads of a language runtime may shift the clock of the step. The runtime of Go reads the clock in the
/// first run of an instance, and when it collects garbage. Another run can therefore differ without a defect. A pure step
/// must not depend on its clock at all. Returns `None` if the plugin does not have the operator.
fn runtime_shifts_clock(runs: &PerturbedRuns<'_>, plugin: &Plugin) -> Option<bool> {
    let base = &runs.ran.base;
    let is_pure = plugin.operator(&runs.ran.case.operator)?.determinism == Determinism::Pure;
    Some(base.took_time && base.took_chance && !is_pure)
}

/// Returns true if the case does something else at another time, or if its calls take no time. Returns `None` if the case
/// has used too much fuel.
async fn depends_on_time(runs: &mut PerturbedRuns<'_>, plugin: &Plugin) -> Option<bool> {
    let usual = runs.script();
    let shifted = |shift_us: i64, answer_shift_us: i64| {
        let mut script = usual.clone();
        script.started_us = script.started_us.saturating_add(shift_us);
        for answer in &mut script.answers {
            answer.heard_us = answer.heard_us.saturating_add(answer_shift_us);
        }
        script
    };
    let mut scripts: Vec<RunScript> =
        SHORT_TIMES_US.iter().flat_map(|shift| [shifted(*shift, *shift), shifted(*shift, 0)]).collect();
    let mut instant = usual.clone();
    instant.answers.iter_mut().for_each(|answer| answer.heard_us = usual.started_us);
    scripts.push(instant);
    for script in scripts {
        let trace = runs.run(&script, plugin).await?;
        if compare_behaviour(&runs.ran.base, &trace).is_some() {
            return Some(true);
        }
    }
    Some(false)
}

/// D071: more runs in the instance of the first run. A real host never reuses an instance.
pub(super) async fn rerun(runs: &mut PerturbedRuns<'_>, plugin: &Plugin, has_runtime: bool) -> Option<Finding> {
    let mut script = runs.script();
    let times = RUNS_IN_INSTANCE as u32;
    script.expected = None;
    // A language runtime reads random numbers when its instance starts, and thus only before the first run.
    script.restarts_random = true;
    script.limits.host_calls = script.limits.host_calls.saturating_mul(times);
    script.limits.memory_bytes = script.limits.memory_bytes.saturating_mul(u64::from(times));
    script.limits.output_bytes = script.limits.output_bytes.saturating_mul(times);
    let traces = runs.run_repeatedly(&script, plugin, script.seed, RUNS_IN_INSTANCE).await;
    let (n, trace, parting) = first_differing(&traces)?;
    // The runtime of Go reads the clock now and then, and its clock never goes back within an instance. A pure step must
    // not depend on its clock at all.
    let is_pure = plugin.operator(&runs.ran.case.operator)?.determinism == Determinism::Pure;
    if has_runtime && runs.ran.base.took_time && !is_pure && depends_on_time(runs, plugin).await? {
        return None;
    }
    // The first run may seed a random generator of the guest, and the state of this generator is no defect. To find the
    // cause of the difference, the runs are repeated with another seed in the first run. If the later run then differs
    // from before, the generator is the cause. Otherwise other state is the cause.
    if runs.ran.base.took_chance {
        // The numbers that follow the seed are then other ones in a later run, also without any use of the generator.
        if reads_fewer(trace, &runs.ran.base) {
            return None;
        }
        // A result with few possible values can be equal for two seeds.
        for number in 0..OTHER_SEEDS {
            let other_seed = Hash::of(&[b"another first seed", &[number], &script.seed]).0;
            let control = runs.run_repeatedly(&script, plugin, other_seed, RUNS_IN_INSTANCE).await;
            if compare_behaviour(trace, control.get(n)?).is_some() {
                return None;
            }
        }
    }
    // The clock of an instance stays where the waits of its earlier runs have moved it.
    if has_runtime && !is_pure && is_later_time(&parting) {
        return None;
    }
    if let Some(finding) = address::moved(runs.ran, "run again in the same instance", &parting) {
        return Some(finding);
    }
    let message = format!("run {} in the same instance gives another result: {} differs", n + 1, parting.what);
    let finding = runs.ran.finding("D071", message).values(&parting.expected, &parting.found);
    Some(
        finding.hint(
            "each run begins in a new instance: use no state of earlier runs, and no address, also not in a hash",
        ),
    )
}

/// Returns true if the two values are times in the form of RFC 3339, and the time of the later run is later.
fn is_later_time(parting: &FirstDifference) -> bool {
    let is_time = |text: &str| {
        let form: String = text.chars().take(20).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        form.trim_start_matches('"').starts_with("0000-00-00T00:00:00")
    };
    let (usual, later) = (&parting.expected, &parting.found);
    is_time(usual) && is_time(later) && usual < later
}

/// Returns true if a run reads random numbers, and fewer than the usual run, which seeds a generator.
fn reads_fewer(later: &Trace, usual: &Trace) -> bool {
    let reads = |trace: &Trace| trace.reads.get(&NondeterminismSource::Random).copied().unwrap_or_default();
    (1..reads(usual)).contains(&reads(later))
}

/// Returns the first of the later runs that differs from the first run, with its index. Many language runtimes support
/// only one call per instance, so a run that the host ended does not count.
fn first_differing(traces: &[Trace]) -> Option<(usize, &Trace, FirstDifference)> {
    let base = traces.first()?;
    let later = traces.iter().enumerate().skip(1).take_while(|(_, trace)| trace.fault().is_none());
    let later = later.filter(|(_, trace)| !remembers_answers(base, trace));
    later.filter_map(|(n, trace)| Some((n, trace, compare_between_jobs(base, trace)?))).next()
}

/// Returns true if a later run leaves out calls of the usual run and ends like it. The plugin remembers answers within an
/// instance, as in a table of computed values. Such a table is empty at the start of each job.
fn remembers_answers(usual: &Trace, later: &Trace) -> bool {
    let mut asked = usual.asked.iter();
    let is_part = later.asked.iter().all(|call| asked.any(|other| other == call));
    is_part && later.calls().count() < usual.calls().count() && later.ended == usual.ended
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
    runs.bind_answers(&mut script);
    for given in &mut script.answers {
        let after = given.heard_us.saturating_sub(script.started_us);
        given.heard_us = script.started_us.saturating_add(after.saturating_mul(LATENCY_FACTOR));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_times_are_those_of_the_clock() {
        let parting = |expected: &str, found: &str| FirstDifference {
            what: "output".to_owned(),
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let (usual, later) = ("\"2026-01-05T09:00:00Z\"", "\"2026-01-05T09:02:00Z\"");
        assert!(
            is_later_time(&parting(usual, later))
                && is_later_time(&parting("2026-01-05T09:00:00Z", "2026-01-05T10:00:00Z"))
        );
        assert!(!is_later_time(&parting(later, usual)) && !is_later_time(&parting("1", "2")));
    }
}
