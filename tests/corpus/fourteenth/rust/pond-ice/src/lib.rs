//! `Ice.Measure`: reads the thickness of the ice of a pond from a gauge server or its mirror.

use std::collections::HashMap;
use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Determinism, Effect, Error, http, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SERVERS: [&str; 2] = ["https://ice-a.example", "https://ice-b.example"];
const ROUNDS: u64 = 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pond {
    /// The name of the pond has letters, digits and `-`.
    pond: String,
}

#[derive(Deserialize)]
struct Gauge {
    holes: Vec<Hole>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Hole {
    id: String,
    mm: u32,
}

#[derive(Serialize, JsonSchema)]
struct Ice {
    /// The holes are sorted by their names.
    holes: Vec<Hole>,
    thinnest_mm: u32,
    safe: bool,
    asked_at: String,
}

fn measure(input: Pond, _: &tool::Context) -> Result<Output<Ice>, Error> {
    if input.pond.is_empty() || !input.pond.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Err(Error::invalid_input("pond: letters, digits and -"));
    }
    let asked_at = wall::now().to_string();
    let gauge = read(&input.pond)?;

    // A hole that was drilled twice counts with its last reading.
    let mut latest: HashMap<String, u32> = HashMap::new();
    for hole in gauge.holes {
        latest.insert(hole.id, hole.mm);
    }
    let mut holes: Vec<Hole> = latest.into_iter().map(|(id, mm)| Hole { id, mm }).collect();
    holes.sort_by(|a, b| a.id.cmp(&b.id));
    let Some(thinnest_mm) = holes.iter().map(|hole| hole.mm).min() else {
        return Err(Error::missing_required_context(format!("pond {} has no holes yet", input.pond)));
    };
    Ok(Output::new(Ice { holes, thinnest_mm, safe: thinnest_mm >= 80, asked_at }))
}

/// Asks the servers in turn, in two rounds with a short pause between them.
fn read(pond: &str) -> Result<Gauge, Error> {
    for round in 1..=ROUNDS {
        for server in SERVERS {
            let url = format!("{server}/ponds/{pond}");
            match http::Request::get(&url).timeout(Duration::from_secs(4)).send() {
                Ok(response) if response.status() == 200 => match serde_json::from_slice(response.body()) {
                    Ok(gauge) => return Ok(gauge),
                    Err(error) => log::warn!("{url}: {error}"),
                },
                Ok(response) if response.status() == 404 => {
                    return Err(Error::invalid_input(format!("there is no pond {pond}")));
                }
                Ok(response) => log::warn!("{url}: {}", response.status()),
                Err(error) => log::warn!("{url}: {error}"),
            }
        }
        if round < ROUNDS {
            wall::sleep(Duration::from_millis(100 + u64::from(wall::random(1)[0])));
        }
    }
    Err(Error::dependency_unavailable("neither server has a reading"))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Ice.Measure", measure)
            .describe("Reads the thickness of the ice of a pond.")
            .effects([Effect::ReadOnly])
            .determinism(Determinism::External),
    ],
}
