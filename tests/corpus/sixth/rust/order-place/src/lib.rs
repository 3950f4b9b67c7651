//! Places an order at a shop that drops a second order with the same idempotency key. A conflict is looked up: under
//! the own key it is the order of an earlier try.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const URL: &str = "https://shop.example/orders";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    item: String,
    count: u32,
}

#[derive(Serialize, JsonSchema)]
struct Placed {
    order: String,
}

fn placed(id: &str) -> Output<Placed> {
    let change = Change::new("order", id, "create").external_ref(format!("{URL}?id={id}"));
    Output::new(Placed { order: id.to_owned() }).receipt(json!({ "order": id })).change(change)
}

fn id_of(order: &Value) -> Result<String, Error> {
    let id = order["id"].as_str().filter(|id| id.chars().all(|c| c.is_ascii_alphanumeric()) && !id.is_empty());
    id.map(str::to_owned).ok_or_else(|| Error::schema_validation_failed("the shop answered without a valid id"))
}

/// Returns the orders that the shop finds for a query.
fn orders(url: &str) -> Result<Vec<Value>, Error> {
    let response = http::Request::get(url).timeout(Duration::from_secs(5)).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the shop answered {}", response.status())));
    }
    serde_json::from_slice(response.body())
        .map_err(|_| Error::schema_validation_failed("the shop answered without a list"))
}

/// Encodes a value for a query.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(byte)),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

fn by_key(key: &str) -> Result<Option<String>, Error> {
    orders(&format!("{URL}?key={}", encoded(key)))?.first().map(id_of).transpose()
}

fn place(wanted: Wanted, context: &tool::Context) -> Result<Output<Placed>, Error> {
    if wanted.item.trim().is_empty() || wanted.count == 0 {
        return Err(Error::invalid_input("the order has no item or no count"));
    }
    let key = context.external_key();
    let response = http::Request::post(URL)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .timeout(Duration::from_secs(10))
        .body(json!({ "item": wanted.item, "count": wanted.count }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => {
            let made: Value = serde_json::from_slice(response.body()).unwrap_or_default();
            Ok(placed(&id_of(&made).map_err(Error::applied_unknown)?))
        }
        409 => match by_key(key).map_err(Error::applied_unknown)? {
            Some(id) => Ok(placed(&id)),
            None => Err(Error::dependency_unavailable("the shop has a conflict, but no order").applied_unknown()),
        },
        400 | 404 | 422 => Err(Error::invalid_input("the shop refused the order")),
        401 | 403 => Err(Error::auth_forbidden("the shop refused the credentials")),
        429 => Err(Error::rate_limit("the shop asks for a pause")),
        status => Err(Error::temporary_provider_error(format!("the shop answered {status}")).applied_unknown()),
    }
}

fn find(_: Wanted, key: &str) -> Result<Verdict<Output<Placed>>, Error> {
    Ok(match by_key(key)? {
        Some(id) => Verdict::Happened(placed(&id)),
        None => Verdict::DidNotHappen,
    })
}

fn check(change: &Change) -> Result<Finding, Error> {
    let found = orders(change.external_ref.as_deref().unwrap_or_default())?;
    Ok(match found.iter().any(|order| order["id"].as_str() == Some(&change.resource_id)) {
        true => Finding::Confirmed,
        false => Finding::Mismatch("the shop has no such order".into()),
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Order.Place", place)
            .describe("Places an order at a shop.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(86_400))
            .settles_within(Duration::from_secs(60))
            .reconcile(find)
            .verify(check),
    ],
    exports: [reconcile, verify],
}
