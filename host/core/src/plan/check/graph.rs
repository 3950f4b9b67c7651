//! Graph of the steps: ids, dependencies, cycles and topological order.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::report::{ViolationReport, rule};
use super::view::StepFields;
use crate::encoding::suggest::did_you_mean;
use crate::model::ids::StepId;
use crate::plan::PlanStep;

/// Checks the ids and dependencies of all steps.
pub(super) fn check(steps: &[StepFields<'_>], report: &mut ViolationReport) {
    duplicates(steps, report);
    dependencies(steps, report);
    cycles(steps, report);
}

/// Direct dependencies by step id. Transitive dependencies are computed on demand. Only a step in a cycle is among
/// its own transitive dependencies.
pub(super) struct Dependencies<'a>(HashMap<&'a str, Vec<&'a str>>);

impl<'a> Dependencies<'a> {
    pub(super) fn of(steps: &[StepFields<'a>]) -> Self {
        Self(direct(steps))
    }

    /// Returns true if `step` depends on `target`, directly or transitively. Also returns true if the `depends_on` of
    /// `step` is not an array, because this mistake is already reported and must not cause a second violation.
    pub(super) fn has(&self, step: &StepFields<'a>, target: &str) -> bool {
        if step.get("depends_on").is_some_and(|items| !items.is_array()) {
            return true;
        }
        // Most bindings refer to a direct dependency. The graph is searched only for other bindings.
        step.depends_on().any(|(_, named)| named == target) || self.of_step(step).contains(target)
    }

    fn of_step(&self, step: &StepFields<'a>) -> HashSet<&'a str> {
        let mut reached = HashSet::new();
        let mut open: Vec<&str> = step.depends_on().map(|(_, named)| named).collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(self.0.get(next).into_iter().flatten());
            }
        }
        reached
    }
}

/// Returns the steps of a valid plan in topological order. If several steps could come next, the step with the
/// smallest `step_id` comes first.
pub(super) fn in_order(steps: Vec<PlanStep>) -> Vec<PlanStep> {
    let mut waiting: BTreeMap<StepId, PlanStep> = steps.into_iter().map(|step| (step.step_id.clone(), step)).collect();
    let mut missing: HashMap<StepId, usize> =
        waiting.values().map(|step| (step.step_id.clone(), step.depends_on.len())).collect();
    let mut followers: HashMap<StepId, Vec<StepId>> = HashMap::new();
    for step in waiting.values() {
        for dependency in &step.depends_on {
            followers.entry(dependency.clone()).or_default().push(step.step_id.clone());
        }
    }
    let mut ready: BTreeSet<StepId> =
        missing.iter().filter(|(_, count)| **count == 0).map(|(id, _)| id.clone()).collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    while let Some(id) = ready.pop_first() {
        for follower in followers.remove(&id).into_iter().flatten() {
            let count = missing.get_mut(&follower).expect("every step is counted");
            *count -= 1;
            if *count == 0 {
                ready.insert(follower);
            }
        }
        ordered.push(waiting.remove(&id).expect("every step gets ready once"));
    }
    ordered
}

/// Returns the known direct dependencies of each known step id. If several steps have the same id, only the first of
/// them counts, because a duplicate id could otherwise create a false cycle.
fn direct<'a>(steps: &[StepFields<'a>]) -> HashMap<&'a str, Vec<&'a str>> {
    let known = names(steps);
    let mut edges: HashMap<&str, Vec<&str>> = HashMap::new();
    for step in steps {
        let Some(id) = step.id() else { continue };
        let targets = step.depends_on().map(|(_, target)| target).filter(|target| known.contains(target));
        edges.entry(id).or_insert_with(|| targets.collect());
    }
    edges
}

pub(super) fn names<'a>(steps: &[StepFields<'a>]) -> BTreeSet<&'a str> {
    steps.iter().filter_map(StepFields::id).collect()
}

fn duplicates(steps: &[StepFields<'_>], report: &mut ViolationReport) {
    let mut first: HashMap<&str, &StepFields<'_>> = HashMap::new();
    for step in steps {
        let Some(id) = step.id() else { continue };
        if let Some(other) = first.get(id) {
            let message = format!("the step at {} is also named `{id}`; give each step its own step_id", other.at);
            report.add(step.pointer("step_id"), rule::DUPLICATE_STEP_ID, message);
        } else {
            first.insert(id, step);
        }
    }
}

fn dependencies(steps: &[StepFields<'_>], report: &mut ViolationReport) {
    let known = names(steps);
    for step in steps {
        for (index, target) in step.depends_on() {
            let at = format!("{}/{index}", step.pointer("depends_on"));
            if step.id() == Some(target) {
                report.add(at, rule::SELF_DEPENDENCY, format!("step `{target}` depends on itself"));
            } else if !known.contains(target) {
                let close = did_you_mean(target, known.iter().copied());
                report.add(at, rule::UNKNOWN_DEPENDENCY, format!("there is no step `{target}` in this plan{close}"));
            }
        }
    }
}

/// Reports cycles of two or more steps. If several cycles share steps, only one of these cycles is reported. After the
/// author has removed the reported cycle, the next check reports another cycle.
fn cycles(steps: &[StepFields<'_>], report: &mut ViolationReport) {
    let mut edges = direct(steps);
    for (id, targets) in &mut edges {
        targets.retain(|target| target != id);
    }
    loop {
        remove_acyclic(&mut edges);
        let Some(start) = edges.keys().min().copied() else { return };
        let members = find_cycle(start, &edges);
        let step = steps.iter().find(|step| step.id() == members.first().copied()).expect("members are steps");
        let path = members.iter().chain(members.first()).copied().collect::<Vec<_>>().join(" → ");
        report.add(step.pointer("depends_on"), rule::CYCLE, format!("a cycle: {path}, where `→` means depends on"));
        for member in members {
            edges.remove(member);
        }
    }
}

/// Repeatedly removes steps without remaining dependencies from `edges`. Only cycles and steps that depend on a cycle
/// remain.
fn remove_acyclic<'a>(edges: &mut HashMap<&'a str, Vec<&'a str>>) {
    let mut followers: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (id, targets) in edges.iter() {
        let left = targets.iter().filter(|target| edges.contains_key(*target));
        counts.insert(id, left.map(|target| followers.entry(target).or_default().push(id)).count());
    }
    let mut free: Vec<&str> = counts.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        counts.remove(id);
        for follower in followers.remove(id).into_iter().flatten() {
            let count = counts.get_mut(follower).expect("it waits for this one");
            *count -= 1;
            if *count == 0 {
                free.push(follower);
            }
        }
    }
    edges.retain(|id, _| counts.contains_key(id));
    for targets in edges.values_mut() {
        targets.retain(|target| counts.contains_key(target));
    }
}

/// Follows dependencies from `start` until a step repeats, and returns the cycle. Every step in `edges` must have a
/// dependency in `edges`. The returned cycle begins with its smallest id, which may differ from `start`.
fn find_cycle<'a>(start: &'a str, edges: &HashMap<&'a str, Vec<&'a str>>) -> Vec<&'a str> {
    let mut path = vec![start];
    let mut cycle = loop {
        let last = path.last().expect("starts with one");
        let next = *edges[last].iter().min().expect("everything left depends on something left");
        match path.iter().position(|step| *step == next) {
            Some(index) => break path.split_off(index),
            None => path.push(next),
        }
    };
    let least = cycle.iter().enumerate().min_by_key(|(_, step)| **step).map_or(0, |(index, _)| index);
    cycle.rotate_left(least);
    cycle
}
