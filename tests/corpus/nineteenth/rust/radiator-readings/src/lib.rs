//! `Radiator.Fill`: closes the gaps in the quarter-hour readings of a heat meter.

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quarter hours of a leap year.
const READINGS_MAX: usize = 366 * 96;
/// Longest name of a meter, in bytes.
const METER_MAX: usize = 40;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Series {
    /// Name of the meter, such as `block 4, flat 12`.
    meter: String,
    /// Watt-hours of each quarter hour, at most one year. `null` is a reading that the meter did not send.
    readings: Vec<Option<u32>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Filled {
    meter: String,
    readings: Vec<u32>,
    /// Number of readings that were filled in.
    estimated: usize,
    /// Watt-hours of the whole series, with the estimates.
    total: u64,
}

fn fill(series: Series, _: &step::Context) -> Result<Filled, Error> {
    let meter = series.meter;
    if meter.is_empty() || meter.len() > METER_MAX {
        return Err(Error::invalid_input(format!("the name of a meter has 1 to {METER_MAX} bytes")));
    }
    if series.readings.len() > READINGS_MAX {
        return Err(Error::invalid_input(format!("{meter} has more readings than a year has quarter hours")));
    }
    let Some(first) = series.readings.iter().position(Option::is_some) else {
        return Err(Error::invalid_input(format!("{meter} has no reading at all")));
    };
    let mut readings = Vec::with_capacity(series.readings.len());
    let mut before = (first, series.readings[first].unwrap_or_default());
    let mut next = first;
    let mut estimated = 0;
    for (place, reading) in series.readings.iter().enumerate() {
        if let Some(value) = reading {
            before = (place, *value);
            readings.push(*value);
            continue;
        }
        if next < place {
            next = following(&series.readings, place);
        }
        let after = series.readings.get(next).copied().flatten().map(|value| (next, value));
        let estimate = between(before, after, place);
        log::warn!("{meter}: quarter hour {place} is missing, estimated {estimate} Wh");
        estimated += 1;
        readings.push(estimate);
    }
    let total = readings.iter().copied().map(u64::from).sum();
    Ok(Filled { meter, readings, estimated, total })
}

/// Returns the place of the first reading after `place`, or the end of the series.
fn following(readings: &[Option<u32>], place: usize) -> usize {
    readings[place..].iter().position(Option::is_some).map_or(readings.len(), |distance| place + distance)
}

/// Estimates a reading on the line from the reading before to the reading after. At the ends of the series the nearest
/// reading is taken.
fn between(before: (usize, u32), after: Option<(usize, u32)>, place: usize) -> u32 {
    let Some(after) = after else { return before.1 };
    if place < before.0 || after.0 <= before.0 {
        return before.1;
    }
    let (span, steps) = ((after.0 - before.0) as i64, (place - before.0) as i64);
    let rise = i64::from(after.1) - i64::from(before.1);
    u32::try_from(i64::from(before.1) + rise * steps / span).unwrap_or(before.1)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Radiator.Fill", fill).describe("Closes the gaps in the quarter-hour readings of a heat meter."),
    ],
}
