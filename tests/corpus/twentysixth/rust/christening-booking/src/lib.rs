//! Books a christening in the calendar of the parish office and prepares the letter to the parents.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, fs, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const CALENDAR: &str = "https://parish.example/calendar";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Christening {
    /// Name of the church: lower-case letters and `-`.
    church: String,
    child: String,
    /// Day such as `2026-04-12`.
    date: String,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    booking: String,
    hour: String,
    letter: String,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    hour: String,
}

fn check(christening: &Christening) -> Result<(), Error> {
    let Christening { church, child, date } = christening;
    if church.is_empty() || church.len() > 60 || !church.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
        return Err(Error::invalid_input(format!("{church:?} is no name of a church")));
    }
    if child.trim().is_empty() {
        return Err(Error::invalid_input("the child has no name"));
    }
    let digit = |at: usize, c: char| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() };
    if date.len() != 10 || !date.char_indices().all(|(at, c)| digit(at, c)) {
        return Err(Error::invalid_input(format!("{date:?} is no day of the form 2026-04-12")));
    }
    Ok(())
}

/// Enters the christening in the calendar.
fn enter(christening: &Christening, key: &str) -> Result<Entry, Error> {
    let body = json!({
        "church": christening.church, "child": christening.child, "date": christening.date, "reference": key,
    });
    let response = http::Request::post(CALENDAR)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    let status = response.status();
    match status {
        200..=299 => serde_json::from_slice(response.body()).map_err(|error| {
            Error::schema_validation_failed(format!("the calendar confirmed with an unknown answer: {error}"))
        }),
        401 | 403 => Err(Error::auth_forbidden(format!("the calendar refused the office: {status}"))),
        // An entry under this reference could be there already, and the calendar cannot be searched for references.
        409 | 412 => Err(Error::policy_denied("the church is taken on this day").applied_unknown()),
        429 => Err(Error::rate_limit("the calendar asks for a pause").retry_after(Duration::from_secs(30))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the calendar refused the christening: {status}")))
        }
        _ => Err(Error::temporary_provider_error(format!("the calendar answered {status}"))),
    }
}

/// Fills in the letter of the church. Each church keeps a letter of its own.
fn letter(christening: &Christening, hour: &str) -> Result<String, Error> {
    let template = fs::read_to_string(&format!("/letters/{}.txt", christening.church))?;
    Ok(template
        .replace("{child}", christening.child.trim())
        .replace("{date}", &christening.date)
        .replace("{hour}", hour))
}

fn book(christening: Christening, context: &tool::Context) -> Result<Output<Booked>, Error> {
    check(&christening)?;
    let entry = enter(&christening, context.external_key())?;
    let letter = letter(&christening, &entry.hour)?;
    let change = Change::new("christening", &entry.id, "create").external_ref(format!("{CALENDAR}/{}", entry.id));
    Ok(Output::new(Booked { booking: entry.id, hour: entry.hour, letter }).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Christening.Book", book)
            .describe("Books a christening and prepares the letter to the parents.")
            .effects([Effect::ExternalWrite]),
    ],
}
