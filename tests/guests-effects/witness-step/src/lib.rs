//! Steps that perform the calls listed in their input.

mod mark;

use latchwork_guest::{Determinism, Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize, JsonSchema)]
struct Script {
    /// Calls to perform.
    calls: Vec<Call>,
    /// Makes all calls concurrently instead of one after the other.
    #[serde(default)]
    all: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Call {
    operator: String,
    args: Value,
    /// Action key that identifies the action across jobs.
    #[serde(default)]
    action_key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Answers {
    /// One answer per call, in the order of the calls.
    answers: Vec<Answer>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// Result of the tool.
    Ok(Value),
    /// Error of the tool.
    Error { code: String, message: String, detail: Option<String> },
}

fn run(script: Script, _: &step::Context) -> Result<Answers, Error> {
    let calls = script.calls.iter().map(|call| {
        let made = tools::Call::new(&call.operator, &call.args);
        match &call.action_key {
            Some(key) => made.action_key(key),
            None => made,
        }
    });
    let answers: Vec<Result<Value, Error>> =
        if script.all { tools::call_all(calls) } else { calls.map(|call| call.send()).collect() };
    Ok(Answers { answers: answers.into_iter().map(Answer::from).collect() })
}

impl From<Result<Value, Error>> for Answer {
    fn from(answer: Result<Value, Error>) -> Self {
        match answer {
            Ok(value) => Answer::Ok(value),
            Err(error) => Answer::Error {
                code: format!("{:?}", error.code()),
                message: error.message().to_owned(),
                detail: error.detail_json().map(str::to_owned),
            },
        }
    }
}

latchwork_guest::export_step! {
    version: "1.0.0",
    operators: [
        step::operator("Driver.Run", run)
            .describe("Performs the calls in its input.")
            .determinism(Determinism::External)
            .effects([Effect::ReadOnly, Effect::InternalWrite, Effect::ExternalWrite, Effect::ExternalSend]),
        step::operator("Driver.Pure", |input: Value, _: &step::Context| Ok(input)).describe("Returns its input."),
        step::operator("Driver.Mark", mark::run)
            .describe("Performs the calls in its input and returns its version mark.")
            .determinism(Determinism::External)
            .effects([Effect::ReadOnly, Effect::InternalWrite, Effect::ExternalWrite, Effect::ExternalSend]),
        step::operator("Driver.Noop", |_: Value, _: &step::Context| Ok(())).describe("Returns null."),
    ],
}
