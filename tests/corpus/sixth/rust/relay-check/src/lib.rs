//! Checks relays with a random challenge, all at the same time. Silent relays are asked once more. The report has the
//! time and the challenge, so the step is declared as external.

use latchwork_guest::{Determinism, Error, clock, events, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Relays {
    relays: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    challenge: String,
    good: Vec<String>,
    bad: Vec<String>,
    at: String,
}

#[derive(Deserialize)]
struct Echo {
    challenge: Option<String>,
}

fn ask(relays: &[String], challenge: &str) -> Vec<Option<Echo>> {
    let calls =
        relays.iter().map(|relay| tools::Call::new("Relay.Echo", &json!({ "relay": relay, "challenge": challenge })));
    tools::call_all::<Echo>(calls).into_iter().map(Result::ok).collect()
}

fn check(input: Relays, context: &step::Context) -> Result<Report, Error> {
    if input.relays.is_empty() || input.relays.len() > 20 {
        return Err(Error::invalid_input("1 to 20 relays, please"));
    }
    let challenge = rng::uuid();
    let (mut good, mut bad, mut waiting) = (Vec::new(), Vec::new(), input.relays);
    for round in 0..2 {
        let mut silent = Vec::new();
        for (relay, echo) in waiting.iter().zip(ask(&waiting, &challenge)) {
            match echo {
                Some(echo) if echo.challenge.as_deref() != Some("") => good.push(relay.clone()),
                Some(_) => bad.push(relay.clone()),
                None => silent.push(relay.clone()),
            }
        }
        waiting = silent;
        if waiting.is_empty() {
            break;
        }
        log::warn!("{} relays of {} are silent in round {round}", waiting.len(), context.job_id());
    }
    bad.append(&mut waiting);
    good.sort();
    bad.sort();
    events::emit("relays-checked", &json!({ "good": good.len(), "at": clock::now().to_string() }))?;
    Ok(Report { challenge, good, bad, at: clock::now().to_string() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Relay.Check", check)
            .describe("Checks relays with a random challenge.")
            .determinism(Determinism::External),
    ],
}
