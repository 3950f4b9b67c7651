//! Reads the gauges of sluices and alerts the warden about those above their limit, once a month for each sluice.

use std::collections::{BTreeSet, HashMap};

use latchwork_guest::{Code, Determinism, Effect, Error, clock, events, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The host has repeated a failed call already. A gauge by radio often answers after a second question.
const QUESTIONS: usize = 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sluice {
    id: String,
    limit_cm: i32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Watch {
    warden: String,
    sluices: Vec<Sluice>,
}

#[derive(Deserialize)]
struct Level {
    level_cm: i32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Alert {
    NotNeeded,
    Sent,
    Refused,
}

#[derive(Serialize, JsonSchema)]
struct Seen {
    id: String,
    /// Null if the gauge did not answer.
    level_cm: Option<i32>,
    alert: Alert,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    month: String,
    sluices: Vec<Seen>,
}

/// Asks a gauge. A gauge that stays silent is no failure of the round; any other failure is.
fn level(id: &str) -> Result<Option<i32>, Error> {
    for _ in 0..QUESTIONS {
        match tools::call::<Value, Level>("Gauge.Read", &json!({ "gauge": id })) {
            Ok(level) => return Ok(Some(level.level_cm)),
            Err(error) if matches!(error.code(), Code::NetworkTimeout | Code::DependencyUnavailable) => {
                log::warn!("gauge {id} is silent: {error}");
            }
            Err(error) => return Err(error.context(format!("gauge {id}"))),
        }
    }
    Ok(None)
}

fn watch(round: Watch, _: &step::Context) -> Result<Report, Error> {
    let ids: BTreeSet<&str> = round.sluices.iter().map(|sluice| sluice.id.as_str()).collect();
    if ids.len() != round.sluices.len() || ids.contains("") {
        return Err(Error::invalid_input("each sluice needs an id of its own"));
    }
    // One reading for the whole round: a round over midnight belongs to the month in which it began.
    let (year, month, _) = clock::now().date();
    let month = format!("{year:04}-{month:02}");

    let mut levels: HashMap<&str, i32> = HashMap::new();
    for sluice in &round.sluices {
        if let Some(level) = level(&sluice.id)? {
            levels.insert(&sluice.id, level);
        }
    }
    let mut sluices = Vec::new();
    for sluice in &round.sluices {
        let level_cm = levels.get(sluice.id.as_str()).copied();
        if level_cm.is_none_or(|level| level <= sluice.limit_cm) {
            sluices.push(Seen { id: sluice.id.clone(), level_cm, alert: Alert::NotNeeded });
            continue;
        }
        // All that the message contains is in the key. The level is not: it differs in the next round of the month,
        // and the first message of the month would then not fit.
        let text = format!("Sluice {} is above its limit in {month}. See the gauge board for the level.", sluice.id);
        let key = json!(["sluice alert", round.warden, sluice.id, month]).to_string();
        let message = tools::Call::new("Message.Send", &json!({ "to": round.warden, "text": text })).action_key(key);
        let alert = match message.send::<Value>() {
            Ok(_) => Alert::Sent,
            // A person, the policy or the mode refused this message. The round continues and says so.
            Err(error) if error.code() == Code::PolicyDenied => Alert::Refused,
            Err(error) => return Err(error.context(format!("alert about {}", sluice.id))),
        };
        sluices.push(Seen { id: sluice.id.clone(), level_cm, alert });
    }
    let silent = sluices.iter().filter(|seen| seen.level_cm.is_none()).count();
    events::emit("sluice-round", &json!({ "month": month, "sluices": sluices.len(), "silent": silent }))?;
    Ok(Report { month, sluices })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Sluice.Watch", watch)
            .describe("Reads the gauges of sluices and alerts the warden about high water.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
