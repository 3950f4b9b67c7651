//! I84: searches the protocol without one of its rules. The search must find a violation. Otherwise the search would
//! accept a program that lacks the rule.

use std::collections::HashSet;

use latchwork_model::{Action, Config, ModelClass, Mutant, Protocol, State, WalkError, walk};
use stateright::Model;

/// Searches level by level until the property is violated. Returns the number of steps of the shortest path.
#[expect(clippy::print_stderr, reason = "the way to the harm is the result")]
fn steps_to_violation(config: &Config, property: &'static str) -> usize {
    assert!(config.mutant.is_some());
    let Some(actions) = shortest_path_to_violation(&Protocol(config.clone()), property) else {
        panic!("{property} holds without the rule: {config:?}");
    };
    eprintln!("{:?}: {} steps until \"{property}\" is violated: {actions:?}", config.mutant, actions.len());
    // In the same world, the property holds for the protocol with this rule. The missing rule is therefore the cause of
    // the violation.
    let whole = Protocol(Config { mutant: None, ..config.clone() });
    assert_eq!(shortest_path_to_violation(&whole, property), None, "the property is violated with the rule too");
    actions.len()
}

/// Returns the shortest path to a violation, by strict breadth-first search. Stateright's own checker processes
/// states in blocks, so its path may be longer.
fn shortest_path_to_violation(model: &Protocol, property: &'static str) -> Option<Vec<Action>> {
    let holds = model.property(property).condition;
    let mut states = model.init_states();
    let mut from: Vec<Option<(usize, Action)>> = vec![None];
    let mut seen: HashSet<State> = states.iter().cloned().collect();
    let mut at = 0;
    while at < states.len() {
        if !holds(model, &states[at]) {
            let mut actions = Vec::new();
            while let Some((before, action)) = from[at] {
                actions.push(action);
                at = before;
            }
            actions.reverse();
            return Some(actions);
        }
        for (action, next) in model.next_steps(&states[at]) {
            if seen.insert(next.clone()) {
                states.push(next);
                from.push(Some((at, action)));
            }
        }
        at += 1;
    }
    None
}

fn without_faults(class: ModelClass) -> Config {
    Config { crashes: 0, pauses: 0, lost_commits: 0, ..Config::for_class(class) }
}

const ONCE: &str = "the world changes at most once";

/// I14, I84.
#[test]
fn unfenced_acquire_changes_the_world_twice() {
    let config = Config { pauses: 1, ..without_faults(ModelClass::Opaque) }.without(Mutant::UnfencedAcquire);
    assert_eq!(steps_to_violation(&config, "a superseded attempt changes nothing"), 4);
    assert_eq!(steps_to_violation(&config, ONCE), 9);
}

/// I84, I171.
#[test]
fn attempt_scoped_key_changes_the_world_twice() {
    let config = Config { crashes: 1, ..without_faults(ModelClass::Keyed) }.without(Mutant::AttemptScopedKey);
    assert_eq!(steps_to_violation(&config, ONCE), 13);
}

#[test]
fn reconcile_before_quiescence_changes_the_world_twice() {
    let config = Config { pauses: 1, ..without_faults(ModelClass::Queryable) }.without(Mutant::NoQuiescence);
    assert_eq!(steps_to_violation(&config, ONCE), 11);
}

/// I2, I84.
#[test]
fn missing_barrier_changes_the_world_twice() {
    let config = Config { crashes: 1, ..without_faults(ModelClass::Opaque) }.without(Mutant::NoBarrier);
    assert_eq!(steps_to_violation(&config, "nothing is sent without a start record"), 3);
    assert_eq!(steps_to_violation(&config, ONCE), 10);
}

#[test]
fn lease_fenced_effects_lose_an_answer() {
    let config = Config { pauses: 1, ..without_faults(ModelClass::Opaque) }.without(Mutant::LeaseFencedEffects);
    assert_eq!(steps_to_violation(&config, "an answer is never lost"), 7);
}

#[test]
fn verdict_without_try_changes_the_world_twice() {
    let config = Config { tries: 3, ..without_faults(ModelClass::Queryable) }.without(Mutant::VerdictWithoutTry);
    assert_eq!(steps_to_violation(&config, ONCE), 19);
}

#[test]
fn verdict_before_settling_time_changes_the_world_twice() {
    let config = without_faults(ModelClass::Opaque).without(Mutant::VerdictBeforeSettling);
    assert_eq!(steps_to_violation(&config, ONCE), 11);
}

#[test]
fn definite_failure_in_two_writes_ignores_a_decision() {
    let config =
        Config { crashes: 1, ..without_faults(ModelClass::Opaque).staged() }.without(Mutant::FailureInTwoWrites);
    assert_eq!(steps_to_violation(&config, "a person's decision takes effect"), 12);
}

#[test]
fn effect_claim_before_barrier_injects_a_wrong_answer() {
    let config =
        Config { crashes: 1, ..without_faults(ModelClass::Keyed).staged() }.without(Mutant::ClaimBeforeBarrier);
    assert_eq!(steps_to_violation(&config, "injected answers equal recorded answers"), 15);
}

#[test]
fn stored_failed_repeat_causes_a_cycle() {
    let config = Config { pauses: 1, tries: 3, ..without_faults(ModelClass::Keyed) };
    walk(&Protocol(config.clone())).expect("every path ends with the rule");
    let circle = walk(&Protocol(config.without(Mutant::FailedRepeatSettles)));
    assert!(matches!(circle, Err(WalkError::Cycle(_))), "{circle:?}");
}

/// I84, I111, I175: if a worker sends its request too late, the world is changed twice. The protocol cannot prevent a
/// late send and has to assume that it does not happen, see `docs/internals/model.md`.
#[test]
fn late_send_changes_the_world_twice() {
    let config = Config { pauses: 1, ..without_faults(ModelClass::Queryable) }.without(Mutant::LateSend);
    assert_eq!(steps_to_violation(&config, ONCE), 13);
}
