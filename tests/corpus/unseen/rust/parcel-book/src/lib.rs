use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const BOOKINGS: &str = "https://parcels.example/bookings";

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    to: String,
    grams: u32,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    id: String,
}

fn booked(body: &Value) -> Output<Booked> {
    let id = body["id"].as_str().unwrap_or_default().to_owned();
    Output::new(Booked { id: id.clone() }).change(Change::new("booking", id, "create"))
}

fn book(parcel: Parcel, context: &tool::Context) -> Result<Output<Booked>, Error> {
    let order = json!({ "to": parcel.to, "grams": parcel.grams, "reference": context.external_key() });
    let response =
        http::Request::post(BOOKINGS).header("content-type", "application/json").body(order.to_string()).send()?;
    match response.status() {
        200 | 201 => {}
        429 => return Err(Error::rate_limit("the carrier limits the rate")),
        500.. => return Err(Error::temporary_provider_error(format!("the carrier answered {}", response.status()))),
        status => return Err(Error::invalid_input(format!("the carrier answered {status}"))),
    }
    let body: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    Ok(booked(&body))
}

/// Searches for a booking with the key of the call.
fn find(_: Parcel, key: &str) -> Result<Verdict<Output<Booked>>, Error> {
    let response = http::Request::get(&format!("{BOOKINGS}?reference={key}")).send()?;
    if response.status() != 200 {
        return Ok(Verdict::DidNotHappen);
    }
    let found: Vec<Value> = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    Ok(found.first().map_or(Verdict::DidNotHappen, |one| Verdict::Happened(booked(one))))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Parcel.Book", book)
            .describe("Books the transport of a parcel.")
            .effects([Effect::ExternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
