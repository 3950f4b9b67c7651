//! `Greenhouse.Order`: orders seed trays at the wholesale nursery.

use std::time::Duration;

use latchwork_guest::tool::{Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, log, secrets, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Longest time from the end of a request until the order is in the list of the nursery.
const SETTLING: Duration = Duration::from_secs(90);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Article of the catalogue, such as `tomato-harzfeuer`.
    article: String,
    trays: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    /// Number of the order at the nursery.
    number: u64,
}

#[derive(Deserialize)]
struct Listing {
    /// Orders of this customer, the newest first.
    orders: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    number: u64,
    /// Reference that the customer gave the order.
    reference: String,
}

fn request(method: &str, path: &str) -> Result<http::Request, Error> {
    let base: String = config::require("base_url")?;
    let token = secrets::get("NURSERY_TOKEN")?;
    let url = format!("{}{path}", base.trim_end_matches('/'));
    Ok(http::Request::new(method, &url).header("authorization", &format!("Bearer {token}")))
}

fn order(args: Order, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if args.article.trim().is_empty() {
        return Err(Error::invalid_input("article: empty"));
    }
    if !(1..=500).contains(&args.trays) {
        return Err(Error::invalid_input(format!("{} trays: 1 to 500 are possible", args.trays)));
    }
    let body = json!({ "article": args.article, "trays": args.trays, "reference": context.external_key() });
    let answer =
        request("POST", "/orders")?.header("content-type", "application/json").body(body.to_string()).send()?;
    if !matches!(answer.status(), 200 | 201) {
        return Err(refusal(&answer));
    }
    let listed: Listed = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("the order has no number: {error}")))?;
    log::info!("{} trays of {} are order {}", args.trays, args.article, listed.number);
    Ok(ordered(listed.number))
}

/// Called after a crash: looks for the order among the orders of the nursery's list.
fn find(_: Order, key: &str) -> Result<Verdict<Output<Ordered>>, Error> {
    let answer = request("GET", "/orders?limit=50&sort=newest")?.send()?;
    if answer.status() != 200 {
        return Err(refusal(&answer));
    }
    let listing: Listing = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("unknown form of the list: {error}")))?;
    Ok(match listing.orders.iter().find(|listed| listed.reference == key) {
        Some(listed) => Verdict::Happened(ordered(listed.number)),
        None => Verdict::DidNotHappen,
    })
}

fn ordered(number: u64) -> Output<Ordered> {
    Output::new(Ordered { number }).receipt(json!({ "number": number })).change(Change::new(
        "order",
        number.to_string(),
        "create",
    ))
}

/// Returns the failure for an answer of the nursery.
fn refusal(answer: &http::Response) -> Error {
    let said = format!("the nursery answered {}", answer.status());
    match answer.status() {
        401 | 403 => Error::auth_forbidden(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        429 => Error::rate_limit(said),
        _ => Error::temporary_provider_error(said),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Greenhouse.Order", order)
            .describe("Orders seed trays at the wholesale nursery.")
            .effects([Effect::ExternalWrite])
            .settles_within(SETTLING)
            .reconcile(find),
    ],
    exports: [reconcile],
}
