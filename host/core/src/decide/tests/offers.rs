//! Checks that every command offered in a response would be accepted and could change the state of the job.

use serde_json::json;

use super::sim::{Sim, step};
use crate::decide;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::mode::Mode;
use crate::response::{Response, response};
use crate::state::Durable;
use crate::storage::ManualVerdict;

/// Checks each offered command with the function that decides about that command.
pub(super) fn assert_offers_accepted(of: &str, durable: &Durable, shown: &Response, now_us: i64) {
    let job = &durable.job;
    let shown = shown.clone().with_pending(durable, &[], now_us);
    for command in &shown.next_actions {
        let words: Vec<&str> = command.split(' ').collect();
        let slot = |at: usize| Slot::new(words[at]);
        let says = |option: &str| words.contains(&option);
        let taken = match words[..] {
            ["latch", "resume", ..] => !job.state.is_terminal(),
            ["latch", "job", "show", ..] => true,
            ["latch", "job", "approve" | "reject", _, ..] => job.open_gate(&slot(4)).is_some(),
            ["latch", "job", "signal", _, key, ..] => job.waits.values().any(|wait| wait.key.as_deref() == Some(key)),
            ["latch", "job", "confirm", _, ..] => decide::is_confirmable(job, &slot(4), says("--gone")),
            ["latch", "job", "resolve", _, "--continue" | "--abort"] => decide::is_parked_or_diverged(job),
            ["latch", "job", "resolve", _, ..] => {
                let verdict = match () {
                    () if says("--applied") => ManualVerdict::Applied("1".into()),
                    () if says("--not-applied") => ManualVerdict::NotApplied,
                    () => ManualVerdict::Abort,
                };
                decide::verdict_request(durable, &slot(4), verdict, now_us).is_ok()
            }
            ["latch", "job", "undo", _] => decide::calls_to_undo(durable).is_ok(),
            ["latch", "job", "retry", _] => decide::retry_round(durable).is_ok(),
            ["latch", "job", "fork", ..] => true,
            _ => panic!("{of}: an unknown command is offered: {command}"),
        };
        assert!(taken, "{of}: {command} is offered and refused: {shown:#?}");
    }
}

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

/// I162: if the requester of the job may not approve, the offer states that another person has to approve.
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
