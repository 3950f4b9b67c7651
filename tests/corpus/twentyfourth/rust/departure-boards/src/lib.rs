//! Puts the departures of a ferry quay on its board, one line after the other.

use latchwork_guest::clock::{self, Timestamp};
use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Lines that fit on one board.
const ROWS: usize = 24;
/// Milliseconds from the beginning of one line to the beginning of the next. The controller scrolls in between.
const SCROLL_MS: i64 = 150;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Board {
    quay: String,
    departures: Vec<Departure>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Departure {
    /// Time of departure, as it is printed in the timetable.
    time: String,
    destination: String,
    /// Berth of the ferry, if it is known.
    berth: Option<String>,
}

#[derive(Deserialize)]
struct Shown {
    row: u32,
}

#[derive(Serialize, JsonSchema)]
struct Filled {
    quay: String,
    rows: Vec<u32>,
}

fn millis(time: Timestamp) -> i64 {
    time.seconds * 1000 + i64::from(time.nanoseconds / 1_000_000)
}

fn line(departure: &Departure) -> String {
    let berth = departure.berth.as_deref().unwrap_or("-");
    format!("{} {} {berth}", departure.time.trim(), departure.destination.trim().to_uppercase())
}

fn fill(board: Board, _: &step::Context) -> Result<Filled, Error> {
    if board.departures.is_empty() {
        return Err(Error::invalid_input("the timetable has no departures"));
    }
    if board.departures.len() > ROWS {
        return Err(Error::invalid_input(format!("the board has {ROWS} rows")));
    }
    if board.departures.iter().any(|departure| departure.destination.trim().is_empty()) {
        return Err(Error::invalid_input("a departure has no destination"));
    }
    let mut rows = Vec::with_capacity(board.departures.len());
    let mut begun: Option<i64> = None;
    for departure in &board.departures {
        if let Some(begun) = begun {
            while millis(clock::now()) - begun < SCROLL_MS {
                std::hint::spin_loop();
            }
        }
        begun = Some(millis(clock::now()));
        let text = line(departure);
        let shown: Shown = tools::call("Board.Show", &json!({ "quay": board.quay, "text": text }))
            .map_err(|error: Error| error.context(format!("showing {text}")))?;
        rows.push(shown.row);
    }
    log::info!("{} rows on the board of {}", rows.len(), board.quay);
    Ok(Filled { quay: board.quay, rows })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Quay.FillBoard", fill)
            .describe("Puts the departures of a quay on its board.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
