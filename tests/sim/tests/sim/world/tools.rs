//! Tools on an unreliable network. Requests and answers are delayed and lost. A sent request arrives even if
//! its sender is dead.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use latchwork_core::model::effect::{Answer, Output};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::JobId;
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::Journal;
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::{ReconcileVerdict, ToolEnd};

use crate::faults::WIRE_MS;
use crate::simulation::Simulation;
use crate::workers::process::Process;
use crate::world::operators;

/// Fate of one try of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ToolFate {
    Good,
    /// The tool refuses before it sends anything, and reports that nothing was applied.
    Refused(Code),
    /// The tool never sends anything.
    Stalled,
    RequestLost,
    AnswerLost,
    /// The answer comes after the call's timeout.
    Late,
    /// The call is applied, but the tool reports an unknown outcome.
    Unsure,
}

const TOOL_FAULTS: [ToolFate; 8] = [
    ToolFate::Refused(Code::RateLimit),
    ToolFate::Refused(Code::NetworkTimeout),
    ToolFate::Refused(Code::AuthForbidden),
    ToolFate::Stalled,
    ToolFate::RequestLost,
    ToolFate::AnswerLost,
    ToolFate::Late,
    ToolFate::Unsure,
];

fn failure(code: Code, message: &str) -> Failure {
    Failure::new(code, message)
}

/// Calls a tool once, as the engine does. Nothing is sent after the call's timeout.
pub(crate) async fn call(
    process: &Arc<Process>,
    class: RecoveryClass,
    body: String,
    context: ToolCallContext,
) -> ToolEnd {
    let since_us = process.since_boot_us();
    let answer = answer(process, class, body, context).await;
    ToolEnd { answer, fuel: 5, wall_us: process.since_boot_us() - since_us, functions: vec![] }
}

async fn answer(process: &Arc<Process>, class: RecoveryClass, body: String, context: ToolCallContext) -> Answer {
    let scene = &process.scene;
    let troubled = scene.allows_faults() && scene.dice.one_in(scene.weather.tool_fault_in);
    let fate = if troubled { *scene.dice.pick(&TOOL_FAULTS) } else { ToolFate::Good };
    if troubled {
        scene.tally.count(format!("tool: {fate:?}"));
    }
    process.wait_while_paused().await;
    scene.sleep_ms(scene.dice.between(1, 80)).await;
    process.wait_while_paused().await;
    let deadline_us = context.started_boot_us + u64::from(context.timeout_ms) * 1_000;
    let left = Duration::from_micros(deadline_us.saturating_sub(process.since_boot_us()));
    if left.is_zero() {
        scene.tally.count("tool: nothing sent after its time");
        return Answer::NotApplied(failure(Code::WallClockLimit, "its time was over before it began"));
    }
    match fate {
        ToolFate::Refused(code) => {
            let retry_after_ms = (code == Code::RateLimit).then_some(700);
            return Answer::NotApplied(Failure { retry_after_ms, ..failure(code, "refused") });
        }
        ToolFate::Stalled => {
            tokio::time::sleep(left).await;
            process.wait_while_paused().await;
            return Answer::NotApplied(failure(Code::WallClockLimit, "it did not get to send anything"));
        }
        _ => {}
    }
    process.pass_crash_point("sending", false);
    if process.is_dead() {
        return std::future::pending().await;
    }
    if class != RecoveryClass::Read {
        check_recorded(process, &context).await;
    }
    let answered = tokio::time::timeout(left, send(process, class, body, &context, fate)).await;
    process.wait_while_paused().await;
    let unknown = |code| Answer::Unknown { failure: failure(code, "nobody knows"), kept: None };
    match answered {
        Ok(Ok(_)) if fate == ToolFate::Unsure => unknown(Code::NetworkTimeout),
        Ok(Ok(result)) => Answer::Ok(Output { result, receipt: None, state_changes: vec![], usage: None }),
        Ok(Err(_)) | Err(_) => unknown(Code::WallClockLimit),
    }
}

/// Returns a random transit time in milliseconds. Short times are more frequent.
fn wire_ms(scene: &Simulation) -> u32 {
    let most = if scene.dice.one_in(2) { WIRE_MS } else { 120 };
    scene.dice.between(1, most)
}

/// Sends the request. From here on the request travels independently of its sender.
fn send(
    process: &Arc<Process>,
    class: RecoveryClass,
    body: String,
    context: &ToolCallContext,
    fate: ToolFate,
) -> oneshot::Receiver<String> {
    let (answer, answered) = oneshot::channel();
    let scene = process.scene.clone();
    let (key, name) = (context.external_key.clone(), process.name().to_owned());
    scene.record_sent(context);
    let context = context.clone();
    tokio::spawn(async move {
        scene.sleep_ms(wire_ms(&scene)).await;
        if fate == ToolFate::RequestLost {
            scene.add_trace_line(format_args!("{name}'s request under {key} is lost"));
            return std::future::pending().await;
        }
        let arrived = {
            let mut world = scene.world.lock().expect("no holder panics");
            match class {
                RecoveryClass::Read => {
                    world.reads += 1;
                    Ok(format!("{{\"read\":{}}}", world.reads))
                }
                _ => world.arrive(class, &key, &body),
            }
        };
        scene.add_trace_line(format_args!("{name}'s request under {key} arrives: {arrived:?}"));
        let result = arrived.unwrap_or_else(|wrong| {
            scene.report_violation(wrong);
            "null".to_owned()
        });
        scene.record_arrived(&context, &result);
        let back_ms = match fate {
            ToolFate::AnswerLost => return std::future::pending().await,
            ToolFate::Late => 2 * operators::TIMEOUT_MS,
            _ if scene.dice.one_in(10) => scene.dice.between(1, operators::TIMEOUT_MS),
            _ => scene.dice.between(1, 120),
        };
        scene.sleep_ms(back_ms).await;
        // Sending the result fails if the caller no longer waits for it. The failure is ignored.
        drop(answer.send(result));
    });
    process.pass_crash_point("sending", true);
    answered
}

/// I2 and I14, checked from outside: when a request is sent, the ledger row of its call is `INFLIGHT` and
/// belongs to the sender's own attempt.
async fn check_recorded(process: &Process, context: &ToolCallContext) {
    let scene = &process.scene;
    let job_id = JobId::new(&context.step.job_id);
    let open = scene.store().recover(&job_id).await.unwrap_or_default();
    let own = open.iter().find(|row| row.slot.as_str() == context.slot);
    if !own.is_some_and(|row| row.state == RowState::Inflight && row.attempt == context.attempt) {
        let (job, slot, attempt) = (&job_id, &context.slot, context.attempt);
        scene.report_violation(format!("{job} {slot} is sent by attempt {attempt}, and the ledger has {own:?}"));
    }
}

/// Asks the tool whether a call happened.
pub(crate) async fn reconcile(process: &Arc<Process>, context: ToolCallContext) -> Result<ReconcileVerdict, Failure> {
    let scene = &process.scene;
    process.wait_while_paused().await;
    let done = || {
        let world = scene.world.lock().expect("no holder panics");
        world.arrived_under(&context.external_key).map(|arrived| arrived.result.clone())
    };
    // Workers ask only after the settling time, so the result cannot change while the question is in transit.
    scene.record_reconcile(&context, done().as_deref());
    scene.sleep_ms(wire_ms(scene)).await;
    let done = done();
    scene.add_trace_line(format_args!("{} asks about {}: {done:?}", process.name(), context.external_key));
    scene.sleep_ms(scene.dice.between(1, 120)).await;
    process.wait_while_paused().await;
    if scene.allows_faults() && scene.dice.one_in(scene.weather.tool_fault_in) {
        return match scene.dice.below(3) {
            0 => Err(failure(Code::NetworkTimeout, "nobody answers")),
            1 => Ok(ReconcileVerdict::Unknown),
            _ => Ok(ReconcileVerdict::NotYet(400)),
        };
    }
    Ok(match done {
        Some(result) => {
            let output = Output { result, receipt: None, state_changes: vec![], usage: None };
            ReconcileVerdict::Happened(output)
        }
        None => ReconcileVerdict::DidNotHappen,
    })
}
