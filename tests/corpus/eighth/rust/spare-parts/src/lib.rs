use std::time::Duration;

use latchwork_guest::{Code, Determinism, Error, clock, events, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    part: String,
}

#[derive(Serialize, JsonSchema)]
struct Offer {
    id: String,
    shop: String,
    cents: u32,
    valid_until: String,
}

#[derive(Deserialize)]
struct Price {
    cents: u32,
}

const SHOPS: [&str; 2] = ["shop-a", "shop-b"];

/// Asks a shop, and a second time if it was only too busy.
fn price(shop: &str, part: &str) -> Result<Price, Error> {
    let args = json!({ "shop": shop, "part": part });
    match tools::call("Shop.Price", &args) {
        Err(error) if error.code() == Code::RateLimit => tools::call("Shop.Price", &args),
        other => other,
    }
}

fn find(wanted: Wanted, context: &step::Context) -> Result<Offer, Error> {
    let mut last = Error::invalid_input("no shop");
    let mut best: Option<(u32, &str)> = None;
    for shop in SHOPS {
        match price(shop, &wanted.part) {
            Ok(price) => best = best.into_iter().chain([(price.cents, shop)]).min(),
            Err(error) => {
                log::warn!("{shop}, step {}: {}", context.step_id(), error.message());
                last = error;
            }
        }
    }
    let Some((cents, shop)) = best else { return Err(last) };
    events::emit("part-found", &json!({ "shop": shop, "cents": cents }))?;
    let valid_until = clock::now().plus(Duration::from_secs(86_400)).to_string();
    Ok(Offer { id: rng::uuid(), shop: shop.to_owned(), cents, valid_until })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Part.Find", find)
            .describe("Finds the cheapest shop of a spare part.")
            .determinism(Determinism::External),
    ],
}
