//! Manipulated traces. The protocol forbids each manipulation, and the model must reject the trace at the place
//! of the manipulation.

#![expect(clippy::ptr_arg, reason = "every change has the same signature")]

use latchwork_core::rules::ledger::RowState;
use latchwork_model::trace::Observation;
use latchwork_model::{Answer, Job, ModelClass, ModelRequest, Record, Verdict};

use crate::traces::observations::ObservedJob;

/// Manipulates a trace at the given index if possible. Returns the index of the manipulation.
pub(crate) type Manipulation = fn(&mut Vec<Observation>, usize, &[ModelClass]) -> Option<usize>;

pub(crate) const KINDS: [(&str, Manipulation); 13] = [
    ("a barrier is missing", without_barrier),
    ("a request leaves before its barrier", sent_too_early),
    ("a superseded attempt is admitted", by_the_one_before),
    ("another answer is recorded afterwards", second_commit),
    ("an effect is lost", without_effect),
    ("another answer is recorded", other_answer),
    ("a verdict before the world has settled", early_verdict),
    ("a call starts after a cancel", started_after_cancel),
    ("a claim is skipped", without_claim),
    ("the world changes twice", arrives_twice),
    ("the key names another attempt", other_key),
    ("a repeat without its verdict", without_verdict),
    ("a tool is asked before its call is in doubt", asked_too_early),
];

/// Manipulates the trace at the first possible index at or after `from`. Returns the trace, the index of the
/// manipulation, and the index at which to continue.
pub(crate) fn manipulated(job: &ObservedJob, tamper: Manipulation, from: usize) -> Option<(ObservedJob, usize, usize)> {
    (from..job.seen.len()).find_map(|at| {
        let mut changed = job.clone();
        let place = tamper(&mut changed.seen, at, &job.calls)?;
        Some((changed, place, at + 1))
    })
}

fn job_of(seen: &Observation) -> Option<&Job> {
    match seen {
        Observation::Claimed { job } | Observation::Wrote { job, .. } | Observation::RequestMade { job } => Some(job),
        _ => None,
    }
}

/// Returns the database before an observation.
fn before(trace: &[Observation], at: usize) -> Option<&Job> {
    trace[..at].iter().rev().find_map(job_of)
}

/// Returns four facts about a write: its attempt, the database before the write, the database after the write, and the
/// invocation whose record the write changes.
fn write(trace: &[Observation], at: usize) -> Option<(u8, &Job, &Job, usize)> {
    let Observation::Wrote { by, job } = &trace[at] else { return None };
    let [by] = by.as_slice() else { return None };
    let old = before(trace, at)?;
    let slot = (0..job.records.len()).find(|slot| job.records[*slot] != old.records[*slot])?;
    Some((*by, old, job, slot))
}

fn change(trace: &mut [Observation], at: usize, change: impl FnOnce(&mut Job)) {
    if let Observation::Claimed { job } | Observation::Wrote { job, .. } | Observation::RequestMade { job } =
        &mut trace[at]
    {
        change(job);
    }
}

fn has_state(record: &Record, state: RowState) -> bool {
    record.row.is_some_and(|row| row.state == state as u8)
}

/// Returns the attempt and the slot if this observation writes a barrier.
fn barrier(trace: &[Observation], at: usize) -> Option<(u8, usize)> {
    let (by, old, job, slot) = write(trace, at)?;
    let starts = job.records[slot].tries > old.records[slot].tries && has_state(&job.records[slot], RowState::Inflight);
    starts.then_some((by, slot))
}

/// Returns the attempt, the slot and the answer if this observation records a final answer.
fn commit(trace: &[Observation], at: usize) -> Option<(u8, usize, Answer)> {
    let (by, old, job, slot) = write(trace, at)?;
    let commits = job.records[slot].committed && !old.records[slot].committed;
    Some((by, slot, job.records[slot].answer().filter(|_| commits)?))
}

fn without_barrier(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    barrier(trace, at)?;
    matches!(trace.get(at + 1), Some(Observation::Sent { .. })).then(|| trace.remove(at))?;
    Some(at)
}

fn sent_too_early(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    barrier(trace, at)?;
    matches!(trace.get(at + 1), Some(Observation::Sent { .. })).then(|| trace.swap(at, at + 1))?;
    Some(at)
}

fn by_the_one_before(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let by = barrier(trace, at).map(|(by, _)| by).or_else(|| commit(trace, at).map(|(by, ..)| by))?;
    let before = by.checked_sub(1).filter(|before| *before > 0)?;
    if let Observation::Wrote { by, .. } = &mut trace[at] {
        *by = vec![before];
    }
    Some(at)
}

fn second_commit(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let (_, slot, answer) = commit(trace, at)?;
    let Answer::Ok(_) = answer else { return None };
    trace.insert(at + 1, trace[at].clone());
    change(trace, at + 1, |job| job.records[slot].finished = Some((job.records[slot].tries, Answer::NotApplied)));
    Some(at + 1)
}

fn without_effect(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let (_, old, job, slot) = write(trace, at)?;
    let (old, new) = (old.records[slot].effects, job.records[slot].effects);
    let lost = old.iter().zip(&new).position(|(old, new)| old != new)?;
    // Only an atomic commit is manipulated. In a staged commit, the effect is a write of its own.
    commit(trace, at)?;
    change(trace, at, |job| job.records[slot].effects[lost] = None);
    Some(at)
}

fn other_answer(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let (_, slot, answer) = commit(trace, at)?;
    let Answer::Ok(value) = answer else { return None };
    change(trace, at, |job| {
        let record = &mut job.records[slot];
        let (try_no, _) = record.finished.expect("it is committed");
        record.finished = Some((try_no, Answer::Ok(value + 1)));
        if let Some(effect) = &mut record.effects[usize::from(try_no) - 1] {
            effect.answer = Answer::Ok(value + 1);
        }
    });
    Some(at)
}

fn early_verdict(trace: &mut Vec<Observation>, at: usize, calls: &[ModelClass]) -> Option<usize> {
    let Observation::RequestMade { job } = &trace[at] else { return None };
    let Some(ModelRequest::Resolve { slot, try_no, found_result: Some(_) }) = job.inbox.last().copied() else {
        return None;
    };
    let number = usize::from(slot);
    let is_it = |note: &ModelRequest| matches!(note, ModelRequest::Resolve { slot: s, try_no: t, .. } if (*s, *t) == (slot, try_no));
    let news = !trace[..at].iter().filter_map(job_of).any(|job| job.inbox.iter().any(is_it));
    let nothing_else = job.records[number].effects.iter().all(Option::is_none);
    if !news || !nothing_else || calls[number] != ModelClass::Opaque {
        return None;
    }
    // The manipulation moves the arrival of the call's request after the person's request. The person then finds no
    // result in the world and decides that nothing happened.
    let sent = (slot, try_no);
    let arrives =
        |seen: &Observation| matches!(seen, Observation::Arrived { slot, try_no, .. } if (*slot, *try_no) == sent);
    let arrived = trace[..at].iter().position(arrives)?;
    let arrived = trace.remove(arrived);
    trace.insert(at, arrived);
    change(trace, at - 1, |job| {
        let last = job.inbox.last_mut().expect("it has one");
        *last = ModelRequest::Resolve { slot, try_no, found_result: None };
    });
    Some(at - 1)
}

fn started_after_cancel(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    barrier(trace, at)?;
    let mut job = before(trace, at)?.clone();
    if job.cancel_flag {
        return None;
    }
    let asks = |job: &mut Job| {
        job.cancel_flag = true;
        job.inbox.push(ModelRequest::Cancel);
    };
    asks(&mut job);
    change(trace, at, asks);
    trace.insert(at, Observation::RequestMade { job });
    Some(at + 1)
}

fn without_claim(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let Observation::Claimed { job } = &trace[at] else { return None };
    let attempt = job.attempt;
    let next = matches!(trace.get(at + 1), Some(Observation::Wrote { by, .. }) if *by == [attempt]);
    next.then(|| trace.remove(at))?;
    Some(at)
}

fn arrives_twice(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let Observation::Arrived { .. } = trace[at] else { return None };
    trace.insert(at + 1, trace[at].clone());
    Some(at + 1)
}

fn other_key(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let Observation::Sent { key, .. } = &mut trace[at] else { return None };
    *key += 1;
    Some(at)
}

fn without_verdict(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let (_, slot) = barrier(trace, at)?;
    let (_, old, job, _) = write(trace, at)?;
    let (old, new) = (old.records[slot].verdicts, job.records[slot].verdicts);
    let at_try = old.iter().zip(&new).position(|(old, new)| old != new && *new == Some(Verdict::Repeat))?;
    change(trace, at, |job| job.records[slot].verdicts[at_try] = None);
    Some(at)
}

fn asked_too_early(trace: &mut Vec<Observation>, at: usize, _: &[ModelClass]) -> Option<usize> {
    let (by, _, job, slot) = write(trace, at)?;
    let doubts = has_state(&job.records[slot], RowState::Indeterminate);
    let asks = matches!(trace.get(at + 1), Some(Observation::ReconcileAsked { by: asks, .. }) if *asks == by);
    (doubts && asks).then(|| trace.swap(at, at + 1))?;
    Some(at)
}
