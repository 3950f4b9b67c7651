use crate::model::answer_requirement::AnswerRequirement;
use crate::model::manifest::{Limits, OnIndeterminate, PluginKind, RecoveryClass, ResolutionSpec};
use crate::plan::{OutcomeSpec, ReuseSpec, StepKind};
use crate::rules::reuse::*;

const HOUR_US: i64 = 3_600_000_000;

fn operator() -> PinnedOperator {
    PinnedOperator {
        plugin: "letters".into(),
        version: "1.4.0".into(),
        digest: Hash::of(&[b"component"]),
        kind: PluginKind::Step,
        effects: vec![EffectKind::ReadOnly],
        determinism: Determinism::Pure,
        class: RecoveryClass::Read,
        resolution: ResolutionSpec::default(),
        reconcile: false,
        compensate: false,
        on_indeterminate: OnIndeterminate::Park,
        verifier: None,
        confirmation: Default::default(),
        outcome_type: Some("Email.Draft".into()),
        outcome_status: None,
        limits: Limits::default(),
        wasi: Default::default(),
        settings: None,
        retry: None,
    }
}

fn planned() -> PlanStep {
    PlanStep {
        step_id: "s".into(),
        kind: StepKind::Operator,
        name: "Email.GenerateDraft".into(),
        payload: json!({}),
        depends_on: vec![],
        effects: vec![EffectKind::ReadOnly],
        policy_tags: vec![],
        gate: PlanGate::None,
        cache_policy: CachePolicy::UseIfSafe,
        idempotency_template: Some("s".into()),
        hashes: Default::default(),
        outcome: None,
        time_sensitive: false,
        reuse: None,
        retry: None,
        timeout: None,
        compensate_with: None,
    }
}

fn found() -> ReusableResult {
    ReusableResult {
        tenant_id: "default".into(),
        operator: "Email.GenerateDraft".into(),
        input_hash: Hash::of(&[b"input"]),
        job_id: "job_1".into(),
        step_id: "s3".into(),
        outcome_type: Some("Email.Draft".into()),
        sensitivity: None,
        digest: Hash::of(&[b"component"]),
        version: "1.4.0".into(),
        policy: Hash::of(&[b"policy"]),
        result_type: ResultType::Success,
        is_verified: false,
        provenance: Provenance::Executed,
        output_hash: Hash::of(&[b"output"]),
        time_us: 0,
    }
}

fn decide_reuse(
    planned: &PlanStep,
    operator: &PinnedOperator,
    found: &ReusableResult,
    now_us: i64,
    is_gated: bool,
) -> Result<ReuseReason, ReuseReason> {
    let policy = Hash::of(&[b"policy"]);
    decide(&ReuseQuery { planned, operator, input_hash: Hash::of(&[b"input"]), policy, is_gated, now_us }, found)
}

type Change = fn(&mut PlanStep, &mut PinnedOperator, &mut ReusableResult);

/// One case: its name, a change of the step, the operator or the reusable result, the age of the result in
/// microseconds, and the expected decision.
type Case = (&'static str, Change, i64, Result<ReuseReason, ReuseReason>);

const CASES: [Case; 29] = [
    ("nothing is different", |_, _, _| {}, HOUR_US, Ok(ReuseReason::Safe)),
    (
        "no outcome at all",
        |_, o, f| {
            o.outcome_type = None;
            f.outcome_type = None;
        },
        0,
        Ok(ReuseReason::Safe),
    ),
    (
        "a review",
        |_, o, f| {
            o.outcome_type = Some("Review.Text".into());
            f.outcome_type = o.outcome_type.clone();
        },
        0,
        Ok(ReuseReason::Safe),
    ),
    (
        "a type that is not reused",
        |_, o, f| {
            o.outcome_type = Some("Invoice".into());
            f.outcome_type = o.outcome_type.clone();
        },
        0,
        Err(ReuseReason::OutcomeType),
    ),
    (
        "a word inside a word",
        |_, o, f| {
            o.outcome_type = Some("Text.Overdraft".into());
            f.outcome_type = o.outcome_type.clone();
        },
        0,
        Err(ReuseReason::OutcomeType),
    ),
    ("another type", |_, _, f| f.outcome_type = Some("Email.Review".into()), 0, Err(ReuseReason::OutcomeType)),
    ("it was secret", |_, _, f| f.sensitivity = Some("secret".into()), 0, Err(ReuseReason::Sensitivity)),
    (
        "it is secret now",
        |p, _, _| {
            p.outcome = Some(OutcomeSpec {
                outcome_type: "Email.Draft".into(),
                status: None,
                sensitivity: Some("secret".into()),
            })
        },
        0,
        Err(ReuseReason::Sensitivity),
    ),
    ("another policy decision", |_, _, f| f.policy = Hash::of(&[b"other"]), 0, Err(ReuseReason::Policy)),
    ("another input", |_, _, f| f.input_hash = Hash::of(&[b"other"]), 0, Err(ReuseReason::Input)),
    (
        "another component of one version",
        |_, _, f| f.digest = Hash::of(&[b"other"]),
        0,
        Err(ReuseReason::PluginVersion),
    ),
    (
        "another component in range",
        |p, _, f| {
            p.reuse = Some(ReuseSpec { plugin: ">=1.2, <2".into() });
            f.digest = Hash::default();
        },
        0,
        Ok(ReuseReason::Safe),
    ),
    (
        "below the range",
        |p, _, f| {
            p.reuse = Some(ReuseSpec { plugin: ">=1.2".into() });
            f.version = "1.1.9".into();
        },
        0,
        Err(ReuseReason::PluginVersion),
    ),
    (
        "above the range",
        |p, _, f| {
            p.reuse = Some(ReuseSpec { plugin: ">=1.2, <2".into() });
            f.version = "2.0.0".into();
        },
        0,
        Err(ReuseReason::PluginVersion),
    ),
    (
        "a version that is none",
        |p, _, f| {
            p.reuse = Some(ReuseSpec { plugin: ">=1.2".into() });
            f.version = "new".into();
        },
        0,
        Err(ReuseReason::PluginVersion),
    ),
    (
        "at the end of its time",
        |p, _, _| p.cache_policy = CachePolicy::Ttl { ttl_seconds: 3_600 },
        HOUR_US,
        Ok(ReuseReason::WithinTtl),
    ),
    (
        "past its time",
        |p, _, _| p.cache_policy = CachePolicy::Ttl { ttl_seconds: 3_600 },
        HOUR_US + 1,
        Err(ReuseReason::TooOld),
    ),
    (
        "aging without a time",
        |p, _, f| {
            p.time_sensitive = true;
            f.is_verified = true;
        },
        0,
        Err(ReuseReason::NoTtl),
    ),
    (
        "aging, unverified",
        |p, _, _| {
            p.time_sensitive = true;
            p.cache_policy = CachePolicy::Ttl { ttl_seconds: 9 };
        },
        0,
        Err(ReuseReason::Unverified),
    ),
    (
        "aging, verified",
        |p, _, f| {
            p.time_sensitive = true;
            p.cache_policy = CachePolicy::Ttl { ttl_seconds: 9 };
            f.is_verified = true;
        },
        0,
        Ok(ReuseReason::WithinTtl),
    ),
    ("external without a time", |_, o, _| o.determinism = Determinism::External, 0, Err(ReuseReason::NoTtl)),
    (
        "external in its time",
        |p, o, _| {
            o.determinism = Determinism::External;
            p.cache_policy = CachePolicy::Ttl { ttl_seconds: 9 };
        },
        0,
        Ok(ReuseReason::WithinTtl),
    ),
    (
        "external, a person's decision",
        |p, o, f| {
            o.determinism = Determinism::External;
            p.cache_policy = CachePolicy::Ttl { ttl_seconds: 9 };
            f.provenance = Provenance::PersonDecision;
        },
        0,
        Err(ReuseReason::Provenance),
    ),
    ("never", |p, _, _| p.cache_policy = CachePolicy::Never, 0, Err(ReuseReason::NoTtl)),
    (
        "it changed the world",
        |_, _, f| f.result_type = ResultType::SideEffectCommitted,
        0,
        Err(ReuseReason::WorldChanging),
    ),
    (
        "it could change the world now",
        |_, o, _| o.effects = vec![EffectKind::InternalWrite],
        0,
        Err(ReuseReason::WorldChanging),
    ),
    (
        "the plan's type stands before the operator's",
        |p, _, f| {
            p.outcome = Some(OutcomeSpec { outcome_type: "Invoice".into(), status: None, sensitivity: None });
            f.outcome_type = Some("Invoice".into());
        },
        0,
        Err(ReuseReason::OutcomeType),
    ),
    (
        "a draft by the plan's word",
        |p, o, f| {
            p.outcome = Some(OutcomeSpec { outcome_type: "Text.Draft".into(), status: None, sensitivity: None });
            o.outcome_type = Some("Invoice".into());
            f.outcome_type = Some("Text.Draft".into());
        },
        0,
        Ok(ReuseReason::Safe),
    ),
    ("it was rolled back", |_, _, f| f.result_type = ResultType::Compensated, 0, Err(ReuseReason::WorldChanging)),
];

/// I23: a result is reused only if it violates no rule of safe reuse. A difference that violates no rule does not
/// prevent reuse.
#[test]
fn each_safe_reuse_rule_is_checked_separately() {
    for (name, change, now_us, expected) in CASES {
        let (mut step, mut pinned, mut reusable) = (planned(), operator(), found());
        change(&mut step, &mut pinned, &mut reusable);
        assert_eq!(decide_reuse(&step, &pinned, &reusable, now_us, false), expected, "{name}");
    }
    assert_eq!(decide_reuse(&planned(), &operator(), &found(), 0, true), Err(ReuseReason::Gated));
}

#[test]
fn world_changing_step_is_not_a_reuse_candidate() {
    assert!(is_candidate(&planned(), &operator()));
    let never = PlanStep { cache_policy: CachePolicy::Never, ..planned() };
    assert!(!is_candidate(&never, &operator()));
    let unkeyed = PlanStep { idempotency_template: None, ..planned() };
    assert!(!is_candidate(&unkeyed, &operator()), "its inputs have no key");
    let sends = PinnedOperator { effects: vec![EffectKind::ExternalSend], ..operator() };
    assert!(!is_candidate(&planned(), &sends));
    let invoice = PinnedOperator { outcome_type: Some("Invoice".into()), ..operator() };
    assert!(!is_candidate(&planned(), &invoice));
}

/// Two policies that decide equally about the step have the same hash, even if their other rules differ.
#[test]
fn policies_with_equal_decisions_are_equivalent() {
    let hash = |rules: &Rules, mode| policy_decision(rules, mode, &planned(), &operator());
    let plain = Rules::default();
    let other = Rules { gate_effects: vec![EffectKind::ExternalSend], standing_approvals: true, ..Rules::default() };
    assert_eq!(hash(&plain, Mode::HumanGated), hash(&other, Mode::HumanGated), "the step sends nothing");
    assert_eq!(hash(&plain, Mode::HumanGated), hash(&plain, Mode::DraftOnly));
    let tagged = Rules { gate_tags: vec!["money".into()], ..Rules::default() };
    let step = PlanStep { policy_tags: vec!["money".into()], ..planned() };
    let of = |rules: &Rules| policy_decision(rules, Mode::HumanGated, &step, &operator());
    assert_ne!(of(&plain), of(&tagged), "now it needs an approval");
    let sending = PlanStep { effects: vec![EffectKind::ExternalSend], ..planned() };
    let of = |mode| policy_decision(&plain, mode, &sending, &operator());
    assert_ne!(of(Mode::HumanGated), of(Mode::DraftOnly), "now its calls are refused");
}

#[test]
fn only_top_level_verified_true_counts_as_verified() {
    assert!(is_marked_verified(br#"{"verified":true}"#));
    for text in [r#"{"verified":"true"}"#, r#"{"a":{"verified":true}}"#, "true", "no JSON", r#"{"verified":false}"#] {
        assert!(!is_marked_verified(text.as_bytes()), "{text}");
    }
}

/// I23: a change of any policy decision about the step changes the hash.
#[test]
fn each_policy_decision_changes_the_policy_hash() {
    let of = |rules: &Rules, mode, effects: &[EffectKind], operator: &PinnedOperator| {
        policy_decision(rules, mode, &PlanStep { effects: effects.to_vec(), ..planned() }, operator)
    };
    let plain = Rules::default();
    let unkeyed = PlanStep { idempotency_template: None, ..planned() };
    assert!(!is_candidate(&unkeyed, &operator()), "its inputs have no key");
    let sends = [EffectKind::ExternalSend];
    let auto = of(&plain, Mode::AutoExec, &sends, &operator());
    assert_ne!(auto, of(&plain, Mode::DraftOnly, &sends, &operator()), "its calls are forbidden");
    assert_ne!(auto, of(&plain, Mode::HumanGated, &sends, &operator()), "its calls are asked about");
    let named = Rules { gate_effects: sends.to_vec(), ..Rules::default() };
    assert_ne!(auto, of(&named, Mode::AutoExec, &sends, &operator()), "the policy asks about them");
    let demanding = |demand| {
        let require = [(planned().name, vec![demand])].into();
        of(&Rules { require, ..Rules::default() }, Mode::AutoExec, &sends, &operator())
    };
    assert_ne!(auto, demanding(AnswerRequirement::Citations), "its answer has to carry something");
    assert_ne!(demanding(AnswerRequirement::Verified), demanding(AnswerRequirement::Citations));
    let tool =
        |effects: &[EffectKind]| PinnedOperator { kind: PluginKind::Tool, effects: effects.to_vec(), ..operator() };
    let writes = tool(&[EffectKind::InternalWrite]);
    let looks = tool(&[EffectKind::ReadOnly]);
    assert_ne!(of(&plain, Mode::AutoExec, &[], &writes), of(&plain, Mode::AutoExec, &[], &looks), "it is forbidden");
}

/// I23: two input hashes are equal only if the step's payloads are equal and the keys of its template are equal.
#[test]
fn input_hash_covers_payload_and_template_key() {
    let (one, other) = (Hash::of(&[b"one"]), Hash::of(&[b"other"]));
    assert_eq!(input_hash(one, b"{}"), input_hash(one, b"{}"));
    assert_ne!(input_hash(one, b"{}"), input_hash(other, b"{}"));
    assert_ne!(input_hash(one, b"{}"), input_hash(one, b"[]"));
}
