//! `wasi:http`: no request can be made.
//!
//! Refused where a request begins (its fields), by name: an error that `fetch` hides behind a
//! `TypeError` would not tell anybody what to do.

use super::absent::Answer;

const INSTEAD: &str = "a step has no network; call a tool with an http grant through latchwork:plugin/tools";

/// What the functions of an interface answer, if it is one of these.
pub(super) fn answers(interface: &str) -> Option<fn(&str) -> Answer> {
    matches!(interface, "wasi:http/types" | "wasi:http/outgoing-handler").then_some(answer)
}

fn answer(function: &str) -> Answer {
    match function {
        "http-error-code" => Answer::NoCode,
        _ => Answer::Refused(INSTEAD),
    }
}
