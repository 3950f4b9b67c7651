//! `Radar.Handover`: hands the tracks of one radar sector over to the next one.

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most tracks of one handover.
const TRACKS_MAX: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Sector that takes the tracks.
    sector: String,
    tracks: Vec<Track>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Track {
    /// Track number of the radar, in decimal digits. The radar gives 64-bit numbers.
    number: String,
    callsign: String,
    /// Flight level in hundreds of feet.
    level: u16,
}

/// Answer of `Sector.Take`.
#[derive(Deserialize)]
struct Taken {
    strip: String,
}

#[derive(Serialize, JsonSchema)]
struct Handover {
    sector: String,
    taken: Vec<Strip>,
    refused: Vec<Refusal>,
}

#[derive(Serialize, JsonSchema)]
struct Strip {
    number: String,
    strip: String,
}

#[derive(Serialize, JsonSchema)]
struct Refusal {
    number: String,
    callsign: String,
    reason: String,
}

fn hand_over(input: Input, _: &step::Context) -> Result<Handover, Error> {
    if input.sector.trim().is_empty() {
        return Err(Error::invalid_input("sector: empty"));
    }
    if input.tracks.len() > TRACKS_MAX {
        return Err(Error::invalid_input(format!("tracks: more than {TRACKS_MAX}")));
    }
    let mut calls = Vec::with_capacity(input.tracks.len());
    for track in &input.tracks {
        let number: u64 = track
            .number
            .parse()
            .map_err(|_| Error::invalid_input(format!("{}: {} is no track number", track.callsign, track.number)))?;
        let args = json!({
            "sector": input.sector,
            "track": number,
            "callsign": track.callsign,
            "level": track.level,
        });
        calls.push(tools::Call::new("Sector.Take", &args));
    }
    let mut done = Handover { sector: input.sector, taken: Vec::new(), refused: Vec::new() };
    for (track, answer) in input.tracks.into_iter().zip(tools::call_all::<Taken>(calls)) {
        match answer {
            Ok(taken) => done.taken.push(Strip { number: track.number, strip: taken.strip }),
            Err(error) => {
                log::warn!("{} stays in its sector: {}", track.callsign, error.message());
                let reason = error.message().to_owned();
                done.refused.push(Refusal { number: track.number, callsign: track.callsign, reason });
            }
        }
    }
    if done.taken.is_empty() && !done.refused.is_empty() {
        return Err(Error::dependency_unavailable(format!("sector {} took no track", done.sector)));
    }
    Ok(done)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Radar.Handover", hand_over)
            .describe("Hands radar tracks over to the next sector.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
