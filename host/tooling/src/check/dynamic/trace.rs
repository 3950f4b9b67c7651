//! Traces of runs, and the first difference between two traces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use latchwork_core::model::differences::differences;
use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::guest::step_calls::NondeterminismSource;

/// A host call of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum HostCall {
    /// The step called a tool.
    Call { operator: String, args: String, action_key: Option<String>, together: bool },
    /// The step emitted an event.
    Emit { name: String, payload: String },
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RunEnd {
    /// The step returned this output.
    Output(String),
    /// The step returned an error.
    Failed(Failure),
    /// The host ended the run with this failure.
    Fault(Failure),
    /// The [`RunScript`](crate::check::dynamic::script::RunScript) ended the run. The script had no answer for a call,
    /// expected another host call, or simulated a crash.
    Stopped,
}

/// A call that differs from the call that the case expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mismatch {
    pub(crate) call: usize,
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// Record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trace {
    pub(crate) asked: Vec<HostCall>,
    pub(crate) ended: RunEnd,
    pub(crate) fuel: u64,
    pub(crate) memory_bytes: u64,
    /// Call stack at which the host ended the run.
    pub(crate) functions: Vec<String>,
    /// True if the step read its clock.
    pub(crate) took_time: bool,
    /// True if the step used random numbers.
    pub(crate) took_chance: bool,
    /// Number of reads of each source. Reads during the instantiation are not counted.
    pub(crate) reads: BTreeMap<NondeterminismSource, u32>,
    /// Number of log records.
    pub(crate) logs: u32,
    /// True if the run ended at a call for which the script has no answer.
    pub(crate) unanswered: bool,
    pub(crate) mismatch: Option<Mismatch>,
    /// Number of answers that no call used.
    pub(crate) unused: usize,
}

impl Trace {
    /// Returns operator and arguments of the calls, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&String, &String)> {
        self.asked.iter().filter_map(|asked| match asked {
            HostCall::Call { operator, args, .. } => Some((operator, args)),
            HostCall::Emit { .. } => None,
        })
    }

    /// Returns operator, action key and arguments of the calls with an action key, in order.
    pub(crate) fn keyed_calls(&self) -> impl Iterator<Item = (&String, &String, &String)> {
        self.asked.iter().filter_map(|asked| match asked {
            HostCall::Call { operator, args, action_key: Some(key), .. } => Some((operator, key, args)),
            HostCall::Call { .. } | HostCall::Emit { .. } => None,
        })
    }

    /// Returns the failure with which the host ended the run.
    pub(crate) fn fault(&self) -> Option<&Failure> {
        match &self.ended {
            RunEnd::Fault(failure) => Some(failure),
            _ => None,
        }
    }

    /// Returns the code of the failure with which the host ended the run.
    pub(crate) fn fault_code(&self) -> Option<Code> {
        self.fault().map(|failure| failure.code)
    }

    /// Describes the end of the run in a few words.
    pub(crate) fn describe_end(&self) -> String {
        match &self.ended {
            RunEnd::Output(_) => "an output".to_owned(),
            RunEnd::Failed(failure) => format!("error {}", failure.code),
            RunEnd::Fault(failure) => format!("ended by {}", failure.code),
            RunEnd::Stopped => format!("stopped at call {}", self.calls().count()),
        }
    }
}

/// The first difference between two runs: a description and both values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstDifference {
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl FirstDifference {
    fn new(what: impl Into<String>, expected: &str, found: &str) -> Self {
        // For JSON, report the first value that differs.
        match differences(expected, found).into_iter().next() {
            Some(first) if !first.at.is_empty() => {
                let displayed = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
                let what = format!("{} at {}", what.into(), first.at);
                Self { what, expected: displayed(first.recorded), found: displayed(first.found) }
            }
            _ => Self { what: what.into(), expected: expected.to_owned(), found: found.to_owned() },
        }
    }
}

/// Returns the first difference in host calls or in the end of two runs.
pub(crate) fn compare_behaviour(one: &Trace, two: &Trace) -> Option<FirstDifference> {
    let mut call = 0;
    for n in 0..one.asked.len().max(two.asked.len()) {
        let (a, b) = (one.asked.get(n), two.asked.get(n));
        if a != b {
            return Some(host_call_difference(call, n, a, b));
        }
        call += usize::from(matches!(a, Some(HostCall::Call { .. })));
    }
    match (&one.ended, &two.ended) {
        (RunEnd::Output(a), RunEnd::Output(b)) => (a != b).then(|| FirstDifference::new("output", a, b)),
        (RunEnd::Failed(a), RunEnd::Failed(b)) => {
            let text = |failure: &Failure| serde_json::to_string(failure).expect("a failure is JSON");
            (a != b).then(|| FirstDifference::new("error", &text(a), &text(b)))
        }
        // Only the codes are compared. The messages contain names of functions, and these names depend on inlining by
        // the compiler.
        (RunEnd::Fault(a), RunEnd::Fault(b)) => {
            (a.code != b.code).then(|| FirstDifference::new("fault", a.code.as_str(), b.code.as_str()))
        }
        (RunEnd::Stopped, RunEnd::Stopped) => None,
        _ => Some(FirstDifference::new("end", &one.describe_end(), &two.describe_end())),
    }
}

/// Like [`compare_behaviour`], but without the details of an exception. The details contain a stack trace, and the
/// addresses and lengths in the stack trace differ from job to job.
pub(crate) fn compare_between_jobs(one: &Trace, two: &Trace) -> Option<FirstDifference> {
    let without_details = |trace: &Trace| {
        let mut trace = trace.clone();
        if let RunEnd::Failed(failure) = &mut trace.ended
            && !failure.code.is_guest_code()
        {
            failure.detail = None;
        }
        trace
    };
    compare_behaviour(&without_details(one), &without_details(two))
}

/// Returns the first difference in behaviour, fuel or memory of two runs.
pub(crate) fn compare_with_usage(one: &Trace, two: &Trace) -> Option<FirstDifference> {
    let number = |what: &str, a: u64, b: u64| {
        (a != b).then(|| FirstDifference { what: what.to_owned(), expected: a.to_string(), found: b.to_string() })
    };
    compare_behaviour(one, two)
        .or_else(|| number("fuel", one.fuel, two.fuel))
        .or_else(|| number("memory at the end, in bytes", one.memory_bytes, two.memory_bytes))
}

fn host_call_difference(call: usize, n: usize, one: Option<&HostCall>, two: Option<&HostCall>) -> FirstDifference {
    match (one, two) {
        (
            Some(HostCall::Call { operator: a, args: c, action_key: e, together: g }),
            Some(HostCall::Call { operator: b, args: d, action_key: f, together: h }),
        ) => {
            let of = |what: &str| format!("{what} of call {call}");
            if a != b {
                return FirstDifference::new(of("operator"), a, b);
            }
            if c != d {
                return FirstDifference::new(format!("arguments of call {call} ({a})"), c, d);
            }
            if e != f {
                let word = |key: &Option<String>| key.clone().unwrap_or_else(|| "none".to_owned());
                return FirstDifference::new(of("action key"), &word(e), &word(f));
            }
            let word = |together: &bool| if *together { "made with others at once" } else { "made by itself" };
            FirstDifference::new(of("way"), word(g), word(h))
        }
        (Some(HostCall::Emit { name: a, payload: c }), Some(HostCall::Emit { name: b, payload: d })) => match a == b {
            true => FirstDifference::new(format!("payload of the event {a:?}"), c, d),
            false => FirstDifference::new(format!("name of the event at place {n}"), a, b),
        },
        _ => {
            let described = |asked: Option<&HostCall>| match asked {
                Some(HostCall::Call { operator, args, .. }) => format!("call of {operator} with {args}"),
                Some(HostCall::Emit { name, payload }) => format!("event {name:?} with {payload}"),
                None => "nothing more".to_owned(),
            };
            FirstDifference {
                what: format!("what is asked for at place {n}"),
                expected: described(one),
                found: described(two),
            }
        }
    }
}
