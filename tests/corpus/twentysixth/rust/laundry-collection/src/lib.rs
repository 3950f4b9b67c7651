//! Orders the weekly collection of a hotel's linen.

use latchwork_guest::{Determinism, Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const BAGS_MAX: u32 = 60;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Linen {
    hotel: String,
    /// Day of the collection, such as `2025-03-14`.
    day: String,
    bags: u32,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    hotel: String,
    /// Week of the collection, such as `2025-W11`.
    week: String,
    order: String,
}

#[derive(Deserialize)]
struct Order {
    order: String,
}

struct Day {
    year: u32,
    month: u32,
    day: u32,
}

const MONTH_STARTS: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const MONTH_LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn is_leap(year: u32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

impl Day {
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return None };
        let digits = |text: &str, len: usize| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year, 4) || !digits(month, 2) || !digits(day, 2) {
            return None;
        }
        let found = Self { year: year.parse().ok()?, month: month.parse().ok()?, day: day.parse().ok()? };
        if found.year < 1900 || !(1..=12).contains(&found.month) {
            return None;
        }
        let leap_day = u32::from(found.month == 2 && is_leap(found.year));
        let length = MONTH_LENGTHS[found.month as usize - 1] + leap_day;
        (1..=length).contains(&found.day).then_some(found)
    }

    /// Number of the day in its year, from 1.
    fn ordinal(&self) -> u32 {
        let leap_day = u32::from(self.month > 2 && is_leap(self.year));
        MONTH_STARTS[self.month as usize - 1] + self.day + leap_day
    }

    /// 1 is Monday, 7 is Sunday.
    fn weekday(&self) -> u32 {
        let before = self.year - 1;
        let days = before * 365 + before / 4 - before / 100 + before / 400 + self.ordinal();
        (days + 6) % 7 + 1
    }

    /// Number of the week by ISO 8601: the first week has the first Thursday.
    fn week(&self) -> u32 {
        let week = (self.ordinal() + 10 - self.weekday()) / 7;
        match week {
            0 => weeks_of(self.year - 1),
            53 if weeks_of(self.year) < 53 => 1,
            week => week,
        }
    }
}

fn weeks_of(year: u32) -> u32 {
    let first = Day { year, month: 1, day: 1 }.weekday();
    if first == 4 || (first == 3 && is_leap(year)) { 53 } else { 52 }
}

fn collect(linen: Linen, _: &step::Context) -> Result<Ordered, Error> {
    if linen.hotel.trim().is_empty() {
        return Err(Error::invalid_input("the hotel has no name"));
    }
    let Some(day) = Day::parse(&linen.day) else {
        return Err(Error::invalid_input(format!("{:?} is no day of the form 2025-03-14", linen.day)));
    };
    if linen.bags == 0 || linen.bags > BAGS_MAX {
        return Err(Error::invalid_input(format!("a van takes 1 to {BAGS_MAX} bags, not {}", linen.bags)));
    }
    let (year, week) = (day.year, day.week());
    // The van comes once a week, so a hotel has one order in each week of each year.
    let key = json!(["linen", linen.hotel, year, week]).to_string();
    let order: Order = tools::Call::new(
        "Courier.Order",
        &json!({ "hotel": linen.hotel, "collect_on": linen.day, "bags": linen.bags }),
    )
    .action_key(key)
    .send()?;
    Ok(Ordered { hotel: linen.hotel, week: format!("{year}-W{week:02}"), order: order.order })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Laundry.Collect", collect)
            .describe("Orders the weekly collection of a hotel's linen.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
