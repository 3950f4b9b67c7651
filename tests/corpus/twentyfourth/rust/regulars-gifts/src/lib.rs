//! Sends the vouchers of a campaign to the regular guests of a hotel.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most vouchers of one campaign.
const GIFTS: usize = 200;
/// Most cents of one voucher.
const CENTS: u32 = 50_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Campaign {
    /// Name of the campaign with its year.
    campaign: String,
    gifts: Vec<Gift>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Gift {
    /// Number of the guest card.
    card: String,
    occasion: Occasion,
    cents: u32,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Occasion {
    Birthday,
    Delay,
    Stay,
}

#[derive(Deserialize)]
struct Issued {
    code: String,
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    campaign: String,
    codes: Vec<String>,
    total_cents: u32,
}

fn send(input: Campaign, _: &step::Context) -> Result<Sent, Error> {
    let campaign = input.campaign.trim();
    if campaign.is_empty() {
        return Err(Error::invalid_input("the campaign has no name"));
    }
    if input.gifts.len() > GIFTS {
        return Err(Error::invalid_input(format!("a campaign has at most {GIFTS} vouchers")));
    }
    // A voucher that is listed twice is a slip of the pen in the list of the front desk.
    let mut listed = BTreeSet::new();
    for gift in &input.gifts {
        if gift.card.is_empty() || gift.cents == 0 || gift.cents > CENTS {
            return Err(Error::invalid_input(format!("no voucher for card {:?} over {} cents", gift.card, gift.cents)));
        }
        if !listed.insert((gift.card.as_str(), gift.occasion, gift.cents)) {
            return Err(Error::invalid_input(format!("card {} has the same voucher twice", gift.card)));
        }
    }
    let mut codes = Vec::with_capacity(input.gifts.len());
    let mut total_cents = 0;
    for gift in &input.gifts {
        let args = json!({ "campaign": campaign, "card": gift.card, "occasion": gift.occasion, "cents": gift.cents });
        let key = json!([campaign, gift.card, gift.occasion]).to_string();
        let issued: Issued = tools::Call::new("Voucher.Issue", &args)
            .action_key(key)
            .send()
            .map_err(|error: Error| error.context(format!("voucher of card {}", gift.card)))?;
        codes.push(issued.code);
        total_cents += gift.cents;
    }
    Ok(Sent { campaign: campaign.to_owned(), codes, total_cents })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Campaign.Send", send)
            .describe("Issues the vouchers of a campaign.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
