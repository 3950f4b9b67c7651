//! `wasi:filesystem`: there are no preopened directories, so no path can be opened.

use super::absent::Answer;

const INSTEAD: &str = "a step has no files; take the content in the input, \
     or call a tool with a directory grant through latchwork:plugin/tools";

/// Returns the answers of an interface's functions if the interface belongs to `wasi:filesystem`.
pub(super) fn answers(interface: &str) -> Option<fn(&str) -> Answer> {
    matches!(interface, "wasi:filesystem/types" | "wasi:filesystem/preopens").then_some(answer)
}

fn answer(function: &str) -> Answer {
    match function {
        "get-directories" => Answer::Nothing,
        "filesystem-error-code" => Answer::NoCode,
        // Methods of descriptors. No descriptor can exist.
        _ => Answer::Refused(INSTEAD),
    }
}
