//! Orders vaccine at the depot of the health authority.
//!
//! The depot keeps the reference of an order for good, refuses a second order with the same reference (409), and
//! lists an order within a minute after it was accepted.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Want {
    /// Code of the vaccine, such as `MMR-2`.
    code: String,
    doses: u32,
    /// Last day on which the order may be placed: `2026-01-31`.
    place_by: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    id: String,
    lot: String,
    etag: String,
}

fn depot(path: &str) -> Result<String, Error> {
    Ok(format!("{}/{path}", config::require::<String>("depot")?))
}

fn body<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the depot: {error}")))
}

fn ordered(order: Order) -> Output<Order> {
    let receipt = json!({ "order": order.id, "lot": order.lot });
    let change =
        Change::new("order", &order.id, "create").etag(&order.etag).external_ref(format!("orders/{}", order.id));
    Output::new(order).receipt(receipt).change(change)
}

fn lookup(key: &str) -> Result<Option<Order>, Error> {
    let response = http::Request::get(&depot(&format!("orders?reference={key}"))?).send()?;
    match response.status() {
        200 => Ok(body::<Vec<Order>>(&response)?.into_iter().next()),
        status => Err(Error::temporary_provider_error(format!("list of orders: status {status}"))),
    }
}

fn place(want: Want, context: &tool::Context) -> Result<Output<Order>, Error> {
    if want.code.trim().is_empty() || want.doses == 0 || want.doses > 5_000 {
        return Err(Error::invalid_input("an order has a code and 1 to 5000 doses"));
    }
    let key = context.external_key();
    // A repetition may come after the last day: an order of this call counts, whatever the day is now. The question
    // changes nothing.
    if let Some(order) = lookup(key).map_err(Error::not_applied)? {
        return Ok(ordered(order));
    }
    let (year, month, day) = wall::now().date();
    if format!("{year:04}-{month:02}-{day:02}") > want.place_by {
        return Err(Error::invalid_input(format!("the last day for this order was {}", want.place_by)));
    }
    let wanted = json!({ "code": want.code, "doses": want.doses, "reference": key });
    let response = http::Request::post(&depot("orders")?)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(wanted.to_string())
        .send()?;
    match response.status() {
        200 | 201 => Ok(ordered(body(&response)?)),
        400 | 404 | 422 => Err(Error::invalid_input(format!("the depot refused the order: {}", response.text()))),
        401 | 403 => Err(Error::auth_forbidden("the depot refused the request")),
        // An order of an earlier try, which the list did not show yet.
        409 => match lookup(key).map_err(Error::applied_unknown)? {
            Some(order) => Ok(ordered(order)),
            None => Err(Error::temporary_provider_error("the depot has an order that it does not list yet")),
        },
        429 => Err(Error::rate_limit("the depot takes no orders now")),
        // Some gateways of the depot answer 503 for a full queue, with or without the order.
        503 => Err(Error::rate_limit("the depot is overloaded").retry_after(Duration::from_secs(30)).applied_unknown()),
        status => Err(Error::temporary_provider_error(format!("order: status {status}"))),
    }
}

fn find(_: Want, key: &str) -> Result<Verdict<Output<Order>>, Error> {
    Ok(lookup(key)?.map_or(Verdict::DidNotHappen, |order| Verdict::Happened(ordered(order))))
}

fn cancel(_: Want, order: Order, _: &str) -> Result<Output<()>, Error> {
    let response = http::Request::new("DELETE", &depot(&format!("orders/{}", order.id))?)
        .header("if-match", &order.etag)
        .send()?;
    match response.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("order", &order.id, "delete"))),
        404 | 410 => Err(Error::policy_denied("another party has cancelled the order")),
        409 | 412 => Err(Error::policy_denied("the order is on its way or was changed")),
        401 | 403 => Err(Error::auth_forbidden("the depot refused the request")),
        429 => Err(Error::rate_limit("the depot takes no requests now")),
        status => Err(Error::temporary_provider_error(format!("cancelling: status {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Vaccine.Order", place)
            .describe("Orders vaccine at the depot of the health authority.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(86_400))
            .settles_within(Duration::from_secs(90))
            .reconcile(find)
            .compensate(cancel),
    ],
    exports: [reconcile, compensate],
}
