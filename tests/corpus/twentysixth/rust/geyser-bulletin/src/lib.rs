//! Writes the bulletin of a geyser station.

use latchwork_guest::clock::{self, Timestamp};
use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The highest eruption ever measured had 460 m.
const HEIGHT_DM_MAX: u32 = 4_600;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Watch {
    station: String,
    /// Heights of the eruptions since the last bulletin, in decimetres.
    heights_dm: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Bulletin {
    station: String,
    /// Time of the bulletin, a full minute.
    at: String,
    text: String,
}

/// Returns the time of the bulletin. The network compares the bulletins of its stations by the minute, so a bulletin
/// begins with a minute and not in the middle of one.
fn start_of_minute() -> Timestamp {
    let mut now = clock::now();
    while now.time().2 != 0 {
        now = clock::now();
    }
    now
}

fn metres(decimetres: u32) -> String {
    format!("{}.{} m", decimetres / 10, decimetres % 10)
}

fn compose(watch: Watch, _: &step::Context) -> Result<Bulletin, Error> {
    if watch.station.trim().is_empty() {
        return Err(Error::invalid_input("the station has no name"));
    }
    if let Some(height) = watch.heights_dm.iter().find(|height| **height > HEIGHT_DM_MAX) {
        return Err(Error::invalid_input(format!("an eruption of {} is an error of the gauge", metres(*height))));
    }
    let text = match watch.heights_dm.iter().max() {
        None => "No eruption.".to_owned(),
        Some(highest) if watch.heights_dm.len() == 1 => format!("One eruption of {}.", metres(*highest)),
        Some(highest) => format!("{} eruptions, the highest of {}.", watch.heights_dm.len(), metres(*highest)),
    };
    let at = start_of_minute();
    let ((year, month, day), (hour, minute, _)) = (at.date(), at.time());
    let at = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}");
    Ok(Bulletin { station: watch.station, at, text })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Geyser.Report", compose)
            .describe("Writes the bulletin of a geyser station.")
            .determinism(Determinism::Stable),
    ],
}
