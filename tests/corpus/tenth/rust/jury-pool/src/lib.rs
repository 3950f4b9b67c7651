//! Draws the jurors of a trial from the pool of a district.

use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, clock, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pool {
    citizens: Vec<Citizen>,
    seats: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Citizen {
    id: String,
    street: String,
}

#[derive(Serialize, JsonSchema)]
struct Jury {
    reference: String,
    drawn_at: String,
    jurors: Vec<String>,
    /// Streets with more than one juror, with their number, the largest first.
    shared_streets: Vec<(String, usize)>,
}

fn draw(pool: Pool, context: &step::Context) -> Result<Jury, Error> {
    let seats = pool.seats as usize;
    if seats == 0 || seats > 100 {
        return Err(Error::invalid_input("a jury has 1 to 100 seats"));
    }
    if pool.citizens.len() < seats {
        return Err(Error::invalid_input(format!("{} citizens cannot fill {seats} seats", pool.citizens.len())));
    }
    let mut citizens = pool.citizens;
    for seat in 0..seats {
        let left = u32::try_from(citizens.len() - seat).map_err(|_| Error::invalid_input("the pool is too large"))?;
        citizens.swap(seat, seat + rng::below(left) as usize);
    }
    let mut streets: HashMap<&str, usize> = HashMap::new();
    for juror in &citizens[..seats] {
        *streets.entry(juror.street.as_str()).or_default() += 1;
    }
    let mut shared_streets: Vec<(String, usize)> = streets
        .into_iter()
        .filter(|(_, jurors)| *jurors > 1)
        .map(|(street, jurors)| (street.to_owned(), jurors))
        .collect();
    shared_streets.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    log::info!("{seats} jurors drawn for {}", context.actor());
    Ok(Jury {
        reference: rng::uuid(),
        drawn_at: clock::now().to_string(),
        jurors: citizens[..seats].iter().map(|juror| juror.id.clone()).collect(),
        shared_streets,
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Each job draws another jury. Within a job the draw stays.
        step::operator("Jury.Draw", draw).describe("Draws the jurors of a trial.").determinism(Determinism::Stable),
    ],
}
