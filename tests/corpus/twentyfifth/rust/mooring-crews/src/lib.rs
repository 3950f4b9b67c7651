//! Orders a mooring crew for each vessel that arrives at a port on one day.

use std::collections::BTreeSet;

use latchwork_guest::{Code, Determinism, Effect, Error, clock, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const VESSELS_MAX: usize = 200;
/// Requests for one vessel: the first one, and one more if the agency was busy.
const ROUNDS: usize = 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Day {
    port: String,
    /// Day of the arrivals, such as `2026-01-05`.
    date: String,
    vessels: Vec<Vessel>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Vessel {
    /// Number of the vessel: seven digits.
    imo: String,
    /// Mooring lines to handle.
    lines: u8,
}

/// Answer of the agency. An agency may confirm an order without a ticket.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Ticket {
    ticket: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    imo: String,
    ticket: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Refused {
    imo: String,
    reason: String,
}

#[derive(Serialize, JsonSchema)]
struct Orders {
    ordered: Vec<Ordered>,
    refused: Vec<Refused>,
    finished_at: String,
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |range: std::ops::Range<usize>| {
        bytes[range].iter().try_fold(0u32, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Orders the crew of one vessel. All that the crew needs to know is in the key of the order too.
fn order(port: &str, date: &str, imo: &str, lines: u8) -> Result<Ticket, Error> {
    let args = json!({ "port": port, "date": date, "imo": imo, "lines": lines });
    let action = json!(["mooring crew", port, date, imo, lines]).to_string();
    let call = tools::Call::new("Crew.Request", &args).action_key(action);
    let mut answer = call.send();
    for _ in 1..ROUNDS {
        match &answer {
            Err(error) if error.code() == Code::RateLimit => {
                log::info!("the agency is busy, asking once more for {imo}");
                answer = call.send();
            }
            _ => break,
        }
    }
    answer
}

fn order_all(day: Day, _: &step::Context) -> Result<Orders, Error> {
    let (port, date) = (day.port.trim(), day.date.trim());
    if port.is_empty() {
        return Err(Error::invalid_input("the port has no name"));
    }
    if !is_date(date) {
        return Err(Error::invalid_input(format!("{date} is no date of the form 2026-01-05")));
    }
    if day.vessels.len() > VESSELS_MAX {
        return Err(Error::invalid_input(format!("more than {VESSELS_MAX} vessels")));
    }
    let mut seen = BTreeSet::new();
    for vessel in &day.vessels {
        let imo = vessel.imo.trim();
        if imo.len() != 7 || !imo.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Error::invalid_input(format!("{imo} is no number of a vessel")));
        }
        if !seen.insert(imo) {
            return Err(Error::invalid_input(format!("vessel {imo} is listed twice")));
        }
    }

    let (mut ordered, mut refused) = (Vec::new(), Vec::new());
    for vessel in &day.vessels {
        let imo = vessel.imo.trim();
        match order(port, date, imo, vessel.lines) {
            Ok(Ticket { ticket }) => ordered.push(Ordered { imo: imo.to_owned(), ticket }),
            Err(error) => refused.push(Refused { imo: imo.to_owned(), reason: error.message().to_owned() }),
        }
    }
    Ok(Orders { ordered, refused, finished_at: clock::now().to_string() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Mooring.OrderAll", order_all)
            .describe("Orders a mooring crew for each vessel of a day.")
            .determinism(Determinism::External)
            .effects([Effect::ExternalSend]),
    ],
}
