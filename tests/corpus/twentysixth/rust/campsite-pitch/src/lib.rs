//! Books a pitch at a campsite.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const STAYS: &str = "https://camp.example/v1/stays";
const NIGHTS_MAX: u32 = 28;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// Pitch such as `B12`.
    pitch: String,
    /// Day such as `2026-07-01`.
    arrival: String,
    nights: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    stay: String,
    price_cents: u32,
}

/// A stay, as the campsite answers it.
#[derive(Deserialize)]
struct Stay {
    id: String,
    price_cents: u32,
}

impl Stay {
    fn parse(body: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(body).map_err(|error| error.to_string()).and_then(Self::checked).map_err(unclear)
    }

    /// An id becomes a part of an address.
    fn checked(self) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.id.is_empty() || !self.id.chars().all(plain) {
            return Err(format!("{:?} is no id", self.id));
        }
        Ok(self)
    }

    fn booked(self) -> Output<Booked> {
        let change = Change::new("stay", &self.id, "create")
            .version(self.price_cents.to_string())
            .external_ref(format!("{STAYS}/{}", self.id));
        Output::new(Booked { stay: self.id.clone(), price_cents: self.price_cents })
            .receipt(json!({ "stay": self.id }))
            .change(change)
    }
}

fn unclear(why: String) -> Error {
    Error::schema_validation_failed(format!("the answer of the campsite is unclear: {why}"))
}

fn status_error(status: u16) -> Error {
    match status {
        401 | 403 => Error::auth_forbidden(format!("the campsite refused access: {status}")),
        _ => Error::temporary_provider_error(format!("the campsite answered {status}")),
    }
}

/// Encodes a key for the query of an address.
fn encoded(key: &str) -> String {
    key.replace(':', "%3A").replace('/', "%2F")
}

/// Asks the campsite for the stay of a key.
fn look_up(key: &str) -> Result<Option<Stay>, Error> {
    let response =
        http::Request::get(&format!("{STAYS}?reference={}", encoded(key))).timeout(Duration::from_secs(10)).send()?;
    if response.status() != 200 {
        return Err(status_error(response.status()));
    }
    let stays: Vec<Stay> = serde_json::from_slice(response.body()).map_err(|error| unclear(error.to_string()))?;
    if stays.len() > 1 {
        return Err(unclear(format!("it has {} stays under one reference", stays.len())));
    }
    stays.into_iter().next().map(Stay::checked).transpose().map_err(unclear)
}

fn check(wish: &Wish) -> Result<(), Error> {
    if wish.pitch.is_empty() || wish.pitch.len() > 8 || !wish.pitch.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(Error::invalid_input(format!("{:?} is no pitch", wish.pitch)));
    }
    let shape = |at: usize, c: char| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() };
    if wish.arrival.len() != 10 || !wish.arrival.char_indices().all(|(at, c)| shape(at, c)) {
        return Err(Error::invalid_input(format!("{:?} is no day of the form 2026-07-01", wish.arrival)));
    }
    if wish.nights == 0 || wish.nights > NIGHTS_MAX {
        return Err(Error::invalid_input(format!("a stay has 1 to {NIGHTS_MAX} nights")));
    }
    Ok(())
}

fn book(wish: Wish, context: &tool::Context) -> Result<Output<Booked>, Error> {
    check(&wish)?;
    let key = context.external_key();
    let body = json!({ "pitch": wish.pitch, "arrival": wish.arrival, "nights": wish.nights, "reference": key });
    let response = http::Request::post(STAYS)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(body.to_string())
        .timeout(Duration::from_secs(15))
        .send()?;
    match response.status() {
        200..=299 => Ok(Stay::parse(response.body())?.booked()),
        // The pitch is taken, perhaps by an earlier try of this call.
        409 => match look_up(key) {
            Ok(Some(stay)) => Ok(stay.booked()),
            Ok(None) => Err(Error::policy_denied("the pitch is taken")),
            Err(error) => Err(error.context("the pitch is taken, and its stay is unknown").applied_unknown()),
        },
        429 => {
            let pause = response.header("retry-after").and_then(|text| text.trim().parse().ok()).unwrap_or(60);
            Err(Error::rate_limit("the campsite asks for a pause").retry_after(Duration::from_secs(pause)))
        }
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the campsite refused the stay: {}", response.status())))
        }
        status => Err(status_error(status)),
    }
}

fn find(_: Wish, key: &str) -> Result<Verdict<Output<Booked>>, Error> {
    Ok(look_up(key)?.map_or(Verdict::DidNotHappen, |stay| Verdict::Happened(stay.booked())))
}

/// A stay keeps its price. Another price means that the campsite has changed the stay.
fn verify(change: &Change) -> Result<Finding, Error> {
    let response =
        http::Request::get(&format!("{STAYS}/{}", change.resource_id)).timeout(Duration::from_secs(10)).send()?;
    match response.status() {
        200 => {
            let stay = Stay::parse(response.body())?;
            Ok(Finding::compare(change.version.as_deref(), &stay.price_cents.to_string()))
        }
        404 | 410 => Ok(Finding::Mismatch("the stay is missing".into())),
        status => Err(status_error(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pitch.Book", book)
            .describe("Books a pitch at a campsite.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find)
            .verify(verify),
    ],
    exports: [reconcile, verify],
}
