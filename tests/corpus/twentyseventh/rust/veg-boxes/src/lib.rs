//! Reserves the vegetable boxes of a member for a season: one box a week, on the days that the member chose.

use latchwork_guest::{Determinism, Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const DAYS_MAX: usize = 60;
const WEEK: i64 = 7;

#[derive(Deserialize, JsonSchema)]
struct Season {
    member: String,
    /// Size of each box: `half` or `full`.
    size: Size,
    /// Pick-up days, in order: `2026-04-07`.
    days: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Half,
    Full,
}

#[derive(Serialize, JsonSchema)]
struct Reserved {
    member: String,
    boxes: Vec<Pickup>,
}

#[derive(Serialize, JsonSchema)]
struct Pickup {
    day: String,
    week: u32,
    depot: String,
}

#[derive(Deserialize)]
struct Depot {
    depot: String,
}

struct Date {
    year: i64,
    /// Days since 1970-01-01.
    number: i64,
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let year = if month > 2 { year } else { year - 1 };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * from_march + 2) / 5 + day - 1 - 719_468
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

impl Date {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let mut part = |len: usize| parts.next().filter(|part| part.len() == len)?.parse::<u16>().ok().map(i64::from);
        let (year, month, day) = (part(4)?, part(2)?, part(2)?);
        let last = match month {
            2 => 28 + i64::from(is_leap(year)),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=last).contains(&day).then(|| Self { year, number: day_number(year, month, day) })
    }

    /// Week by ISO 8601: it begins on Monday, and belongs to the year of its Thursday.
    fn week(&self) -> u32 {
        let monday = self.number - (self.number + 3).rem_euclid(WEEK);
        let thursday = monday + 3;
        let year = (self.year - 1..=self.year + 1).rfind(|year| day_number(*year, 1, 1) <= thursday);
        let first = day_number(year.unwrap_or(self.year), 1, 1);
        u32::try_from((thursday - first) / WEEK + 1).unwrap_or(1)
    }
}

fn reserve(season: Season, _: &step::Context) -> Result<Reserved, Error> {
    if season.member.trim().is_empty() || season.days.is_empty() || season.days.len() > DAYS_MAX {
        return Err(Error::invalid_input(format!("a season has a member and 1 to {DAYS_MAX} days")));
    }
    let mut dates = Vec::new();
    for day in &season.days {
        dates.push(Date::parse(day).ok_or_else(|| Error::invalid_input(format!("{day} is no day")))?);
    }
    // A member gets one box a week, so two days in the same week are a mistake of the form.
    if let Some(at) = dates.windows(2).position(|pair| pair[1].number - pair[0].number < WEEK) {
        let (one, other) = (&season.days[at], &season.days[at + 1]);
        return Err(Error::invalid_input(format!("{one} and {other} are less than a week apart")));
    }
    let mut boxes = Vec::new();
    for (day, date) in season.days.iter().zip(&dates) {
        let week = date.week();
        // The box of a week is reserved once, whichever job asks for it.
        let key = json!(["veg-box", season.member, format!("{}-W{week:02}", date.year)]);
        let depot: Depot =
            tools::Call::new("Box.Reserve", &json!({ "member": season.member, "size": season.size, "day": day }))
                .action_key(key.to_string())
                .send()?;
        boxes.push(Pickup { day: day.clone(), week, depot: depot.depot });
    }
    Ok(Reserved { member: season.member, boxes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Season.Reserve", reserve)
            .describe("Reserves the vegetable boxes of a member for a season.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
