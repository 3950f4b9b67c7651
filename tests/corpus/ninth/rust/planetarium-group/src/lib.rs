//! Books a school class into a show of the planetarium: first the booking, then its seats.

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const SERVER: &str = "https://dome.example";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Group {
    school: String,
    show: String,
    pupils: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    booking: String,
    row: String,
}

/// Posts a document and returns the answer of the server.
fn post(path: &str, document: &Value) -> Result<Value, Error> {
    let answer = Request::post(&format!("{SERVER}{path}"))
        .header("content-type", "application/json")
        .body(document.to_string())
        .send()?;
    match answer.status() {
        200 | 201 => serde_json::from_slice(answer.body())
            .map_err(|error| Error::schema_validation_failed(format!("{path}: {error}"))),
        401 | 403 => Err(Error::auth_forbidden(format!("{path}: the box office refused the credentials"))),
        429 => Err(Error::rate_limit(format!("{path}: too many requests"))),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            Err(Error::invalid_input(format!("{path}: {status} {}", answer.text())))
        }
        // Also 408, 409 and 5xx: the box office may have acted.
        status => Err(Error::temporary_provider_error(format!("{path}: {status}"))),
    }
}

fn text(answer: &Value, field: &str) -> Result<String, Error> {
    let found = answer[field].as_str().map(str::to_owned);
    found.ok_or_else(|| Error::schema_validation_failed(format!("the box office sent no {field}")))
}

fn book(group: Group, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if group.school.trim().is_empty() || !(1..=120).contains(&group.pupils) {
        return Err(Error::invalid_input("a group has a school and 1 to 120 pupils"));
    }
    let reference = context.external_key();
    let made = post("/bookings", &json!({ "show": group.show, "school": group.school, "reference": reference }))?;
    let booking = text(&made, "id")?;
    let seats = post(&format!("/bookings/{booking}/seats"), &json!({ "count": group.pupils }))?;
    let row = text(&seats, "row")?;
    let change = Change::new("booking", &booking, "create").external_ref(format!("{SERVER}/bookings/{booking}"));
    Ok(Output::new(Booked { booking, row }).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Planetarium.Book", book)
            .describe("Books a school class into a show.")
            .effects([Effect::ExternalWrite]),
    ],
}
