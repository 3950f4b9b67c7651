//! `Lifeboat.Callout`: enters an incident in the station's journal, and calls the crews that it needs.
//!
//! `Journal.Enter` writes to the journal of the station, a granted folder. `Pager.Send` sends a message to the pagers
//! of a crew over the gateway of the pager company.

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Incident {
    /// Name of the vessel, or `unknown`.
    vessel: String,
    /// Latitude and longitude in degrees.
    position: (f64, f64),
    persons: u32,
    /// 1: for information, 2: watch, 3: launch, 4: launch with all boats.
    severity: u8,
    /// Crews in the order in which they are called.
    crews: Vec<String>,
}

/// Answer of `Journal.Enter`.
#[derive(Deserialize)]
struct Entry {
    number: u32,
}

/// Answer of `Pager.Send`.
#[derive(Deserialize)]
struct Page {
    message_id: String,
}

#[derive(Serialize, JsonSchema)]
struct Callout {
    entry: u32,
    /// Messages to the pagers, one for each crew that was called.
    messages: Vec<String>,
}

fn call_out(incident: Incident, _: &step::Context) -> Result<Callout, Error> {
    if !(1..=4).contains(&incident.severity) {
        return Err(Error::invalid_input("severity: 1 to 4"));
    }
    let (latitude, longitude) = incident.position;
    if latitude.abs() > 90.0 || longitude.abs() > 180.0 {
        return Err(Error::invalid_input("position: no place on earth"));
    }
    let wanted = match incident.severity {
        1 | 2 => 0,
        3 => boats(incident.persons).min(incident.crews.len()),
        _ => incident.crews.len(),
    };
    if incident.severity >= 3 && wanted == 0 {
        return Err(Error::invalid_input("crews: there is no crew to call"));
    }
    let place = format!("{latitude:.4} {longitude:.4}");
    let entry: Entry = tools::call(
        "Journal.Enter",
        &json!({ "vessel": incident.vessel, "place": place, "severity": incident.severity }),
    )?;
    let mut messages = Vec::with_capacity(wanted);
    for crew in &incident.crews[..wanted] {
        let text =
            format!("Launch: {}, {} persons, {place}, entry {}", incident.vessel, incident.persons, entry.number);
        let page: Page = tools::call("Pager.Send", &json!({ "crew": crew, "text": text }))?;
        log::info!("{crew} was called");
        messages.push(page.message_id);
    }
    Ok(Callout { entry: entry.number, messages })
}

/// Number of boats for the persons in danger. A boat takes eight.
fn boats(persons: u32) -> usize {
    usize::try_from(persons.div_ceil(8)).unwrap_or(usize::MAX).max(1)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Lifeboat.Callout", call_out)
            .describe("Enters an incident in the journal and calls the crews.")
            .effects([Effect::InternalWrite])
            .determinism(Determinism::External),
    ],
}
