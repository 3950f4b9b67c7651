//! Kind and frames of an exception that an operator did not handle, from the report of its SDK.

use latchwork_core::model::error::{Code, Failure};
use serde::Deserialize;

/// Detail of a failure that an SDK reports for an exception.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ExceptionDetail {
    /// JavaScript and Go: innermost frame first.
    stack: Option<String>,
    /// Python: innermost frame last.
    traceback: Option<String>,
    /// JavaScript and Python: name of the type.
    exception: Option<String>,
    /// Go: text of the panic.
    panic: Option<String>,
}

/// Exceptions that a language runtime throws for a mistake in the code. Code that reports a failure throws exceptions
/// of other types.
const MISTAKES: [&str; 11] = [
    "TypeError",
    "ReferenceError",
    "RangeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "NameError",
    "UnboundLocalError",
    "ZeroDivisionError",
    "SyntaxError",
    "RecursionError",
];
/// Beginnings of the texts of panics in Go that a mistake in the code causes.
const MISTAKES_IN_GO: [&str; 2] = ["runtime error: ", "interface conversion: "];

/// Beginning of the place of a Python frame in the SDK. If the innermost frame of an exception is in the SDK, the
/// plugin has called a function that plugins do not have.
const SDK_IN_PYTHON: &str = " (latchwork/";

/// Returns true if the language runtime or the SDK threw the exception because of a mistake in the code.
pub(super) fn is_mistake(failure: &Failure) -> bool {
    let ExceptionDetail { exception, panic, traceback, .. } = detail(failure);
    exception.is_some_and(|name| MISTAKES.contains(&name.as_str()))
        || panic.is_some_and(|text| MISTAKES_IN_GO.iter().any(|start| text.starts_with(start)))
        || traceback.is_some_and(|text| python_frames(&text).first().is_some_and(|frame| frame.contains(SDK_IN_PYTHON)))
}

fn detail(failure: &Failure) -> ExceptionDetail {
    let detail = failure.detail.as_deref().filter(|_| failure.code == Code::PluginException);
    detail.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Returns the frames of the exception, each with its function, file and line, innermost first. Returns nothing for any
/// other failure.
pub(super) fn frames(failure: &Failure) -> Vec<String> {
    let ExceptionDetail { stack, traceback, .. } = detail(failure);
    match (stack, traceback) {
        (Some(stack), _) if stack.starts_with("goroutine ") => go_frames(&stack),
        (Some(stack), _) => {
            let line = |line: &str| line.trim().trim_start_matches("at ").to_owned();
            stack.lines().map(line).filter(|line| line.contains(':')).collect()
        }
        (None, Some(traceback)) => python_frames(&traceback),
        (None, None) => vec![],
    }
}

/// Reads frames such as `main.answer(...)`, each followed by a line with its place. Leaves out the frames up to the
/// panic, because they belong to the SDK.
fn go_frames(stack: &str) -> Vec<String> {
    let lines: Vec<&str> = stack.lines().skip(1).collect();
    let pairs = lines.chunks(2).filter_map(|pair| Some((*pair.first()?, pair.get(1)?.trim())));
    let frames: Vec<(&str, &str)> =
        pairs.map(|(function, place)| (function, place.split(" +0x").next().unwrap_or(place))).collect();
    let panic = frames.iter().rposition(|(function, _)| function.starts_with("panic(")).map_or(0, |at| at + 1);
    frames[panic..].iter().map(|(function, place)| format!("{} ({place})", without_arguments(function))).collect()
}

fn without_arguments(function: &str) -> &str {
    function.rfind('(').map_or(function, |at| &function[..at])
}

/// Reads frames such as `File "plugin.py", line 7, in answer`.
fn python_frames(traceback: &str) -> Vec<String> {
    let frame = |line: &str| {
        let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
        let (number, function) = rest.split_once(", in ")?;
        Some(format!("{function} ({}:{number})", without_folder_number(file)))
    };
    let mut frames: Vec<String> = traceback.lines().filter_map(frame).collect();
    frames.reverse();
    frames
}

/// Leaves out the number of the folder in which the component contains a module, as in `/2/latchwork/_step.py`.
fn without_folder_number(file: &str) -> &str {
    let Some((number, path)) = file.strip_prefix('/').and_then(|rest| rest.split_once('/')) else { return file };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { path } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(detail: serde_json::Value) -> Vec<String> {
        frames(&Failure { detail: Some(detail.to_string()), ..Failure::new(Code::PluginException, "it failed") })
    }

    #[test]
    fn mistakes_of_code_are_distinguished_from_reported_failures() {
        let is_mistake = |detail: serde_json::Value| {
            is_mistake(&Failure {
                detail: Some(detail.to_string()),
                ..Failure::new(Code::PluginException, "it failed")
            })
        };
        for mistake in ["TypeError", "KeyError"] {
            assert!(is_mistake(serde_json::json!({ "exception": mistake })));
        }
        assert!(is_mistake(serde_json::json!({ "panic": "runtime error: index out of range [0] with length 0" })));
        for reported in ["Error", "ValueError", "RuntimeError"] {
            assert!(!is_mistake(serde_json::json!({ "exception": reported })));
        }
        assert!(!is_mistake(serde_json::json!({ "panic": "no page" })));
        let raised_in = |file: &str| {
            let frame = |file: &str| format!("  File \"{file}\", line 7, in f\n");
            let traceback = format!("Traceback (most recent call last):\n{}{}", frame("plugin.py"), frame(file));
            serde_json::json!({ "exception": "RuntimeError", "traceback": traceback })
        };
        for file in ["latchwork/_step.py", "/2/latchwork/_step.py"] {
            assert!(is_mistake(raised_in(file)), "{file}");
        }
        for file in ["plugin.py", "/2/plugin.py", "/lib/latchwork/_step.py"] {
            assert!(!is_mistake(raised_in(file)), "{file}");
        }
        assert!(!is_mistake(serde_json::json!("no object")));
    }

    /// I244: the frames of each language have function, file and line.
    #[test]
    fn frames_have_function_file_and_line() {
        let js = "    at brokenAnswer (src/plugin.js:6)\n    at <anonymous> (src/plugin.js:12)\n    at call (native)\n";
        let expected = ["brokenAnswer (src/plugin.js:6)", "<anonymous> (src/plugin.js:12)"];
        assert_eq!(frames_of(serde_json::json!({ "stack": js })), expected);
        let python = "Traceback (most recent call last):\n  File \"latchwork/_operators.py\", line 90, in serve\n    x()\n  \
                      File \"plugin.py\", line 7, in answer\nZeroDivisionError: division by zero\n";
        let expected = ["answer (plugin.py:7)", "serve (latchwork/_operators.py:90)"];
        assert_eq!(frames_of(serde_json::json!({ "traceback": python })), expected);
        let go = "goroutine 1 [running]:\nruntime/debug.Stack()\n\truntime/debug/stack.go:26 +0x5\nlatchwork.panicked({0x1, \
                  0x2})\n\tlatchwork/failure.go:119 +0x4\npanic({0x5, 0x6})\n\truntime/panic.go:792 +0x1b\nmain.answer({0x1})\n\t\
                  plugin/plugin.go:12 +0x9\n";
        assert_eq!(
            frames_of(serde_json::json!({ "panic": "oops", "stack": go })),
            ["main.answer (plugin/plugin.go:12)"]
        );
        assert_eq!(frames(&Failure::new(Code::PluginTrap, "it trapped")), [""; 0]);
        assert_eq!(frames_of(serde_json::json!("no object")), [""; 0]);
    }
}
