//! The same case under hosts that differ: D062, D064, D066, D067, D070, D071.

use std::sync::Arc;

use latchwork_core::error::Code;
use latchwork_core::ids::Hash;
use latchwork_core::manifest::Determinism;

use super::hosts::Loaded;
use super::moved::MEMORY_MORE;
use super::script::Script;
use super::trace::{Ended, Parting, Trace, behaviour, everything};
use super::{FUEL_OF_A_CASE, Ran, ends};
use crate::check::finding::Finding;
use crate::engine::Plugin;

/// Slow machines are not what is looked for.
const PATIENCE: u32 = 20;
/// How far another clock is: more than a year, and no round number of days.
const SHIFT_US: i64 = 401 * 86_400_000_000 + 12_345_678_901;
/// How much longer tools take under another latency.
const SLOWER: i64 = 149;
/// A worker dies at so many calls of a case at most.
const CRASHES_MAX: usize = 100;

/// The runs of one case, counted.
pub(super) struct Runs<'r> {
    pub(super) ran: &'r Ran<'r>,
    runs: &'r mut u64,
    fuel: u64,
    /// Some were left out: they would have taken too much fuel.
    pub(super) left_out: bool,
}

impl<'r> Runs<'r> {
    pub(super) fn new(ran: &'r Ran<'r>, runs: &'r mut u64) -> Self {
        Self { ran, runs, fuel: 0, left_out: false }
    }

    /// Runs a script; none where the case has taken too much already.
    pub(super) async fn run(&mut self, script: &Script, plugin: &Plugin) -> Option<Trace> {
        if self.fuel > FUEL_OF_A_CASE {
            self.left_out = true;
            return None;
        }
        *self.runs += 1;
        let trace = script.run(plugin).await;
        self.fuel = self.fuel.saturating_add(trace.fuel);
        Some(trace)
    }

    /// Runs a script twice in one instance: what the second run did. None where the case has taken too
    /// much already, or where there was no second run.
    pub(super) async fn run_twice(&mut self, script: &Script, plugin: &Plugin) -> Option<Trace> {
        if self.fuel > FUEL_OF_A_CASE {
            self.left_out = true;
            return None;
        }
        *self.runs += 1;
        let trace = script.run_twice(plugin).await?;
        self.fuel = self.fuel.saturating_add(trace.fuel.saturating_mul(2));
        Some(trace)
    }

    /// The script of the case, patient, and stopped where it does something else.
    pub(super) fn script(&self) -> Script {
        let mut script = self.ran.script.clone();
        script.limits.timeout_ms = script.limits.timeout_ms.saturating_mul(PATIENCE);
        script.expected = Some(Arc::new(self.ran.base.asked.clone()));
        script
    }
}

/// D066: a difference that no step can be the reason of, but one.
pub(super) fn differs(ran: &Ran<'_>, host: &str, parting: &Parting, trace: &Trace) -> Finding {
    let message = format!("{host}, it does something else: {} is not the same", parting.what);
    let finding = ran.finding("D066", message).values(&parting.expected, &parting.found);
    finding.functions(trace.functions.clone())
}

/// Every other host.
pub(super) async fn all(runs: &mut Runs<'_>, plugin: &Plugin, loaded: &Loaded) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(hosts(runs, plugin, loaded).await);
    found.extend(places(runs, loaded).await);
    found.extend(crashes(runs, plugin).await);
    found.extend(conditions(runs, plugin).await);
    // What lies elsewhere or is drawn anew in a second run differs for that reason.
    if found.is_empty() {
        found.extend(kept(runs, plugin).await);
    }
    found.extend(latency(runs, plugin).await);
    found
}

/// Instances, memory, code and stack. One finding a case: what differs in one host does in others.
async fn hosts(runs: &mut Runs<'_>, plugin: &Plugin, loaded: &Loaded) -> Option<Finding> {
    let script = runs.script();
    let mut tight = script.clone();
    // What it used is enough.
    tight.limits.memory_bytes = runs.ran.base.memory_bytes;
    let mut reversed = script.clone();
    reversed.reversed = true;
    let usual = Some(plugin);
    let hosts = [
        ("run a second time", usual, &script),
        ("with an instance of its own memory and half the stack", loaded.apart.as_deref(), &script),
        ("compiled without optimization, with memory in other places", loaded.unoptimized.as_deref(), &script),
        ("with no more memory than it used", usual, &tight),
        ("with calls that are made at once answered in reverse order", usual, &reversed),
    ];
    for (host, plugin, script) in hosts {
        let Some(plugin) = plugin else { continue };
        let trace = runs.run(script, plugin).await?;
        match trace.fault_code() {
            Some(Code::WallClockLimit) => continue,
            Some(Code::StackOverflow) => {
                let message = format!("{host}, it recurses too deeply: how deep it gets depends on the compiler");
                return Some(runs.ran.finding("D062", message).functions(trace.functions));
            }
            _ => {}
        }
        if let Some(parting) = everything(&runs.ran.base, &trace) {
            return Some(differs(runs.ran, host, &parting, &trace));
        }
    }
    None
}

/// D070: its stack and heap elsewhere, and what it never wrote no longer zero.
async fn places(runs: &mut Runs<'_>, loaded: &Loaded) -> Option<Finding> {
    let moved = loaded.moved.as_deref()?;
    let mut script = runs.script();
    // Hash maps with other seeds take other work, and allocators other pages.
    script.limits.fuel = script.limits.fuel.saturating_mul(2);
    script.limits.memory_bytes = script.limits.memory_bytes.saturating_add(MEMORY_MORE);
    let trace = runs.run(&script, moved).await?;
    let parting = behaviour(&runs.ran.base, &trace)?;
    let message = format!("with its stack and heap elsewhere in its memory, {} is not the same", parting.what);
    let finding = runs.ran.finding("D070", message).values(&parting.expected, &parting.found);
    let hint =
        "look for an address that leaves it, the order of a hash map, or memory that is read before it is written";
    Some(finding.functions(trace.functions).hint(hint))
}

/// D071: a second run in the instance that the first one left, which no host makes.
async fn kept(runs: &mut Runs<'_>, plugin: &Plugin) -> Option<Finding> {
    let spec = plugin.operator(&runs.ran.case.operator)?;
    // A generator goes on where it was: only without one should both do the same.
    if runs.ran.base.took_chance && spec.determinism != Determinism::Pure {
        return None;
    }
    let mut script = runs.script();
    script.limits.host_calls = script.limits.host_calls.saturating_mul(2);
    script.limits.memory_bytes = script.limits.memory_bytes.saturating_mul(2);
    script.limits.output_bytes = script.limits.output_bytes.saturating_mul(2);
    let trace = runs.run_twice(&script, plugin).await?;
    if trace.fault().is_some() {
        // Many runtimes serve one call and no more.
        return None;
    }
    let parting = behaviour(&runs.ran.base, &trace)?;
    let message = format!("run again in the same instance, {} is not the same: it keeps something", parting.what);
    let finding = runs.ran.finding("D071", message).values(&parting.expected, &parting.found);
    Some(finding.hint("each run begins in a new instance: pass on in the output what a later step needs"))
}

/// A worker that dies at each call, and another one that goes on from what is recorded.
async fn crashes(runs: &mut Runs<'_>, plugin: &Plugin) -> Option<Finding> {
    let calls = runs.ran.base.calls().count();
    for k in 0..calls.min(CRASHES_MAX) {
        let mut dying = runs.script();
        dying.stop_at = Some(k);
        let before = runs.run(&dying, plugin).await?;
        let resumed = runs.run(&runs.script(), plugin).await?;
        let base = &runs.ran.base;
        let known = before.asked.len().min(base.asked.len());
        let prefix = Trace { asked: base.asked[..known].to_vec(), ended: Ended::Stopped, ..base.clone() };
        let parting = behaviour(&prefix, &before).or_else(|| everything(base, &resumed));
        if let Some(parting) = parting {
            return Some(differs(runs.ran, &format!("resumed after a crash at call {k}"), &parting, &resumed));
        }
    }
    None
}

/// Another job: another clock, other random numbers, other ids.
async fn conditions(runs: &mut Runs<'_>, plugin: &Plugin) -> Vec<Finding> {
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
    if let Some(finding) = ends::fault(runs.ran, &trace, "in another job, with another clock and random numbers, ") {
        return vec![finding];
    }
    let spec = plugin.operator(&runs.ran.case.operator).expect("cases are of operators that are served");
    let parting = behaviour(&runs.ran.base, &trace).filter(|_| spec.determinism == Determinism::Pure);
    let Some(parting) = parting else { return vec![] };
    let what = match (runs.ran.base.took_time, runs.ran.base.took_chance) {
        (true, true) => "its clock and random numbers",
        (true, false) => "its clock",
        (false, true) => "its random numbers",
        (false, false) => "the ids of its job",
    };
    let message =
        format!("it says that it is pure and depends on {what}: in another job, {} is not the same", parting.what);
    let finding = runs.ran.finding("D064", message).values(&parting.expected, &parting.found);
    vec![finding.hint("declare the determinism class `stable`, or take what differs from the input")]
}

/// Tools that take longer.
async fn latency(runs: &mut Runs<'_>, plugin: &Plugin) -> Option<Finding> {
    // Without a call there is nothing to wait for.
    runs.ran.base.calls().next()?;
    let took_time = runs.ran.base.took_time;
    let mut script = runs.script();
    if took_time {
        script.expected = None;
        script.loose = true;
    }
    for (given, (operator, args)) in script.answers.iter_mut().zip(runs.ran.base.calls()) {
        let after = given.heard_us.saturating_sub(script.started_us);
        given.heard_us = script.started_us.saturating_add(after.saturating_mul(SLOWER));
        given.operator.get_or_insert_with(|| operator.clone());
        given.args.get_or_insert_with(|| args.clone());
    }
    let host = "with tools that take longer";
    let trace = runs.run(&script, plugin).await?;
    if !took_time {
        let parting = everything(&runs.ran.base, &trace)?;
        return Some(differs(runs.ran, host, &parting, &trace));
    }
    // What it says of the time may differ; which tools it calls should not.
    let called = |trace: &Trace| trace.calls().map(|(operator, _)| operator.clone()).collect::<Vec<_>>();
    let (usual, slow) = (called(&runs.ran.base), called(&trace));
    if usual == slow || trace.fault().is_some() {
        return None;
    }
    let finding = runs.ran.finding("D067", format!("{host}, it calls other tools"));
    let finding = finding.values(&usual.join(", "), &slow.join(", "));
    Some(finding.hint("let the host wait: the limits of a tool and `retry` in the plan say how long"))
}
