//! Finds the readings of an odometer that do not fit the others.

use std::rc::Rc;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Book {
    plate: String,
    /// Kilometres at the end of each trip, in the order of the trips.
    readings: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Audit {
    plate: String,
    trips: usize,
    /// Places of the readings that do not fit, from 0.
    doubtful: Vec<usize>,
    /// Kilometres between the first and the last reading that fit.
    distance: u32,
}

/// A sequence of readings that never falls, from its last reading to its first. Sequences share their beginnings.
struct Fitting {
    at: usize,
    before: Option<Rc<Fitting>>,
}

/// Returns the places of the longest sequence of readings that never falls.
fn longest_fitting(readings: &[u32]) -> Vec<usize> {
    // For each length the sequence that ends with the smallest reading.
    let mut best: Vec<Rc<Fitting>> = Vec::new();
    for (at, reading) in readings.iter().enumerate() {
        let length = best.partition_point(|fitting| readings[fitting.at] <= *reading);
        let before = length.checked_sub(1).map(|shorter| Rc::clone(&best[shorter]));
        let fitting = Rc::new(Fitting { at, before });
        if length == best.len() {
            best.push(fitting);
        } else {
            best[length] = fitting;
        }
    }
    let mut places = Vec::with_capacity(best.len());
    let mut next = best.last().map(Rc::clone);
    while let Some(fitting) = next {
        places.push(fitting.at);
        next = fitting.before.clone();
    }
    places.reverse();
    places
}

fn audit(book: Book, _: &step::Context) -> Result<Audit, Error> {
    if book.plate.trim().is_empty() {
        return Err(Error::invalid_input("the plate is missing"));
    }
    let places = longest_fitting(&book.readings);
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return Err(Error::invalid_input("the book has no readings"));
    };
    let distance = book.readings[*last] - book.readings[*first];
    let mut fitting = places.iter().peekable();
    let doubtful = (0..book.readings.len()).filter(|at| fitting.next_if_eq(&at).is_none()).collect();
    Ok(Audit { plate: book.plate, trips: book.readings.len(), doubtful, distance })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Odometer.Audit", audit)
            .describe("Finds the readings of an odometer that do not fit the others."),
    ],
}
