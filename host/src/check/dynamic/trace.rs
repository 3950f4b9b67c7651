//! Traces of runs, and the first difference between two traces.

use latchwork_core::error::{Code, Failure};
use latchwork_core::replay::differences;
use serde::{Deserialize, Serialize};

/// A host call of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Asked {
    /// The step called a tool.
    Call { operator: String, args: String, action_key: Option<String>, together: bool },
    /// The step emitted an event.
    Emit { name: String, payload: String },
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ended {
    /// The step returned this output.
    Output(String),
    /// The step returned an error.
    Failed(Failure),
    /// The host ended the run with this failure.
    Fault(Failure),
    /// The run stopped at a call.
    Stopped,
}

/// A call that differs from the one its case expects.
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
    pub(crate) asked: Vec<Asked>,
    pub(crate) ended: Ended,
    pub(crate) fuel: u64,
    pub(crate) memory_bytes: u64,
    /// Call stack at which the host ended the run.
    pub(crate) functions: Vec<String>,
    /// True if the step read its clock.
    pub(crate) took_time: bool,
    /// True if the step used random numbers.
    pub(crate) took_chance: bool,
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
            Asked::Call { operator, args, .. } => Some((operator, args)),
            Asked::Emit { .. } => None,
        })
    }

    /// Returns the failure with which the host ended the run.
    pub(crate) fn fault(&self) -> Option<&Failure> {
        match &self.ended {
            Ended::Fault(failure) => Some(failure),
            _ => None,
        }
    }

    /// Returns the code of the failure with which the host ended the run.
    pub(crate) fn fault_code(&self) -> Option<Code> {
        self.fault().map(|failure| failure.code)
    }

    /// Describes the end of the run in a few words.
    pub(crate) fn end(&self) -> String {
        match &self.ended {
            Ended::Output(_) => "an output".to_owned(),
            Ended::Failed(failure) => format!("error {}", failure.code),
            Ended::Fault(failure) => format!("ended by {}", failure.code),
            Ended::Stopped => format!("stopped at call {}", self.calls().count()),
        }
    }
}

/// The first difference between two runs: a description and both values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parting {
    pub(crate) what: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Parting {
    fn new(what: impl Into<String>, expected: &str, found: &str) -> Self {
        // For JSON, report the first value that differs.
        match differences(expected, found).into_iter().next() {
            Some(first) if !first.at.is_empty() => {
                let shown = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
                let what = format!("{} at {}", what.into(), first.at);
                Self { what, expected: shown(first.recorded), found: shown(first.found) }
            }
            _ => Self { what: what.into(), expected: expected.to_owned(), found: found.to_owned() },
        }
    }
}

/// Returns the first difference in host calls or in the end of two runs.
pub(crate) fn behaviour(one: &Trace, two: &Trace) -> Option<Parting> {
    let mut call = 0;
    for n in 0..one.asked.len().max(two.asked.len()) {
        let (a, b) = (one.asked.get(n), two.asked.get(n));
        if a != b {
            return Some(asked(call, n, a, b));
        }
        call += usize::from(matches!(a, Some(Asked::Call { .. })));
    }
    match (&one.ended, &two.ended) {
        (Ended::Output(a), Ended::Output(b)) => (a != b).then(|| Parting::new("output", a, b)),
        (Ended::Failed(a), Ended::Failed(b)) => {
            let text = |failure: &Failure| serde_json::to_string(failure).expect("a failure is JSON");
            (a != b).then(|| Parting::new("error", &text(a), &text(b)))
        }
        // The message of a fault contains names of functions, which depend on inlining by the compiler.
        (Ended::Fault(a), Ended::Fault(b)) => {
            (a.code != b.code).then(|| Parting::new("fault", a.code.as_str(), b.code.as_str()))
        }
        (Ended::Stopped, Ended::Stopped) => None,
        _ => Some(Parting::new("end", &one.end(), &two.end())),
    }
}

/// Returns the first difference in behaviour, fuel or memory of two runs.
pub(crate) fn everything(one: &Trace, two: &Trace) -> Option<Parting> {
    let number = |what: &str, a: u64, b: u64| {
        (a != b).then(|| Parting { what: what.to_owned(), expected: a.to_string(), found: b.to_string() })
    };
    behaviour(one, two)
        .or_else(|| number("fuel", one.fuel, two.fuel))
        .or_else(|| number("memory at the end, in bytes", one.memory_bytes, two.memory_bytes))
}

fn asked(call: usize, n: usize, one: Option<&Asked>, two: Option<&Asked>) -> Parting {
    match (one, two) {
        (
            Some(Asked::Call { operator: a, args: c, action_key: e, together: g }),
            Some(Asked::Call { operator: b, args: d, action_key: f, together: h }),
        ) => {
            let of = |what: &str| format!("{what} of call {call}");
            if a != b {
                return Parting::new(of("operator"), a, b);
            }
            if c != d {
                return Parting::new(format!("arguments of call {call} ({a})"), c, d);
            }
            if e != f {
                let word = |key: &Option<String>| key.clone().unwrap_or_else(|| "none".to_owned());
                return Parting::new(of("action key"), &word(e), &word(f));
            }
            let word = |together: &bool| if *together { "made with others at once" } else { "made by itself" };
            Parting::new(of("way"), word(g), word(h))
        }
        (Some(Asked::Emit { name: a, payload: c }), Some(Asked::Emit { name: b, payload: d })) => match a == b {
            true => Parting::new(format!("payload of the event {a:?}"), c, d),
            false => Parting::new(format!("name of the event at place {n}"), a, b),
        },
        _ => {
            let told = |asked: Option<&Asked>| match asked {
                Some(Asked::Call { operator, args, .. }) => format!("call of {operator} with {args}"),
                Some(Asked::Emit { name, payload }) => format!("event {name:?} with {payload}"),
                None => "nothing more".to_owned(),
            };
            Parting { what: format!("what is asked for at place {n}"), expected: told(one), found: told(two) }
        }
    }
}
