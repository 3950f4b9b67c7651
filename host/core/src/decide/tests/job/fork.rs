//! Tests of forks: the steps that are copied, the steps that are executed again, and the steps that are gated.

use std::collections::BTreeMap;

use serde_json::json;

use crate::decide;
use crate::decide::tests::support::{CrashPoint, Sim, compensation, step};
use crate::decide::{ForkRefusal, ForkRequest};
use crate::event::{Body, DecidedBy, Event};
use crate::model::auto_exec::AutoExec;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Slot, StepId};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::response::response;
use crate::rules::ledger::RowState;
use crate::state::label;
use crate::storage::{InboxRequest, ManualVerdict};

fn plan() -> Vec<serde_json::Value> {
    vec![
        step("r", "Read", &[], json!({})),
        step("x", "Script", &[], json!({ "calls": ["Read"] })),
        step("o", "Opaque", &["r"], json!({ "x": { "$ref": "r#" } })),
        step("s", "Script", &["o"], json!({ "calls": ["Read", "Opaque"] })),
        step("t", "Read", &["s"], json!({})),
    ]
}

/// Returns a job whose policy trusts the actor `ada` with every tool. In `AUTO_EXEC`, this job requests no
/// approvals.
fn trusted_job(mode: Mode) -> Sim {
    let mut sim = Sim::new(mode, plan());
    let trust = ["Opaque", "Keyed", "Queryable"].map(|name| (format!("ada/{name}"), 3)).into();
    sim.rules.auto_exec = AutoExec { enabled: true, min_trust: 3, trust };
    sim
}

fn request(at: &str) -> ForkRequest {
    ForkRequest {
        at: StepId::new(at),
        set: BTreeMap::new(),
        by: DecidedBy::claimed("bob", None),
        job_id: JobId::new("job_1"),
        secret: Hash::of(&[b"another secret"]),
    }
}

fn setting(at: &str, step: &str) -> ForkRequest {
    let set = [(StepId::new(step), b"\"other\"".to_vec())].into();
    ForkRequest { set, ..request(at) }
}

/// Returns the job that a fork of `origin` creates, in a simulated world of its own.
fn forked(origin: &Sim, request: &ForkRequest) -> Sim {
    let fork = decide::fork(&origin.durable(), request).expect("it can be forked");
    let mut sim = trusted_job(origin.durable().job.header.mode);
    sim.rules = origin.rules.clone();
    let head = sim.record.events[1].hash;
    sim.record.events.push(Event::seal(2, 5_000_000, 0, fork.body, head));
    sim.record.secret = request.secret;
    sim.record.payloads = fork.payloads;
    sim.now_us = 6_000_000;
    sim
}

fn copied(sim: &Sim) -> Vec<String> {
    sim.durable().job.steps.iter().filter(|step| step.copied.is_some()).map(|step| step.id.to_string()).collect()
}

/// I40, I41: a fork copies the steps that do not depend on the chosen step. The fork executes the other steps again,
/// and gates those that had effects in the origin.
#[test]
fn fork_copies_independent_steps_and_gates_earlier_effects() {
    let mut origin = trusted_job(Mode::AutoExec);
    assert_eq!(origin.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!((origin.executions_by_slot[&Slot::new("o")], origin.executions_by_slot[&Slot::new("s/1")]), (1, 1));
    let before = origin.durable();

    let mut sim = forked(&origin, &request("s"));
    assert_eq!(copied(&sim), ["r", "x", "o"]);
    let durable = sim.durable();
    for id in ["r", "x", "o"].map(StepId::new) {
        let (old, new) = (before.job.step(&id).unwrap(), durable.job.step(&id).unwrap());
        assert_eq!((old.started_us, old.result_type), (new.started_us, new.result_type));
        assert_eq!((before.output(&id), before.input(&id)), (durable.output(&id), durable.input(&id)));
        assert_eq!(new.output.unwrap(), durable.payload_ref(&label::output(&id), &durable.output(&id).unwrap()));
    }
    assert_eq!(durable.job.header.job_seed, before.job.header.job_seed);
    assert_eq!(durable.job.copied_calls_of(&"x".into()).len(), 1, "with what its call was answered");
    assert!(durable.job.calls.is_empty(), "they are not its own calls");

    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked_on.expect("what the origin committed is gated, whatever the mode");
    assert_eq!((durable.job.state, blocked.slot.as_str()), (JobState::Parked, "s/1"));
    assert!(sim.executions_by_slot.is_empty());
    let gate_hash = durable.job.gates[&Slot::new("s/1")].hash;
    sim.send_request(InboxRequest::Approve { slot: Slot::new("s/1"), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot, [(Slot::new("s/1"), 1)].into());

    // A fork of the fork copies the steps that the fork executed or copied. It gates a repeated step that had effects
    // in any earlier job.
    let again = forked(&sim, &request("t"));
    assert_eq!(copied(&again), ["r", "x", "o", "s"]);
    let at_o = decide::fork(&sim.durable(), &request("o")).unwrap();
    let Body::JobForked { gated, .. } = at_o.body else { panic!() };
    assert_eq!(gated, ["o", "s"].map(StepId::new), "the first job in the chain executed `o`");
}

/// I41: a fork copies a successful step with a call that was closed as lost. A fork of the fork gates this step.
#[test]
fn a_lost_call_of_a_copied_step_is_gated() {
    let steps = vec![
        step("s", "Script", &[], json!({ "calls": ["Opaque"] })),
        step("q", "Script", &[], json!({ "calls": ["Opaque"] })),
        step("t", "Read", &["s", "q"], json!({})),
    ];
    let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "no"));
    let unknown = Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "no answer"), kept: None };
    let mut origin = Sim::new(Mode::AutoExec, steps.clone());
    origin.rules = trusted_job(Mode::AutoExec).rules;
    origin.script.insert("Opaque".into(), vec![unknown, refused]);
    assert_eq!(origin.process(None).unwrap().job.state, JobState::Parked);
    origin.resolve(Slot::new("s/0"), ManualVerdict::Abort);
    assert_eq!(origin.process(None).unwrap().job.state, JobState::Completed);

    let gated = |sim: &Sim| {
        let fork = decide::fork(&sim.durable(), &request("s")).unwrap();
        let Body::JobForked { gated, .. } = fork.body else { panic!("a fork") };
        gated
    };
    assert_eq!(gated(&origin), [StepId::new("s")], "nothing happened in `q`");
    let fork = decide::fork(&origin.durable(), &request("t")).unwrap();
    let mut sim = Sim::new(Mode::AutoExec, steps);
    let head = sim.record.events[1].hash;
    sim.record.events.push(Event::seal(2, 5_000_000, 0, fork.body, head));
    (sim.record.secret, sim.record.payloads, sim.now_us) = (request("t").secret, fork.payloads, 6_000_000);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(copied(&sim), ["s", "q"]);
    assert_eq!(gated(&sim), [StepId::new("s")]);
}

/// I41: a fork reaches the same end wherever its process is killed, and copied steps are never executed.
#[test]
fn fork_killed_anywhere_reaches_the_same_end() {
    let mut origin = trusted_job(Mode::HumanGated);
    origin.rules.standing_approvals = true;
    let durable = origin.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked, "`o` waits for its gate");
    let gated = forked(&origin, &request("o")).durable().job.forked.unwrap().gated;
    assert_eq!(gated.len(), 3, "the origin may still do all of it");
    // Runs one process and approves the open gate, if there is one. Returns true if the process died.
    let round = |sim: &mut Sim, crash: Option<CrashPoint>| {
        let died = sim.process(crash).is_err();
        let durable = sim.durable();
        let open = durable.job.gates.iter().find(|(_, gate)| gate.decision.is_none());
        if let Some((slot, gate)) = open {
            sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash: gate.hash });
        }
        died
    };
    let mut crash_points = 0;
    for rounds_before in 0..3 {
        for crash in 0.. {
            let mut sim = forked(&origin, &request("o"));
            for _ in 0..rounds_before {
                round(&mut sim, None);
            }
            let died = round(&mut sim, Some(CrashPoint::Write(crash)));
            let mut in_doubt = false;
            for _ in 0..4 {
                round(&mut sim, None);
                in_doubt |= sim.durable().rows.values().any(|row| row.state == RowState::Indeterminate);
            }
            let done = [(Slot::new("o"), 1), (Slot::new("s/1"), 1)].into();
            // An opaque call that a crash left in doubt needs a person's verdict.
            assert!(in_doubt || sim.durable().job.state == JobState::Completed, "cut {crash}");
            assert!(in_doubt || sim.executions_by_slot == done, "cut {crash}: {:?}", sim.executions_by_slot);
            assert!(sim.executions_by_slot.values().all(|times| *times == 1));
            if !died {
                break;
            }
            crash_points += 1;
        }
    }
    assert!(crash_points > 10, "{crash_points}");
}

/// I40: a fork uses a replaced output, and executes the steps that depend on the output again.
#[test]
fn replaced_output_is_used_and_dependents_run_again() {
    let mut origin = trusted_job(Mode::AutoExec);
    origin.process(None).unwrap();
    let sim = forked(&origin, &setting("s", "r"));
    assert_eq!(copied(&sim), ["r", "x"], "`o` was made from `r`");
    let gated = sim.durable().job.forked.unwrap().gated;
    assert_eq!(gated, ["o", "s"].map(StepId::new));
    assert_eq!(sim.durable().output(&"r".into()).as_deref(), Some(b"\"other\"".as_slice()));
    let set = response(&sim.durable()).steps[0].notes.clone();
    assert_eq!(set, ["output set with the fork"]);

    let refused = |request: ForkRequest| decide::fork(&origin.durable(), &request).unwrap_err();
    assert!(matches!(refused(setting("s", "s")), ForkRefusal::NotCopied { .. }));
    assert!(matches!(refused(setting("s", "t")), ForkRefusal::NotCopied { .. }));
    assert!(matches!(refused(setting("s", "absent")), ForkRefusal::NoStep { .. }));
    assert!(matches!(refused(request("absent")), ForkRefusal::NoStep { .. }));
}

#[test]
fn open_job_is_not_forked() {
    let mut origin = trusted_job(Mode::AutoExec);
    assert!(origin.process(Some(CrashPoint::Write(6))).is_err());
    let refused = decide::fork(&origin.durable(), &request("s")).unwrap_err();
    assert!(matches!(refused, ForkRefusal::StillOpen { state: JobState::Running, .. }), "{refused}");
}

/// I41: failed steps, undone steps, and the steps that depend on them are executed again.
#[test]
fn failed_and_undone_steps_are_not_copied() {
    let failing = step("x", "Failing", &[], json!({ "calls": [], "fail": true }));
    let mut origin = Sim::new(Mode::AutoExec, vec![step("r", "Read", &[], json!({})), failing, plan()[2].clone()]);
    assert_eq!(origin.process(None).unwrap().job.state, JobState::Partial);
    let of = |origin: &Sim, request: &ForkRequest| {
        let Body::JobForked { copied, gated, .. } = decide::fork(&origin.durable(), request).unwrap().body else {
            panic!("it begins with the fork")
        };
        let copied: Vec<_> = copied.iter().map(|copied| copied.step_id.to_string()).collect();
        (copied, gated.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(of(&origin, &request("o")), (vec!["r".to_owned()], vec!["o".to_owned()]));

    let gate = compensation::with(step("d", "Opaque", &["r"], json!({})), "gate", "human_confirm");
    let steps = vec![
        step("a", "Opaque", &[], json!({})),
        step("q", "Read", &[], json!({})),
        step("r", "Read", &["a"], json!({})),
        gate,
    ];
    let mut origin = compensation::job(Mode::AutoExec, "keep", steps);
    origin.process(None).unwrap();
    origin.send_request(InboxRequest::Cancel);
    assert_eq!(origin.process(None).unwrap().job.state, JobState::Cancelled);
    assert_eq!(of(&origin, &request("d")).0, ["q"], "`a` was undone, and `r` was made after it");
    let set = setting("d", "r");
    let refused = decide::fork(&origin.durable(), &set).unwrap_err();
    let ForkRefusal::NotCopied { why, .. } = refused else { panic!("{refused}") };
    assert!(why.contains("undone"), "{why}");
}

/// I41: a step in which the origin may have changed the world is gated before it runs again.
#[test]
fn possible_earlier_effects_are_gated_in_fork() {
    let gated = |origin: &crate::state::Durable, at: &str| {
        let Body::JobForked { gated, .. } = decide::fork(origin, &request(at)).unwrap().body else {
            panic!("it begins with the fork")
        };
        gated.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // A call whose outcome stayed unknown is gated.
    let mut origin = trusted_job(Mode::AutoExec);
    let failure = crate::model::error::Failure::new(crate::model::error::Code::NetworkTimeout, "?");
    let unknown = crate::model::effect::Answer::Unknown { failure, kept: None };
    origin.script.insert("Opaque".into(), vec![unknown]);
    origin.process(None).unwrap();
    let verdict = crate::storage::ManualVerdict::Abort;
    origin.resolve(Slot::new("o"), verdict);
    let durable = origin.process(None).unwrap();
    assert!(durable.job.state.is_terminal());
    assert_eq!(gated(&durable, "o"), ["o"], "what comes behind a lost call was never begun");
    // A failed call that certainly changed nothing is not gated. If the failure of a call is not final, the call is
    // gated, because the outcome of the call is unknown.
    let mut origin = trusted_job(Mode::AutoExec);
    let failure = crate::model::error::Failure::new(crate::model::error::Code::AuthForbidden, "no");
    origin.script.insert("Opaque".into(), vec![crate::model::effect::Answer::NotApplied(failure)]);
    let mut durable = origin.process(None).unwrap();
    assert!(gated(&durable, "o").is_empty());
    durable.job.calls.get_mut(&Slot::new("o")).unwrap().committed = false;
    assert_eq!(gated(&durable, "o"), ["o"]);
    // The origin is itself a fork. Its approval was rejected, so the origin executed nothing. A fork of this origin
    // still gates the step, because the first job executed the step.
    let mut origin = trusted_job(Mode::AutoExec);
    origin.process(None).unwrap();
    let mut fork = forked(&origin, &request("s"));
    let gate_hash = fork.process(None).unwrap().job.gates[&Slot::new("s/1")].hash;
    fork.send_request(InboxRequest::Reject { slot: Slot::new("s/1"), gate_hash });
    let durable = fork.process(None).unwrap();
    assert_eq!((durable.job.state, fork.executions_by_slot.len()), (JobState::Completed, 0));
    assert_eq!(gated(&durable, "s"), ["s"]);
}

/// I40: only the output of a copied step can be replaced.
#[test]
fn output_can_be_set_only_for_copied_steps() {
    let failing = step("x", "Failing", &[], json!({ "calls": [], "fail": true }));
    let mut origin = Sim::new(
        Mode::AutoExec,
        [plan(), vec![failing]]
            .concat()
            .into_iter()
            .filter(|step| step["payload"]["calls"] != json!(["Read"]))
            .collect(),
    );
    origin.process(None).unwrap();
    let why = |at: &str, set: &[&str]| {
        let set = set.iter().map(|step| (StepId::new(step), b"1".to_vec())).collect();
        match decide::fork(&origin.durable(), &ForkRequest { set, ..request(at) }) {
            Err(ForkRefusal::NotCopied { step, why }) => Some((step.to_string(), why)),
            Err(other) => panic!("{other}"),
            Ok(_) => None,
        }
    };
    let refused = |step: &str, why: &'static str| Some((step.to_owned(), why));
    assert_eq!(why("s", &["o"]), None);
    assert_eq!(why("s", &["s"]), refused("s", "the fork executes it again"));
    assert_eq!(why("o", &["s"]), refused("s", "it comes after the step to fork at"));
    assert_eq!(why("s", &["r", "o"]), refused("o", "it depends on another step whose output is set"));
    assert_eq!(why("s", &["x"]), refused("x", "it did not succeed"));
}
