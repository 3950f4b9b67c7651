//! `Wage.Spread`: describes how far apart the wages of a team are.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest yearly wage, in cents.
const WAGE_MAX: u32 = 100_000_000;
/// Largest number of wages of a team.
const PEOPLE_MAX: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Team {
    name: String,
    /// Yearly wages in cents, one for each person.
    wages: Vec<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Spread {
    name: String,
    people: usize,
    lowest: u32,
    highest: u32,
    /// Middle of the wages. It is the lower one of the two middle wages of an even number of people.
    median: u32,
    /// Sums from which the spread of several teams together can be computed.
    sums: Sums,
    /// Standard deviation, in whole cents.
    deviation: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Sums {
    /// Sum of the wages.
    wages: u64,
    /// Sum of the squares of the wages.
    squares: u64,
}

fn spread(team: Team, _: &step::Context) -> Result<Spread, Error> {
    let people = team.wages.len();
    if people == 0 {
        return Err(Error::invalid_input(format!("{} has no wages", team.name)));
    }
    if people > PEOPLE_MAX {
        return Err(Error::invalid_input(format!("{} has more than {PEOPLE_MAX} wages", team.name)));
    }
    if let Some(wage) = team.wages.iter().find(|wage| **wage > WAGE_MAX) {
        return Err(Error::invalid_input(format!("{}: {wage} cents are more than a yearly wage", team.name)));
    }
    let mut sorted = team.wages;
    sorted.sort_unstable();
    let sums = Sums {
        wages: sorted.iter().copied().map(u64::from).sum(),
        squares: sorted.iter().copied().map(|wage| u64::from(wage) * u64::from(wage)).sum(),
    };
    Ok(Spread {
        name: team.name,
        people,
        lowest: sorted[0],
        highest: sorted[people - 1],
        median: sorted[(people - 1) / 2],
        deviation: deviation(&sorted, sums.wages),
        sums,
    })
}

/// Returns the standard deviation of the wages with this sum, rounded to whole cents.
fn deviation(wages: &[u32], sum: u64) -> u32 {
    let people = wages.len() as f64;
    let mean = sum as f64 / people;
    let squares: f64 = wages.iter().map(|wage| (f64::from(*wage) - mean).powi(2)).sum();
    (squares / people).sqrt().round() as u32
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Wage.Spread", spread).describe("Describes how far apart the wages of a team are."),
    ],
}
