//! Tests of single policy rules: effect declarations, gates and prohibitions of modes, and the combination of
//! two policies.

use std::collections::BTreeMap;

use EffectKind::{ExternalSend, ExternalWrite, InternalWrite, ProduceOutcome, ReadOnly};
use serde_json::json;

use crate::decide::tests::support::{CrashPoint, Sim, compensation, pinned, step};
use crate::model::answer_requirement::AnswerRequirement;
use crate::model::auto_exec::{AutoExec, TRUST_MAX};
use crate::model::error::Code;
use crate::model::ids::{Operator, Slot};
use crate::model::job::JobState;
use crate::model::manifest::{EffectKind, PinnedOperator, PluginKind, RecoveryClass};
use crate::model::mode::Mode;
use crate::model::rules::Rules;
use crate::plan;
use crate::plan::{PlanGate, PlanStep};
use crate::response::response;
use crate::rules::policy::{covers, forbids, needs_gate};
use crate::storage::{InboxRequest, ManualVerdict};

fn planned(effects: &[EffectKind]) -> PlanStep {
    let step: PlanStep = serde_json::from_value(step("a", "Opaque", &[], json!({}))).unwrap();
    PlanStep { effects: effects.to_vec(), ..step }
}

fn tool(effects: &[EffectKind]) -> PinnedOperator {
    pinned(RecoveryClass::Opaque, effects, PluginKind::Tool)
}

/// I42: an effect declaration always covers reads and outcomes. It covers a change only if it names the effect of the
/// change.
#[test]
fn change_is_covered_only_by_its_own_effect() {
    for effect in [ReadOnly, ProduceOutcome] {
        assert!(covers(&[], effect), "{effect:?}");
    }
    let changes = [InternalWrite, ExternalWrite, ExternalSend];
    for effect in changes {
        let others: Vec<EffectKind> = EffectKind::ALL.into_iter().filter(|other| *other != effect).collect();
        assert!(covers(&[effect], effect) && !covers(&others, effect), "{effect:?}");
        let refused = forbids(Mode::HumanGated, &planned(&others), &tool(&[ReadOnly, effect]));
        assert_eq!(refused.map(|failure| failure.code), Some(Code::PolicyDenied), "{effect:?}");
        assert_eq!(forbids(Mode::HumanGated, &planned(&[effect]), &tool(&[ReadOnly, ProduceOutcome, effect])), None);
    }
}

/// A call inside a step is limited to the effects that the step declares. A call that only reads needs no
/// declaration.
#[test]
fn calls_inside_step_are_limited_to_its_declaration() {
    let mut one = step("a", "Script", &[], json!({ "calls": ["Read", "Opaque"] }));
    one["effects"] = json!([]);
    let mut sim = Sim::new(Mode::AutoExec, vec![one]);
    let durable = sim.process(None).unwrap();
    assert_eq!(&*durable.output(&"a".into()).unwrap(), br#"["\"done\"","POLICY_DENIED"]"#);
    assert!(sim.executions_by_slot.is_empty());
}

/// I42: `DRAFT_ONLY` forbids external effects and `HUMAN_GATED` gates them. Both modes allow internal writes without
/// a gate.
#[test]
fn modes_forbid_and_gate_external_effects() {
    assert_eq!(Mode::default(), Mode::HumanGated);
    let rules = Rules::default();
    for (effect, leaves) in [(ReadOnly, false), (InternalWrite, false), (ExternalWrite, true), (ExternalSend, true)] {
        for mode in Mode::ALL {
            let (step, tool) = (planned(&[effect]), tool(&[effect]));
            let forbidden = forbids(mode, &step, &tool).map(|failure| failure.code);
            assert_eq!(
                forbidden,
                (leaves && mode == Mode::DraftOnly).then_some(Code::ModeForbids),
                "{mode:?} {effect:?}"
            );
            let gated = needs_gate(&rules, mode, &step, &tool, true);
            assert_eq!(gated, leaves && mode == Mode::HumanGated, "{mode:?} {effect:?}");
            assert_eq!(needs_gate(&rules, mode, &step, &tool, false), gated, "inside a step the same");
        }
    }
}

/// I42: gates in the plan and gates that a policy requires apply in every mode.
#[test]
fn plan_and_policy_gates_apply_in_every_mode() {
    let tags = Rules { gate_tags: vec!["money".into()], ..Rules::default() };
    let effects = Rules { gate_effects: vec![InternalWrite], ..Rules::default() };
    let plain = planned(&[InternalWrite]);
    let confirmed = PlanStep { gate: PlanGate::HumanConfirm, ..plain.clone() };
    let tagged = PlanStep { policy_tags: vec!["money".into()], ..plain.clone() };
    let (writes, sends) = (tool(&[InternalWrite]), tool(&[ExternalSend]));
    // The effects that a step plugin declares do not gate the step itself. They gate the calls that cause the
    // effects.
    let script = pinned(RecoveryClass::Read, &[InternalWrite, ExternalSend], PluginKind::Step);
    for mode in Mode::ALL {
        let gated = |rules: &Rules, step: &plan::PlanStep, operator: &PinnedOperator, own| {
            needs_gate(rules, mode, step, operator, own)
        };
        assert!(!gated(&tags, &plain, &writes, true), "{mode:?}");
        assert!(gated(&tags, &tagged, &writes, true) && gated(&tags, &tagged, &script, true), "{mode:?}");
        assert!(!gated(&tags, &tagged, &writes, false), "a tag is the step's, not that of each call inside it");
        assert!(gated(&Rules::default(), &confirmed, &writes, true), "{mode:?}");
        assert!(!gated(&Rules::default(), &confirmed, &writes, false), "{mode:?}");
        assert!(gated(&effects, &plain, &writes, true) && gated(&effects, &plain, &writes, false), "{mode:?}");
        assert_eq!(gated(&effects, &plain, &sends, true), mode == Mode::HumanGated);
        assert!(!gated(&effects, &plain, &script, true), "{mode:?}");
    }
}

/// I42: automatic execution requires the tenant's consent and the highest trust by default.
#[test]
fn automatic_execution_is_off_and_requires_highest_trust() {
    let auto = AutoExec::default();
    assert_eq!((auto.enabled, auto.min_trust, TRUST_MAX), (false, 3, 3));
    assert!(auto.trust.is_empty());
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let trust: BTreeMap<_, _> = [("ada/Opaque".to_owned(), 2)].into();
    sim.rules.auto_exec = AutoExec { enabled: true, trust, ..AutoExec::default() };
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    sim.rules.auto_exec.trust.insert("ada/Opaque".to_owned(), 3);
    let mut trusted = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    trusted.rules = sim.rules.clone();
    assert_eq!(trusted.process(None).unwrap().job.state, JobState::Completed);
}

/// I42: if the policy no longer lists the mode of an open job, the job starts no world-changing call. The job
/// still reads, finishes calls that were started, and undoes its effects.
#[test]
fn job_in_withdrawn_mode_begins_no_change() {
    let withdrawn = |sim: &mut Sim| sim.rules.modes.retain(|mode| *mode != Mode::AutoExec);
    let plan = || vec![step("r", "Read", &[], json!({})), step("a", "Opaque", &["r"], json!({}))];
    let trusting = |plan| {
        let mut sim = Sim::new(Mode::AutoExec, plan);
        let trust: BTreeMap<_, _> = [("ada/Opaque".to_owned(), 3), ("ada/Keyed".to_owned(), 3)].into();
        sim.rules.auto_exec = AutoExec { enabled: true, trust, ..AutoExec::default() };
        sim
    };
    let mut sim = trusting(plan());
    withdrawn(&mut sim);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.output(&"r".into()).as_deref(), Some(&b"\"done\""[..]));
    let failed = response(&durable).failed;
    assert_eq!((failed[0].step_id.as_str(), failed[0].reason_code), ("a", Code::ModeForbids));
    assert!(failed[0].message.contains("AUTO_EXEC"), "{}", failed[0].message);
    assert!(sim.executions_by_slot.is_empty());

    // If a call inside a step is refused, the step gets an error as the answer of the call.
    let mut sim = trusting(vec![step("s", "Script", &[], json!({ "calls": ["Read", "Opaque"] }))]);
    withdrawn(&mut sim);
    let durable = sim.process(None).unwrap();
    assert_eq!(&*durable.output(&"s".into()).unwrap(), br#"["\"done\"","MODE_FORBIDS"]"#);
    assert!(sim.executions_by_slot.is_empty());

    // Calls that were started before the mode was withdrawn are finished, and they can be undone.
    let mut sim = compensation::job(Mode::AutoExec, "keep", plan());
    sim.process(Some(CrashPoint::AfterExecute(1))).unwrap_err();
    withdrawn(&mut sim);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "in doubt");
    sim.resolve(Slot::new("a"), ManualVerdict::Applied("\"done\"".to_owned()));
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot[&Slot::new("a")]), (JobState::Completed, 1));

    let mut sim = compensation::job(Mode::AutoExec, "keep", compensation::plan());
    compensation::run_to_gate(&mut sim);
    withdrawn(&mut sim);
    sim.send_request(InboxRequest::Cancel);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert_eq!(sim.executions_by_slot.len(), 8, "{:?}", sim.executions_by_slot);
}

/// I42: if two policies are combined in either order, the stricter value of each setting applies.
#[test]
fn combined_policies_use_the_narrower_setting() {
    let wide = || Rules {
        standing_approvals: true,
        auto_exec: AutoExec { enabled: true, min_trust: 0, trust: [("ada/Opaque".to_owned(), 3)].into() },
        ..Rules::default()
    };
    let web = || Operator::new("Web.Fetch");
    let narrower: [(&str, Rules); 13] = [
        ("modes", Rules { modes: vec![Mode::DryRun], ..wide() }),
        ("reason", Rules { gate_reason: true, ..wide() }),
        ("signatures", Rules { gate_approvals: crate::model::person::Assurance::Signature, ..wide() }),
        ("gate effects", Rules { gate_effects: vec![InternalWrite], ..wide() }),
        ("gate tags", Rules { gate_tags: vec!["money".into()], ..wide() }),
        ("standing approvals", Rules { standing_approvals: false, ..wide() }),
        ("expiry", Rules { gate_expires_ms: 1, ..wide() }),
        ("quorum", Rules { gate_quorum: 2, ..wide() }),
        ("self-approval", Rules { self_approve: false, ..wide() }),
        (
            "budget",
            Rules {
                budget: crate::model::budget::Budget { per_job_micro_usd: Some(1), per_month_micro_usd: Some(2) },
                ..wide()
            },
        ),
        ("trust", Rules { auto_exec: AutoExec { enabled: true, min_trust: 0, trust: BTreeMap::new() }, ..wide() }),
        ("least trust", Rules { auto_exec: AutoExec { min_trust: 3, ..wide().auto_exec }, ..wide() }),
        ("demands", Rules { require: [(web(), vec![AnswerRequirement::Citations])].into(), ..wide() }),
    ];
    for (name, narrow) in narrower {
        assert_eq!(wide().narrowed_by(&narrow), narrow, "{name}");
        assert_eq!(narrow.clone().narrowed_by(&wide()), narrow, "{name}");
    }
    let demands = |demand| Rules { require: [(web(), vec![demand])].into(), ..wide() };
    let both = demands(AnswerRequirement::Citations).narrowed_by(&demands(AnswerRequirement::Verified));
    assert_eq!(
        both.require[&web()],
        [AnswerRequirement::Citations, AnswerRequirement::Verified],
        "both have to be met"
    );
}
