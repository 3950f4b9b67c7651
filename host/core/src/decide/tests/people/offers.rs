//! Checks that every command offered in a response would be accepted and could change the state of the job.

use serde_json::json;

use crate::decide;
use crate::decide::tests::support::{Sim, step};
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::mode::Mode;
use crate::response::response;

/// I162: a retry is offered only if it may end differently. No retry is offered for a failure that would occur
/// again.
#[test]
fn a_failure_that_would_repeat_offers_no_retry() {
    // These failures follow from code and input alone. Every other failure may have a temporary cause.
    let again = [
        Code::InvalidInput,
        Code::SchemaValidationFailed,
        Code::MissingRequiredContext,
        Code::ContractViolation,
        Code::PluginTrap,
        Code::PluginException,
        Code::OutOfFuel,
        Code::MemoryLimit,
        Code::StackOverflow,
        Code::OutputLimit,
        Code::ModeForbids,
        Code::DryRunUpstream,
    ];
    for code in Code::ALL.iter().copied() {
        assert_eq!(code.fails_deterministically(), again.contains(&code), "{code}");
    }
    let answered = [Code::CapabilityDenied, Code::NetworkUnavailable, Code::WallClockLimit];
    let guests = Code::ALL.iter().copied().filter(|code| code.is_guest_code());
    for code in guests.chain(answered).chain(again) {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
        let answer = || Answer::NotApplied(Failure::new(code, "no"));
        sim.script.insert("Opaque".into(), (0..20).map(|_| answer()).collect());
        let mut durable = sim.process(None).unwrap();
        for _ in 0..40 {
            if durable.job.state.is_terminal() {
                break;
            }
            sim.now_us += 600_000_000;
            durable = sim.process(None).unwrap();
        }
        assert!(decide::retry_round(&durable).is_ok(), "{code}: a person may still ask for it");
        let offers = response(&durable).next_actions.contains(&"latch job retry job_1".to_owned());
        assert_eq!(offers, !code.fails_deterministically(), "{code}: {:?}", response(&durable).next_actions);
    }
}

/// I162: if the plugin's SDK refuses an access, no retry is offered. No configuration can grant that access.
#[test]
fn a_refusal_of_the_sdk_offers_no_retry() {
    let offers = |detail: &str| {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
        let failure = Failure { detail: Some(detail.into()), ..Failure::new(Code::CapabilityDenied, "no") };
        sim.script.insert("Opaque".into(), vec![Answer::NotApplied(failure)]);
        response(&sim.process(None).unwrap()).next_actions.contains(&"latch job retry job_1".to_owned())
    };
    assert!(!offers(r#"{"latchwork:denied":{"exception":"PermissionError"}}"#));
    assert!(offers(r#"{"exception":"PermissionError"}"#), "a grant may be missing");
}

/// I162: if the rules do not let the requester of the job approve, the offer states that another person has to approve.
#[test]
fn offer_names_another_approver_if_requester_may_not_approve() {
    let approves = |self_approve: bool| {
        let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
        sim.rules.self_approve = self_approve;
        let mut durable = sim.process(None).unwrap();
        durable.job.header.rules = Some(sim.rules.clone());
        response(&durable).next_actions[0].clone()
    };
    assert_eq!(approves(true), "latch job approve job_1 a");
    assert_eq!(approves(false), "latch job approve job_1 a --actor ANOTHER");
}
