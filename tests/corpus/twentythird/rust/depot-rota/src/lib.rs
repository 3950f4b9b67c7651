//! Sends the weekly duty notice of a bus depot.

use latchwork_guest::clock::Timestamp;
use latchwork_guest::{Determinism, Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const DAY: i64 = 86_400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rota {
    /// Name of the depot, which is also the name of its notice board.
    #[schemars(length(min = 1, max = 60))]
    depot: String,
    /// Any day of the week, such as `2024-05-14`.
    #[schemars(regex(pattern = r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"))]
    day: String,
    /// Drivers on duty.
    #[schemars(length(min = 1, max = 40), inner(length(min = 1, max = 80)))]
    drivers: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Posted {
    week: String,
    monday: String,
    notice: String,
}

#[derive(Deserialize)]
struct Notice {
    id: String,
}

/// A day of the calendar.
struct Day {
    year: i64,
    /// Day of the year, from 1.
    ordinal: i64,
    /// Days since 1970-01-01.
    number: i64,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn parse(text: &str) -> Result<Day, Error> {
    let wrong = || Error::invalid_input(format!("{text} is not a day of the calendar"));
    let parts: Vec<i64> = text.split('-').filter_map(|part| part.parse().ok()).collect();
    let [year, month @ 1..=12, day] = parts[..] else { return Err(wrong()) };
    let february = if is_leap(year) { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = month as usize;
    if day < 1 || day > lengths[month - 1] {
        return Err(wrong());
    }
    let ordinal = lengths[..month - 1].iter().sum::<i64>() + day;
    let before = year - 1;
    let number = before * 365 + before / 4 - before / 100 + before / 400 + ordinal - 719_163;
    Ok(Day { year, ordinal, number })
}

impl Day {
    /// Day of the week: 1 is Monday, 7 is Sunday.
    fn weekday(&self) -> i64 {
        (self.number + 3).rem_euclid(7) + 1
    }

    /// Number of the week by ISO 8601.
    fn week(&self) -> i64 {
        let weeks_of = |year: i64| {
            let p = |year: i64| (year + year / 4 - year / 100 + year / 400) % 7;
            if p(year) == 4 || p(year - 1) == 3 { 53 } else { 52 }
        };
        match (self.ordinal - self.weekday() + 10) / 7 {
            0 => weeks_of(self.year - 1),
            week if week > weeks_of(self.year) => 1,
            week => week,
        }
    }

    fn monday(&self) -> String {
        let seconds = (self.number - self.weekday() + 1) * DAY;
        let (year, month, day) = Timestamp { seconds, nanoseconds: 0 }.date();
        format!("{year}-{month:02}-{day:02}")
    }
}

fn post(rota: Rota, _: &step::Context) -> Result<Posted, Error> {
    let day = parse(&rota.day)?;
    let (week, monday) = (format!("{}-W{:02}", day.year, day.week()), day.monday());
    let text = format!("On duty from Monday {monday}: {}", rota.drivers.join(", "));
    // One notice for each depot and week. A second request in the same week gets the first notice.
    let key = json!(["depot-rota", rota.depot, week]).to_string();
    let notice: Notice =
        tools::Call::new("Board.Post", &json!({ "board": rota.depot, "text": text })).action_key(key).send()?;
    Ok(Posted { week, monday, notice: notice.id })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Rota.Post", post)
            .describe("Posts the duty notice of a depot, once a week.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
