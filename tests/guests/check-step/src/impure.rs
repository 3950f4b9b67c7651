//! Steps that read what differs from job to job, and steps that keep state. The input says what they do.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::Answer;
use crate::latchwork::plugin::{clock, context, rng};

/// Returns the value that the input names in `returns`.
pub(crate) fn returns(input: Value) -> Answer {
    let seconds = || clock::now().seconds;
    let of = context::get;
    let value = match input["returns"].as_str().unwrap_or_default() {
        "actor" => json!(of().actor),
        "tenant" => json!(of().tenant),
        "plan id" => json!(of().plan_id),
        "step id" => json!(of().step_id),
        "job id" => json!(of().job_id),
        "correlation id" => json!(of().correlation_id),
        "length of the actor" => json!(of().actor.len()),
        "fifth second" => json!(seconds() % 5 == 0),
        "first half of the year" => json!(seconds() / 86_400 % 365 < 181),
        "this century" => json!(seconds() > 946_684_800),
        "one of two" => json!(rng::below(2)),
        "one of twenty" => json!(rng::below(20) == 0),
        "actor and second" => json!(format!("{} {}", of().actor, seconds())),
        _ => json!(0),
    };
    Ok(json!({ "ok": value }))
}

/// Reads the source that the input names in `reads`, and does not use it.
pub(crate) fn reads(input: Value) -> Answer {
    match input["reads"].as_str().unwrap_or_default() {
        "clock" => drop(black_box(reads_the_clock())),
        "random" => drop(black_box(rng::next_u32())),
        "context" => drop(black_box(context::get())),
        _ => {}
    }
    Ok(json!({ "ok": 0 }))
}

#[inline(never)]
fn reads_the_clock() -> u64 {
    clock::now().seconds.unsigned_abs()
}

/// Counts its runs in one instance. The input says from which run on the count is used, and if a random number is drawn.
pub(crate) fn counts(input: Value) -> Answer {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    static STATE: AtomicU32 = AtomicU32::new(0);
    if input["draws"] == true {
        black_box(rng::next_u32());
    }
    if input["generator"] == true {
        // A generator that the first run seeds.
        if STATE.load(Ordering::Relaxed) == 0 {
            STATE.store(rng::next_u32() | 1, Ordering::Relaxed);
        }
        let next = STATE.load(Ordering::Relaxed).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        STATE.store(next, Ordering::Relaxed);
        return Ok(json!({ "ok": next }));
    }
    let run = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
    Ok(json!({ "ok": u64::from(run) > input["after"].as_u64().unwrap_or(0) }))
}
