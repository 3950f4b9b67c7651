//! `wasi:filesystem`: no directory is preopened, so no path leads anywhere.

use super::absent::Answer;

const INSTEAD: &str = "a step has no files; take the content in the input, \
     or call a tool with a directory grant through latchwork:plugin/tools";

/// What the functions of an interface answer, if it is one of these.
pub(super) fn answers(interface: &str) -> Option<fn(&str) -> Answer> {
    matches!(interface, "wasi:filesystem/types" | "wasi:filesystem/preopens").then_some(answer)
}

fn answer(function: &str) -> Answer {
    match function {
        "get-directories" => Answer::Nothing,
        "filesystem-error-code" => Answer::NoCode,
        // Methods of descriptors, and nobody has one.
        _ => Answer::Refused(INSTEAD),
    }
}
