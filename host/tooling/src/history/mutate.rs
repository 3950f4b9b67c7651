//! Mutations of single parts of a history.

use serde_json::{Value, json};

use latchwork_core::encoding::canon;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::plan::bindings::child;

use crate::history::types::{Args, History, RecordedEnd, RecordedHostCall};

/// Maximum number of parts of one JSON text that are changed.
const PARTS_MAX: usize = 24;
/// Delay that a mutation adds to the time of an answer, in microseconds: one hour.
const TIME_US: i64 = 3_600_000_000;

/// Kind of a change to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MutationKind {
    /// An entry is removed.
    Drop,
    /// An entry is swapped with the next entry.
    Swap,
    /// An entry is duplicated.
    Duplicate,
    /// The operator of a call is changed.
    Operator,
    /// A part of a call's arguments is changed.
    Args,
    /// A part of an answer is changed, or a result and an error replace each other.
    Answer,
    /// An answer arrives an hour later.
    Time,
    /// The name or a part of the payload of an event is changed.
    Event,
    /// A part of a step's input is changed.
    Input,
    /// A part of a step's output is changed, or an output and a failure replace each other.
    Output,
}

/// A history with one change.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// Kind of the change.
    pub kind: MutationKind,
    /// Description of the change.
    pub description: String,
    /// The changed history.
    pub history: History,
}

impl History {
    /// Returns all mutations of the history. Each mutation changes a single part. Entries are dropped,
    /// duplicated, or swapped with the next entry. Operators, arguments, answers, times, events, inputs and
    /// outputs are changed.
    pub fn mutations(&self) -> impl Iterator<Item = Mutation> + '_ {
        all_mutations(self)
    }
}

/// Returns all mutations, first of entries, then of runs.
fn all_mutations(history: &History) -> impl Iterator<Item = Mutation> + '_ {
    let entries = (0..history.entries.len()).flat_map(move |index| of_entry(history, index));
    let runs = (0..history.runs.len()).flat_map(move |index| of_run(history, index));
    entries.chain(runs)
}

fn of_entry(history: &History, index: usize) -> Vec<Mutation> {
    let described = describe_entry(history, index);
    let make = |kind, description: String, change: &dyn Fn(&mut History)| {
        let mut history = history.clone();
        change(&mut history);
        Mutation { kind, description, history }
    };
    let mut all = vec![
        make(MutationKind::Drop, format!("{described} is left out"), &|history| drop(history.entries.remove(index))),
        make(MutationKind::Duplicate, format!("{described} is there twice"), &|history| {
            history.entries.insert(index, history.entries[index].clone());
        }),
    ];
    if index + 1 < history.entries.len() {
        let next = crate::history::mutate::describe_entry(history, index + 1);
        all.push(make(MutationKind::Swap, format!("{described} changes places with {next}"), &|history| {
            history.entries.swap(index, index + 1);
        }));
    }
    for (kind, what, asked) in changed_calls(&history.entries[index].host_call) {
        all.push(make(kind, format!("{described}: {what}"), &|history| {
            history.entries[index].host_call = asked.clone()
        }));
    }
    all
}

/// Returns the changed variants of one host call.
fn changed_calls(asked: &RecordedHostCall) -> Vec<(MutationKind, String, RecordedHostCall)> {
    let mut all = Vec::new();
    match asked {
        RecordedHostCall::Event { name, payload } => {
            let event =
                |name: &str, payload: &str| RecordedHostCall::Event { name: name.into(), payload: payload.into() };
            all.push((MutationKind::Event, "another name".to_owned(), event(&format!("{name}~"), payload)));
            for (at, changed) in changed_parts(payload) {
                all.push((MutationKind::Event, format!("payload, another {at}"), event(name, &changed.to_string())));
            }
        }
        RecordedHostCall::Call { operator, args, action_key, answer, time_us } => {
            let call =
                |operator: &str, args: &Args, answer: &Result<String, Failure>, time_us: i64| RecordedHostCall::Call {
                    operator: operator.into(),
                    args: args.clone(),
                    action_key: *action_key,
                    answer: answer.clone(),
                    time_us,
                };
            all.push((
                MutationKind::Operator,
                "another operator".to_owned(),
                call(&format!("{operator}~"), args, answer, *time_us),
            ));
            for (what, args) in changed_args(args) {
                all.push((MutationKind::Args, what, call(operator, &args, answer, *time_us)));
            }
            for (what, answer) in changed_answers(answer) {
                all.push((MutationKind::Answer, what, call(operator, args, &answer, *time_us)));
            }
            let later = call(operator, args, answer, time_us.saturating_add(TIME_US));
            all.push((MutationKind::Time, "answered an hour later".to_owned(), later));
        }
    }
    all
}

/// Returns changed variants of the arguments of a call, each with a description.
fn changed_args(args: &Args) -> Vec<(String, Args)> {
    let canonical = |value: &Value| String::from_utf8_lossy(&canon::value_to_canonical(value)).into_owned();
    match args {
        Args::Text(text) => {
            let changed = changed_parts(text).into_iter();
            changed.map(|(at, value)| (format!("arguments, another {at}"), Args::Text(canonical(&value)))).collect()
        }
        Args::Hashed { salt, reference } => {
            let mut reference = *reference;
            reference.hash.0[0] ^= 1;
            vec![("other arguments".to_owned(), Args::Hashed { salt: *salt, reference })]
        }
    }
}

/// Returns changed variants of an answer, each with a description.
fn changed_answers(answer: &Result<String, Failure>) -> Vec<(String, Result<String, Failure>)> {
    match answer {
        Ok(result) => {
            let changed = changed_parts(result).into_iter();
            let mut all: Vec<_> =
                changed.map(|(at, value)| (format!("answer, another {at}"), Ok(value.to_string()))).collect();
            let failure = Failure::new(Code::AuthForbidden, "a changed history says so");
            all.push(("answered with an error".to_owned(), Err(failure)));
            all
        }
        Err(failure) => {
            let other = if failure.code == Code::AuthForbidden { Code::InvalidInput } else { Code::AuthForbidden };
            vec![
                ("another error".to_owned(), Err(Failure { code: other, ..failure.clone() })),
                ("answered, and with no error".to_owned(), Ok("null".to_owned())),
            ]
        }
    }
}

fn of_run(history: &History, index: usize) -> Vec<Mutation> {
    let run = &history.runs[index];
    let mut all = Vec::new();
    for (at, changed) in changed_parts(&run.input) {
        let mut history = history.clone();
        history.runs[index].input = changed.to_string();
        let description = format!("the input of {}, another {at}", run.step_id);
        all.push(Mutation { kind: MutationKind::Input, description, history });
    }
    let ends = match &run.end {
        RecordedEnd::Output(output) => {
            let changed = changed_parts(output).into_iter();
            let mut ends: Vec<_> =
                changed.map(|(at, value)| (format!("another {at}"), RecordedEnd::Output(value.to_string()))).collect();
            ends.push(("an error instead".to_owned(), RecordedEnd::Failed(Code::AuthForbidden)));
            ends
        }
        RecordedEnd::Failed(_) => vec![("null, and no error".to_owned(), RecordedEnd::Output("null".to_owned()))],
    };
    for (what, end) in ends {
        let mut history = history.clone();
        history.runs[index].end = end;
        let description = format!("the output of {}: {what}", run.step_id);
        all.push(Mutation { kind: MutationKind::Output, description, history });
    }
    all
}

/// Describes an entry, such as `the call s3/1 of Web.Fetch`.
fn describe_entry(history: &History, index: usize) -> String {
    let entry = &history.entries[index];
    let is_call = |asked: &RecordedHostCall| matches!(asked, RecordedHostCall::Call { .. });
    let kind = is_call(&entry.host_call);
    let before = history.entries[..index].iter();
    let n = before.filter(|other| other.step_id == entry.step_id && is_call(&other.host_call) == kind).count();
    match &entry.host_call {
        RecordedHostCall::Call { operator, .. } => format!("the call {}/{n} of {operator}", entry.step_id),
        RecordedHostCall::Event { name, .. } => format!("the event {}:e{n}, {name}", entry.step_id),
    }
}

/// Changes each part of a JSON text in turn. Returns the JSON pointer of each changed part, with the whole value after
/// the change. A text that is not JSON has a single part.
fn changed_parts(text: &str) -> Vec<(String, Value)> {
    let Ok(whole) = serde_json::from_str::<Value>(text) else {
        return vec![("text".to_owned(), json!(format!("{text}~")))];
    };
    let mut places = Vec::new();
    leaves(&whole, String::new(), &mut places);
    places
        .into_iter()
        .map(|at| {
            let mut changed = whole.clone();
            let part = changed.pointer_mut(&at).expect("the place was just found");
            *part = other(part);
            (if at.is_empty() { "value".to_owned() } else { at }, changed)
        })
        .collect()
}

fn leaves(value: &Value, at: String, places: &mut Vec<String>) {
    if places.len() == PARTS_MAX {
        return;
    }
    match value {
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(i, item)| leaves(item, child(&at, &i.to_string()), places));
        }
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, member)| leaves(member, child(&at, name), places));
        }
        _ => places.push(at),
    }
}

/// Returns a different value. The type stays the same, except that null becomes 0.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!(0),
        Value::Bool(value) => json!(!value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => json!(whole.checked_add(1).unwrap_or(0)),
            (None, number) => json!(number.unwrap_or(0.0) / 2.0 + 1.0),
        },
        Value::String(text) => json!(format!("{text}~")),
        Value::Array(_) => json!([null]),
        Value::Object(_) => json!({ "~": null }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{HistoryEntry, StepRun};

    fn history() -> History {
        let run = |id: &str| StepRun::new(id, "A.B", r#"{"n":1}"#, RecordedEnd::Output("[true]".into()));
        let entry = |id: &str, asked| HistoryEntry { step_id: id.into(), host_call: asked };
        let call = |answer: &str| RecordedHostCall::call("T.Do", r#"{"x":1}"#, Ok(answer.into()));
        let entries = vec![
            entry("s1", call(r#"{"a":null,"b":["x",1.5]}"#)),
            entry("s2", call("true")),
            entry("s1", RecordedHostCall::Event { name: "seen".into(), payload: "{}".into() }),
        ];
        History { job_id: "job_1".into(), runs: vec![run("s1"), run("s2")], entries }
    }

    /// I74: each mutation changes exactly one part. All mutations differ from each other and from the original.
    #[test]
    fn each_mutation_changes_one_part() {
        let history = history();
        let all: Vec<_> = history.mutations().collect();
        for (index, mutation) in all.iter().enumerate() {
            assert_ne!(mutation.history, history, "{}", mutation.description);
            assert!(all[..index].iter().all(|other| other.description != mutation.description));
        }
        let count = |kind| all.iter().filter(|mutation| mutation.kind == kind).count();
        assert_eq!([MutationKind::Drop, MutationKind::Swap, MutationKind::Duplicate].map(count), [3, 2, 3]);
        assert_eq!(
            [MutationKind::Operator, MutationKind::Args, MutationKind::Answer, MutationKind::Time].map(count),
            [2, 2, 3 + 1 + 1 + 1, 2]
        );
        assert_eq!([MutationKind::Event, MutationKind::Input, MutationKind::Output].map(count), [2, 2, 4]);
        assert_eq!(all[0].description, "the call s1/0 of T.Do is left out");
    }

    /// I74: after a swap of entries of different steps, or a change of an answer, a time or an input, a component may
    /// behave as before. After any other mutation, a deterministic component must behave differently.
    #[test]
    fn must_differ_ignores_order_between_steps() {
        let history = history();
        let mut swapped = history.clone();
        swapped.entries.swap(0, 1);
        assert!(crate::history::play::is_same(&history, &swapped) && !history.must_differ(&swapped));
        for mutation in history.mutations() {
            let must = history.must_differ(&mutation.history);
            let given = matches!(mutation.kind, MutationKind::Answer | MutationKind::Time | MutationKind::Input);
            let independent = mutation.kind == MutationKind::Swap;
            assert_eq!(must, !given && !independent, "{}", mutation.description);
        }
    }
}
