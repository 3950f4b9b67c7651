//! `wasi:http`: no request can be made.
//!
//! A guest creates header fields before it makes a request. The call that creates header fields ends the step, and the
//! message names the function and the alternative. If the call returned an error instead, `fetch` of a JavaScript guest
//! would replace the error with a `TypeError` that gives no advice.

use crate::engine::virtual_wasi::absent::AbsentAnswer;

const INSTEAD: &str = "a step has no network; call a tool with an http grant through latchwork:plugin/tools";

/// Returns the answer of a function of the package.
pub(super) fn answer(function: &str) -> AbsentAnswer {
    match function {
        "http-error-code" => AbsentAnswer::NoErrorCode,
        _ => AbsentAnswer::Refused(INSTEAD),
    }
}
