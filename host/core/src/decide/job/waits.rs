//! Wait steps: their start, their end by a signal or a timer, and the storage of early signals.

use crate::decide::common::single_event;
use crate::decide::job::step_end::{fail_permanently, succeeded};
use crate::decide::people::gates;
use crate::decide::{Context, is_dry};
use crate::event::Body;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Slot, StepId};
use crate::plan;
use crate::plan::wait::{WaitKind, WaitSpec};
use crate::state::{Durable, label};
use crate::storage::{BatchKind, Draft, InboxRequest, InboxRow, Payload, Record};

/// Starts the wait of a ready wait step. A signal stored for the step ends the wait immediately.
pub(crate) fn begin_wait(durable: &Durable, context: &Context<'_>, planned: &plan::PlanStep) -> Draft {
    let id = &planned.step_id;
    let job = &durable.job;
    if is_dry(job.header.mode) {
        // A dry run requests nothing from people and does not wait.
        let body = Body::StepSkipped { step_id: id.clone(), reason: Code::ModeForbids, because: None, call: None };
        return single_event(body);
    }
    let wait = match read_wait(durable, id) {
        Ok(wait) => wait,
        Err(message) => return fail_permanently(id, &Failure::new(Code::InvalidInput, message)),
    };
    let taken = |key: &String| job.waits.iter().any(|(other, state)| other != id && state.key.as_ref() == Some(key));
    if let Some(key) = wait.key.as_ref().filter(|key| taken(key)) {
        let message = format!("another wait of this job has the correlation_key {key:?}");
        return fail_permanently(id, &Failure::new(Code::InvalidInput, message));
    }
    let started = Body::WaitStarted {
        step_id: id.clone(),
        wait_kind: wait.kind,
        correlation_key: wait.key.clone(),
        until_us: wait.until_us(context.now_us),
        park: wait.park,
    };
    let draft = Draft { events: vec![started], kind: Record::Flush, ..Draft::default() };
    let kept = (0..).zip(&job.signals).find(|(_, signal)| wait.key.as_ref() == Some(&signal.key));
    match kept {
        Some((n, signal)) => {
            let bytes = durable.payloads.get(&label::signal(n)).map(|bytes| bytes.to_vec()).unwrap_or_default();
            draft.merge(complete_wait(durable, id, bytes, Some(signal.by.clone())))
        }
        None => draft,
    }
}

/// Handles a signal. The signal ends the wait that has the same key, or is stored if the wait has not started.
pub(crate) fn apply_signal(durable: &Durable, key: &str, payload: &str, by: &str) -> Draft {
    let job = &durable.job;
    let waiting = job.waits.keys().find(|id| job.open_wait(id).is_some_and(|wait| wait.key.as_deref() == Some(key)));
    if let Some(id) = waiting {
        return complete_wait(durable, id, payload.as_bytes().to_vec(), Some(by.to_owned()));
    }
    let may_come = job.waits.iter().any(|(id, wait)| {
        let open = job.step(id).is_some_and(|step| !step.state.is_final()) && wait.kind.is_none();
        open && wait.accepts_signals && wait.key.as_deref().is_none_or(|of_wait| of_wait == key)
    });
    // Only the first signal with a key counts. A duplicate is acknowledged too, but changes nothing.
    if !may_come || job.signals.iter().any(|signal| signal.key == key) {
        return Draft::default();
    }
    let n = job.signals.len() as u32;
    let label = label::signal(n);
    let reference = durable.payload_ref(&label, payload.as_bytes());
    let body = Body::SignalKept { correlation_key: key.to_owned(), n, payload: reference, by: by.to_owned() };
    let payload = Payload { label, bytes: payload.as_bytes().to_vec() };
    Draft { events: vec![body], payloads: vec![payload], ..Draft::default() }
}

/// Handles a durable timer that fired. Ignores a timer that was cancelled or set to another time.
pub(crate) fn fire_timer(durable: &Durable, name: &str, due_us: i64) -> Draft<BatchKind> {
    let job = &durable.job;
    if job.timer(name) != Some(due_us) {
        return Draft::default();
    }
    let fired = single_event(Body::TimerFired { timer: name.to_owned(), due_us });
    // If a signal or a decision was acknowledged before this write, the store refuses the write and the request counts.
    let ends_wait = BatchKind::EndWait { compatible_inbox_ids: durable.compatible_inbox_ids.clone() };
    if let Some(slot) = name.strip_prefix("gate/").map(Slot::from) {
        let gate = job.open_gate(&slot).expect("its timer is armed");
        return fired.merge(gates::expire(&slot, gate)).with_kind(ends_wait);
    }
    let id = StepId::from(name.strip_prefix("wait/").expect("timers are of waits or gates"));
    let default = read_wait(durable, &id).ok().and_then(|wait| wait.default);
    let bytes = |value: &serde_json::Value| crate::encoding::canon::value_to_canonical(value);
    let is_timer = job.open_wait(&id).is_some_and(|wait| wait.kind == Some(WaitKind::Timer));
    if is_timer {
        return fired.merge(complete_wait(durable, &id, bytes(&default.unwrap_or_default()), None)).into();
    }
    let end = match default {
        Some(value) => succeeded(durable, &id, bytes(&value)),
        None => fail_permanently(&id, &Failure::new(Code::WaitTimedOut, "no signal came before the time-out")),
    };
    fired.merge(single_event(Body::WaitTimedOut { step_id: id })).merge(end).with_kind(ends_wait)
}

/// Sorts inbox rows into the order in which they become events. Timers come last, and all other rows keep their order
/// of arrival. An acknowledged request therefore takes precedence over a timer that expired meanwhile.
pub fn in_application_order(rows: Vec<InboxRow>) -> Vec<InboxRow> {
    let (timers, mut others): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| matches!(row.request, InboxRequest::Timer { .. }));
    others.extend(timers);
    others
}

fn complete_wait(durable: &Durable, id: &StepId, bytes: Vec<u8>, by: Option<String>) -> Draft {
    let payload = durable.payload_ref(&label::output(id), &bytes);
    let body = Body::WaitCompleted { step_id: id.clone(), payload, by };
    single_event(body).merge(succeeded(durable, id, bytes))
}

fn read_wait(durable: &Durable, id: &StepId) -> Result<WaitSpec, String> {
    let input = durable.input(id).ok_or("its input is missing")?;
    WaitSpec::parse(&serde_json::from_slice(&input).map_err(|error| error.to_string())?)
}
