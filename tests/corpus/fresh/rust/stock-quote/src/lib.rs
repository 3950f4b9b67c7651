use latchwork_guest::serde_json::json;
use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Wish {
    sku: String,
    count: u32,
}

/// Answer of `Stock.Read`.
#[derive(Deserialize)]
struct Level {
    on_hand: u32,
    lead_days: u32,
}

#[derive(Serialize, JsonSchema)]
struct Quote {
    from_stock: u32,
    to_order: u32,
    days: u32,
}

fn quote(wish: Wish, _: &step::Context) -> Result<Quote, Error> {
    if wish.count == 0 {
        return Err(Error::invalid_input("count is 0"));
    }
    // The host retries a failed call, so an answer always comes.
    let level: Level = tools::call("Stock.Read", &json!({ "sku": wish.sku })).expect("the stock answers");
    let from_stock = wish.count.min(level.on_hand);
    let to_order = wish.count - from_stock;
    let days = if to_order == 0 { 1 } else { 1 + level.lead_days };
    Ok(Quote { from_stock, to_order, days })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Stock.Quote", quote)
            .describe("Tells when an article can be delivered.")
            .determinism(Determinism::External),
    ],
}
