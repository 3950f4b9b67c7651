//! Schedules the sprinklers of a garden for a day, unless it rains.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Effect, Error, clock, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const BEDS_MAX: usize = 200;
const LITRES_MAX: u32 = 500;
/// Millimetres of rain that make sprinklers needless.
const RAIN_ENOUGH: f64 = 5.0;
/// Number of times that the forecast is asked for.
const FORECASTS: usize = 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Day {
    /// Day such as `2026-06-01`.
    date: String,
    beds: Vec<Bed>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bed {
    bed: String,
    litres: u32,
}

#[derive(Serialize, JsonSchema)]
struct Roster {
    date: String,
    rain_mm: f64,
    /// `forecast` or `average`.
    source: String,
    planned_at: String,
    watered: Vec<String>,
    failed: Vec<Failed>,
}

#[derive(Serialize, JsonSchema)]
struct Failed {
    bed: String,
    reason: String,
}

#[derive(Deserialize)]
struct Rain {
    rain_mm: f64,
}

/// Returns the month of a day, if the text is a day.
fn month_of(date: &str) -> Option<u32> {
    let bytes = date.as_bytes();
    let shape = |at: usize, byte: &u8| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    if bytes.len() != 10 || !bytes.iter().enumerate().all(|(at, byte)| shape(at, byte)) {
        return None;
    }
    let (year, month, day): (u32, u32, u32) =
        (date[..4].parse().ok()?, date[5..7].parse().ok()?, date[8..].parse().ok()?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days).contains(&day).then_some(month)
}

/// Returns the rain of the day and its source: the forecast, or the average of the month while there is no forecast.
fn rain(date: &str, month: u32) -> Result<(f64, &'static str), Error> {
    for _ in 0..FORECASTS {
        match tools::call::<_, Rain>("Rain.Forecast", &json!({ "date": date })) {
            Ok(rain) => return Ok((rain.rain_mm, "forecast")),
            Err(error) => log::warn!("no forecast for {date}: {error}"),
        }
    }
    let rain: Rain = tools::call("Rain.Average", &json!({ "month": month }))?;
    Ok((rain.rain_mm, "average"))
}

fn plan(day: Day, _: &step::Context) -> Result<Roster, Error> {
    let Some(month) = month_of(&day.date) else {
        return Err(Error::invalid_input(format!("{:?} is no day of the form 2026-06-01", day.date)));
    };
    if day.beds.is_empty() || day.beds.len() > BEDS_MAX {
        return Err(Error::invalid_input(format!("a garden has 1 to {BEDS_MAX} beds")));
    }
    let mut seen = HashSet::new();
    for Bed { bed, litres } in &day.beds {
        if bed.is_empty() {
            return Err(Error::invalid_input("a bed has no name"));
        }
        if *litres == 0 || *litres > LITRES_MAX {
            return Err(Error::invalid_input(format!("{bed}: a bed gets 1 to {LITRES_MAX} litres")));
        }
        if !seen.insert(bed.as_str()) {
            return Err(Error::invalid_input(format!("{bed} is in the list twice")));
        }
    }

    let (rain_mm, source) = rain(&day.date, month)?;
    let (mut watered, mut failed) = (Vec::new(), Vec::new());
    if rain_mm < RAIN_ENOUGH {
        let calls = day.beds.iter().map(|Bed { bed, litres }| {
            tools::Call::new("Valve.Schedule", &json!({ "bed": bed, "date": day.date, "litres": litres }))
                .action_key(json!(["sprinkler", bed, day.date, litres]).to_string())
        });
        let answers: Vec<Result<Value, Error>> = tools::call_all(calls);
        for (Bed { bed, .. }, answer) in day.beds.into_iter().zip(answers) {
            match answer {
                Ok(_) => watered.push(bed),
                Err(error) => failed.push(Failed { bed, reason: error.message().to_owned() }),
            }
        }
    }
    let planned_at = clock::now().to_string();
    Ok(Roster { date: day.date, rain_mm, source: source.to_owned(), planned_at, watered, failed })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Sprinkler.Plan", plan)
            .describe("Schedules the sprinklers of a garden for a day, unless it rains.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
