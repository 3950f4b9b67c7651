//! Orders a bouquet at a florist, then adds a card.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const ORDERS: &str = "https://florist.example/orders";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bouquet {
    flowers: Vec<String>,
    card: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    order: String,
    cents: u32,
}

#[derive(Deserialize)]
struct Order {
    id: String,
    cents: u32,
    state: Option<String>,
    card: Option<String>,
}

fn output(order: Order) -> Output<Ordered> {
    let change = Change::new("order", &order.id, "create").external_ref(format!("{ORDERS}/{}", order.id));
    Output::new(Ordered { order: order.id, cents: order.cents }).change(change)
}

fn failure(what: &str, status: u16) -> Error {
    Error::temporary_provider_error(format!("{what} was answered with {status}"))
}

/// Looks for the order of a call. The list has all orders that were not removed. A reference is unique.
fn find(key: &str) -> Result<Option<Order>, Error> {
    let response = http::Request::get(&format!("{ORDERS}?reference={key}")).send()?;
    if response.status() != 200 {
        return Err(failure("the list", response.status()));
    }
    let orders: Result<Vec<Order>, _> = serde_json::from_slice(response.body());
    orders.map(|mut orders| orders.pop()).map_err(|error| Error::schema_validation_failed(error.to_string()))
}

fn create(bouquet: &Bouquet, context: &tool::Context) -> Result<Order, Error> {
    let key = context.external_key();
    let body = serde_json::json!({ "reference": key, "flowers": bouquet.flowers });
    let response = http::Request::post(ORDERS).body(body.to_string()).send()?;
    match response.status() {
        200 | 201 => serde_json::from_slice(response.body())
            .map_err(|error| Error::schema_validation_failed(error.to_string()).applied_unknown()),
        409 | 412 => {
            find(key).map_err(Error::applied_unknown)?.ok_or_else(|| Error::policy_denied("no order was made"))
        }
        429 => Err(Error::rate_limit("the shop has too many orders")),
        400 | 401 | 403 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input("the order was refused")),
        status => Err(failure("the order", status).applied_unknown()),
    }
}

fn order(bouquet: Bouquet, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if bouquet.flowers.is_empty() || bouquet.card.is_empty() || bouquet.card.len() > 300 {
        return Err(Error::invalid_input("a bouquet has flowers, and a card of 1 to 300 bytes"));
    }
    let order = create(&bouquet, context)?;
    // The order exists from here on, so the outcome of each error is unknown.
    let card = http::Request::new("PUT", &format!("{ORDERS}/{}/card", order.id)).body(bouquet.card);
    match card.send().map_err(|error| Error::from(error).applied_unknown())?.status() {
        200 | 204 => Ok(output(order)),
        status => Err(failure("the card", status).applied_unknown()),
    }
}

/// An order without its card is an effect in part. A person then decides.
fn reconcile(bouquet: Bouquet, key: &str) -> Result<Verdict<Output<Ordered>>, Error> {
    Ok(match find(key)? {
        Some(order) if order.card.as_ref() == Some(&bouquet.card) => Verdict::Happened(output(order)),
        Some(_) => Verdict::Unknown,
        None => Verdict::DidNotHappen,
    })
}

/// Removes an order that the florist has not begun. The card is a part of the order.
fn cancel(bouquet: Bouquet, ordered: Ordered, _: &str) -> Result<Output<()>, Error> {
    let url = format!("{ORDERS}/{}", ordered.order);
    let found = http::Request::get(&url).send().map_err(|error| Error::from(error).not_applied())?;
    let etag = match (found.status(), found.header("etag")) {
        (200, Some(etag)) => etag.to_owned(),
        (404 | 410, _) => return Err(Error::policy_denied("the order is gone")),
        (status, _) => return Err(failure(&url, status).not_applied()),
    };
    let damaged = |error: serde_json::Error| Error::schema_validation_failed(format!("{url}: {error}")).not_applied();
    let order: Order = serde_json::from_slice(found.body()).map_err(damaged)?;
    if order.state.as_deref() != Some("new") || order.card.as_ref() != Some(&bouquet.card) {
        return Err(Error::policy_denied(format!("order {} was changed or begun", order.id)));
    }
    match http::Request::new("DELETE", &url).header("if-match", &etag).send()?.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("order", order.id, "delete"))),
        400..=407 | 409..=424 | 429 => Err(Error::policy_denied("the florist keeps the order")),
        status => Err(failure("the removal", status).applied_unknown()),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Bouquet.Order", order)
            .describe("Orders a bouquet with a card.")
            .effects([Effect::ExternalWrite])
            // A request is in transit for a minute at most. The list shows an order at once.
            .settles_within(std::time::Duration::from_secs(90))
            .reconcile(reconcile)
            .compensate(cancel),
    ],
    exports: [reconcile, compensate],
}
