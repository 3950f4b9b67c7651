//! Checks that production workers follow the protocol model: the observations of each simulated job are
//! followed through the model.

pub(crate) mod observations;
pub(crate) mod recording;
pub(crate) mod snapshot;
pub(crate) mod tamper;

use std::collections::BTreeMap;
use std::sync::Mutex;

use latchwork_core::rules::ledger::RowState;
use latchwork_model::trace::{Observation, TraceRejection};
use latchwork_model::{Config, Job, ModelClass, ModelRequest, Record, TRIES, Verdict, trace};

use crate::dice::Dice;
use crate::event_counts::EventCounts;
use crate::faults::SimulatedFaults;
use crate::simulation::Simulation;
use crate::{number, of_all, run};
use observations::ObservedJob;

/// Default number of seeds.
const SEEDS: u64 = 150;

/// Minimum number of accepted traces for each trace that is left out.
const LEFT_OUT_ONE_IN: u64 = 200;
const LEFT_OUT: &str = "left out: more tries than the model has room for";
const TOO_WIDE: &str = "left out: more states at once than can be followed";

/// Cases that must occur in accepted traces.
const WANTED: [&str; 15] = [
    "window 2",
    "window 3",
    "window 4",
    "window 5",
    "a late answer",
    "a repeat under the key",
    "a tool that was asked",
    "a person who decided",
    "a cancel",
    "a process that died",
    "a refused write",
    "an answer of an attempt that had lost the job",
    "two attempts",
    "an atomic commit",
    "a staged commit",
];

/// Runs the simulation of a seed with jobs that the protocol model can represent. Records the observations of
/// these jobs.
fn recorded(seed: u64) -> run::SimulationResult {
    let dice = Dice::new(seed);
    let weather = SimulatedFaults::of(&dice);
    run::run(|| Simulation::recorded(dice, weather))
}

fn check_job_trace(job: &ObservedJob) -> Result<trace::TraceStatistics, Box<TraceRejection>> {
    let tries = u8::try_from(TRIES).expect("few");
    let config = Config { calls: job.calls.clone(), staged: job.staged, tries, ..Config::for_class(ModelClass::Read) };
    trace::check_trace(&config, &job.seen)
}

/// Returns the first problem with the jobs of a run.
fn trace_problem(name: &str, ran: &run::SimulationResult, tally: &EventCounts) -> Option<String> {
    if let Some(wrong) = &ran.violation {
        return Some(format!("{name}, {wrong}"));
    }
    ran.jobs.iter().find_map(|job| {
        if job.is_unsupported {
            tally.count(LEFT_OUT);
            return None;
        }
        match check_job_trace(job) {
            Ok(followed) => {
                tally.count("accepted");
                tally.count(format!("{:4} states at once", followed.max_states.next_power_of_two()));
                cases_in(job).into_iter().for_each(|what| tally.count(what));
                None
            }
            Err(rejected) if rejected.too_many_states => {
                tally.count(TOO_WIDE);
                None
            }
            Err(rejected) => {
                tally.count("rejected");
                Some(format!("{name}, {} {:?}: {rejected}", job.job_id, job.calls))
            }
        }
    })
}

/// Returns the cases that occur in a trace.
fn cases_in(job: &ObservedJob) -> Vec<&'static str> {
    let mut seen = vec![if job.staged { "a staged commit" } else { "an atomic commit" }];
    let mut holder = 0;
    for one in &job.seen {
        match one {
            Observation::Claimed { job } => {
                holder = job.attempt;
                seen.extend((holder == 2).then_some("two attempts"));
                seen.extend(job.records.iter().filter_map(crash_window));
            }
            Observation::Wrote { by, job } => {
                seen.extend(records(job).filter(|r| r.verdicts.contains(&Some(Verdict::Repeat))).map(|_| WANTED[5]));
                let late = job.inbox.iter().any(|note| matches!(note, ModelRequest::Late { .. }));
                seen.extend(late.then_some("a late answer"));
                seen.extend((!by.contains(&holder)).then_some("an answer of an attempt that had lost the job"));
            }
            Observation::RequestMade { job } => {
                let decided = job.inbox.iter().any(|note| matches!(note, ModelRequest::Resolve { .. }));
                seen.extend(decided.then_some("a person who decided"));
                seen.extend(job.cancel_flag.then_some("a cancel"));
            }
            Observation::Refused { .. } => seen.push("a refused write"),
            Observation::ReconcileAsked { .. } => seen.push("a tool that was asked"),
            Observation::Died { .. } => seen.push("a process that died"),
            Observation::Sent { .. } | Observation::Arrived { .. } => {}
        }
    }
    seen.sort_unstable();
    seen.dedup();
    seen
}

fn records(job: &Job) -> impl Iterator<Item = &Record> {
    job.records.iter()
}

/// Returns the crash window of §5 for a call that a new claim finds, or `None` if no crash window applies.
fn crash_window(record: &Record) -> Option<&'static str> {
    let row = record.row?;
    let answered = record.open_try().is_some_and(|open| record.effect(open).is_some());
    Some(match (RowState::from_number(i64::from(row.state))?, record.committed, answered) {
        (RowState::Inflight, true, _) => "window 4",
        (RowState::Inflight, false, true) => "window 3",
        (RowState::Inflight, false, false) => "window 2",
        (RowState::Committed, true, _) => "window 5",
        _ => return None,
    })
}

/// I1, I115, I116: the observations of production workers under any order of faults are a behaviour of the protocol
/// model. Every crash window and every recovery occurs in the followed traces.
#[test]
fn worker_traces_are_accepted_by_the_model() {
    if let Some(seed) = number("LATCH_TEST_SEED") {
        let ran = recorded(seed);
        println!("{}", ran.trace);
        for job in &ran.jobs {
            println!("{} {:?}", job.job_id, job.calls);
            job.seen.iter().enumerate().for_each(|(at, seen)| println!("{at} {seen:?}"));
        }
        let problem = trace_problem(&format!("seed {seed}"), &ran, &EventCounts::default());
        assert!(problem.is_none(), "{}", problem.unwrap_or_default());
        return;
    }
    let (seeds, tally) = (number("LATCH_TEST_SEEDS").unwrap_or(SEEDS), EventCounts::default());
    let problems = of_all(seeds, |seed| trace_problem(&format!("seed {seed}"), &recorded(seed), &tally));
    println!("{}", tally.lines());
    problems.iter().for_each(|problem| println!("{problem}"));
    assert!(problems.is_empty(), "{} of {seeds} seeds (LATCH_TEST_SEED)", problems.len());
    if seeds >= SEEDS {
        let missing: Vec<&str> = WANTED.into_iter().filter(|what| tally.count_of(what) == 0).collect();
        assert!(missing.is_empty(), "{seeds} seeds did not reach {missing:?}");
        let (left_out, accepted) = (tally.count_of(LEFT_OUT) + tally.count_of(TOO_WIDE), tally.count_of("accepted"));
        assert!(left_out * LEFT_OUT_ONE_IN <= accepted, "{left_out} traces were left out, {accepted} accepted");
    }
}

/// I117: a trace that violates the protocol is rejected at the violation.
#[test]
fn manipulated_trace_is_rejected_at_the_manipulation() {
    let rejected: Mutex<BTreeMap<&str, u32>> = Mutex::default();
    let accepted = of_all(number("LATCH_TEST_SEEDS").map_or(60, |seeds| seeds.clamp(60, 300)), |seed| {
        for job in recorded(seed).jobs.iter().filter(|job| !job.is_unsupported) {
            for (kind, tamper) in tamper::KINDS {
                let mut from = 0;
                while let Some((changed, place, next)) = tamper::manipulated(job, tamper, from) {
                    from = next;
                    let description = || format!("{kind}, seed {seed}, {} {:?}, at {place}", job.job_id, job.calls);
                    let Err(found) = check_job_trace(&changed) else {
                        return Some(format!("{} is accepted", description()));
                    };
                    if found.too_many_states {
                        return Some(format!("{}: not followed to its end: {found}", description()));
                    }
                    if !(place..=place + 1).contains(&found.index) {
                        return Some(format!("{}: found only at {found}", description()));
                    }
                    *rejected.lock().unwrap().entry(kind).or_default() += 1;
                }
            }
        }
        None
    });
    assert!(accepted.is_empty(), "{accepted:#?}");
    let rejected = rejected.into_inner().unwrap();
    println!("{rejected:#?}");
    for (kind, _) in tamper::KINDS {
        assert!(rejected.get(kind).is_some_and(|times| *times >= 3), "{kind}: {rejected:?}");
    }
}

/// I116: a process loses a job and claims it again. The process keeps the new claim, even if it receives answers about
/// the earlier claim. The lease holder never reports an answer of its own call as late.
#[test]
fn answer_about_an_earlier_claim_does_not_affect_a_later_claim() {
    let tally = EventCounts::default();
    let problems = of_all(300, |seed| {
        let ran = run::run(|| {
            let dice = Dice::new(seed);
            let calm = SimulatedFaults {
                faults_end_ms: 30_000,
                jobs: 2,
                max_held_jobs: 3,
                ..SimulatedFaults::without_faults()
            };
            Simulation::recorded(dice, SimulatedFaults { staged: seed % 2 == 0, pauses_in: 60, travel_ms: 40, ..calm })
        });
        tally.add(&ran.tally);
        trace_problem(&format!("number {seed}"), &ran, &tally)
    });
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(tally.count_of("lost to another worker") > 50, "{}", tally.lines());
}
