//! `wasi:filesystem`: there are no preopened directories, so no path can be opened.

use crate::engine::virtual_wasi::absent::AbsentAnswer;

const INSTEAD: &str = "a step has no files; take the content in the input, \
     or call a tool with a directory grant through latchwork:plugin/tools";

/// Returns the answer of a function of the package.
pub(super) fn answer(function: &str) -> AbsentAnswer {
    match function {
        "get-directories" => AbsentAnswer::EmptyList,
        "filesystem-error-code" => AbsentAnswer::NoErrorCode,
        // Methods of descriptors. No descriptor can exist.
        _ => AbsentAnswer::Refused(INSTEAD),
    }
}
