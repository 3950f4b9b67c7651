//! Books the service visits of a heating contract with the dispatch office.
//!
//! A contract gives each boiler at most one visit in a calendar week. Dispatch plans by week, so a visit is the
//! same action in every job that plans the same week of the same boiler.

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Contract {
    /// Serial number of the boiler.
    #[schemars(length(min = 1, max = 40))]
    boiler: String,
    /// Name of the engineer who looks after the boiler.
    #[schemars(length(min = 1, max = 80))]
    engineer: String,
    /// Days of the visits, such as `2025-04-03`, at least a week apart.
    #[schemars(length(min = 1, max = 60))]
    days: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    boiler: String,
    visits: Vec<Visit>,
}

#[derive(Serialize, JsonSchema)]
struct Visit {
    day: String,
    week: u32,
    number: String,
}

#[derive(Deserialize)]
struct Confirmation {
    number: String,
}

/// A day of the proleptic Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Day {
    year: i64,
    month: i64,
    day: i64,
}

impl Day {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut number = |digits: usize| {
            let part = parts.next()?;
            (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<i64>().ok())?
        };
        let (year, month, day) = (number(4)?, number(2)?, number(2)?);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 => 28 + i64::from(leap),
            _ => return None,
        };
        (parts.next().is_none() && (1..=length).contains(&day)).then_some(Self { year, month, day })
    }

    /// Days since 1970-01-01.
    fn number(self) -> i64 {
        let year = if self.month > 2 { self.year } else { self.year - 1 };
        let month = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * month + 2) / 5 + self.day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    /// Week by ISO 8601: the week that has the Thursday of this day's week.
    fn week(self) -> u32 {
        let thursday = self.number() - (self.number() + 3).rem_euclid(7) + 3;
        let first = |year| Day { year, month: 1, day: 1 }.number();
        let start = [self.year + 1, self.year, self.year - 1].map(first).into_iter().find(|start| *start <= thursday);
        u32::try_from((thursday - start.unwrap_or(thursday)) / 7 + 1).unwrap_or(1)
    }

    fn text(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn book(contract: Contract, _: &step::Context) -> Result<Booked, Error> {
    let mut days = Vec::with_capacity(contract.days.len());
    for text in &contract.days {
        days.push(Day::parse(text).ok_or_else(|| Error::invalid_input(format!("{text:?} is no day")))?);
    }
    days.sort_unstable();
    // Two visits in one week would share a key, and dispatch would make only the first of them.
    if let Some(pair) = days.windows(2).find(|pair| pair[1].number() - pair[0].number() < 7) {
        let message = format!("{} and {} are less than a week apart", pair[0].text(), pair[1].text());
        return Err(Error::invalid_input(message));
    }
    let mut visits = Vec::with_capacity(days.len());
    for day in days {
        let week = day.week();
        let args = json!({ "boiler": contract.boiler, "engineer": contract.engineer, "day": day.text() });
        let key = json!(["boiler-visit", contract.boiler, day.year, week]).to_string();
        let booked: Confirmation = tools::Call::new("Visit.Book", &args).action_key(key).send()?;
        visits.push(Visit { day: day.text(), week, number: booked.number });
    }
    log::info!("{} visits of {}", visits.len(), contract.boiler);
    Ok(Booked { boiler: contract.boiler, visits })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Boiler.BookVisits", book)
            .describe("Books the service visits of a heating contract.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
