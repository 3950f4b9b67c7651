use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Lot {
    lot: String,
    houses: Vec<String>,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
struct Bid {
    house: String,
    cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct Best {
    lot: String,
    bids: usize,
    best: Bid,
}

fn best(input: Lot, _: &step::Context) -> Result<Best, Error> {
    if input.houses.is_empty() {
        return Err(Error::invalid_input("no auction house was named"));
    }
    let calls =
        input.houses.iter().map(|house| tools::Call::new("House.Bid", &json!({ "house": house, "lot": input.lot })));
    let (bids, failed): (Vec<_>, Vec<_>) = tools::call_all::<Bid>(calls).into_iter().partition(Result::is_ok);
    for error in failed.into_iter().filter_map(Result::err) {
        log::warn!("lot {}: {}", input.lot, error.message());
    }
    let bids: Vec<Bid> = bids.into_iter().filter_map(Result::ok).collect();
    // The first house wins among equal bids.
    let best = bids.iter().rev().max_by_key(|bid| bid.cents).unwrap();
    Ok(Best { lot: input.lot, bids: bids.len(), best: best.clone() })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Bid.Best", best)
            .describe("Asks auction houses for a bid and takes the best one.")
            .determinism(Determinism::External),
    ],
}
