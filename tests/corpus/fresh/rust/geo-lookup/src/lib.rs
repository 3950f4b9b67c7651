use std::fmt::Write;
use std::time::Duration;

use latchwork_guest::serde_json::from_slice;
use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Address {
    street: String,
    town: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    lat: f64,
    lon: f64,
}

/// Encodes a text for the query of a URL.
fn encoded(text: &str) -> String {
    let mut query = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => query.push(char::from(byte)),
            _ => write!(query, "%{byte:02X}").unwrap_or_default(),
        }
    }
    query
}

fn locate(address: Address, _: &tool::Context) -> Result<Output<Vec<Place>>, Error> {
    let key = secrets::get("GEO_KEY")?;
    let text = format!("{}, {}", address.street, address.town);
    let url = format!("https://geo.example/v1/search?q={}&key={key}", encoded(&text));
    let response = http::Request::get(&url).timeout(Duration::from_secs(8)).send()?;
    match response.status() {
        200 => {}
        401 | 403 => return Err(Error::auth_forbidden("the key was refused")),
        429 => return Err(Error::rate_limit("too many requests").retry_after(Duration::from_secs(10))),
        status => return Err(Error::temporary_provider_error(format!("status {status}")).not_applied()),
    }
    let places: Vec<Place> = from_slice(response.body())
        .map_err(|e| Error::schema_validation_failed(format!("the places: {e}")).not_applied())?;
    Ok(Output::new(places.into_iter().take(5).collect()))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Address.Locate", locate).describe("Finds the places of an address on the map."),
    ],
}
