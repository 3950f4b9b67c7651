//! Prices a bill of quantities, as quantity surveyors use it for tenders of building works.

use std::collections::{BTreeMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Deepest level of sections.
const LEVELS: usize = 10;
/// Most items of one bill.
const ITEMS: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bill {
    #[schemars(length(min = 1, max = 80))]
    title: String,
    #[schemars(length(max = 50))]
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    #[schemars(length(min = 1, max = 80))]
    title: String,
    #[schemars(length(min = 1, max = 30))]
    trade: Option<String>,
    /// Number of times that the item is built.
    #[schemars(range(min = 1, max = 1_000_000))]
    quantity: u64,
    /// Price of one, without the parts of the item.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000_000_u64))]
    unit_price_cents: u64,
    #[serde(default)]
    #[schemars(length(max = 50))]
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    /// Place in the bill, such as `2.1.4`.
    place: String,
    title: String,
    quantity: String,
    /// Amounts are texts of decimal digits, because they can be larger than exact numbers of JSON.
    amount_cents: String,
}

#[derive(Serialize, JsonSchema)]
struct Priced {
    title: String,
    lines: Vec<Line>,
    total_cents: String,
    /// Amounts by trade, in the order of their names.
    trades: BTreeMap<String, String>,
    /// Titles that occur more than once, in order.
    repeated: Vec<String>,
}

#[derive(Default)]
struct Totals<'a> {
    lines: Vec<Line>,
    total: u128,
    trades: BTreeMap<&'a str, u128>,
}

fn too_large() -> Error {
    Error::invalid_input("an amount of the bill is too large")
}

fn add<'a>(items: &'a [Item], place: &[usize], times: u128, totals: &mut Totals<'a>) -> Result<(), Error> {
    if !items.is_empty() && place.len() == LEVELS {
        return Err(Error::invalid_input(format!("the bill has more than {LEVELS} levels")));
    }
    for (index, item) in items.iter().enumerate() {
        let place = [place, &[index + 1]].concat();
        let quantity = times.checked_mul(u128::from(item.quantity)).ok_or_else(too_large)?;
        let amount = quantity.checked_mul(u128::from(item.unit_price_cents)).ok_or_else(too_large)?;
        totals.total = totals.total.checked_add(amount).ok_or_else(too_large)?;
        // No trade has more than the total, so this sum cannot overflow.
        *totals.trades.entry(item.trade.as_deref().unwrap_or("general")).or_default() += amount;
        totals.lines.push(Line {
            place: place.iter().map(usize::to_string).collect::<Vec<_>>().join("."),
            title: item.title.clone(),
            quantity: quantity.to_string(),
            amount_cents: amount.to_string(),
        });
        if totals.lines.len() > ITEMS {
            return Err(Error::invalid_input(format!("the bill has more than {ITEMS} items")));
        }
        add(&item.items, &place, quantity, totals)?;
    }
    Ok(())
}

fn price(bill: Bill, _: &step::Context) -> Result<Priced, Error> {
    let mut totals = Totals::default();
    add(&bill.items, &[], 1, &mut totals)?;
    let mut seen = HashSet::new();
    let repeated: HashSet<&str> =
        totals.lines.iter().map(|line| line.title.as_str()).filter(|title| !seen.insert(*title)).collect();
    let mut repeated: Vec<String> = repeated.into_iter().map(str::to_owned).collect();
    repeated.sort();
    let trades = totals.trades.iter().map(|(trade, amount)| ((*trade).to_owned(), amount.to_string())).collect();
    Ok(Priced { title: bill.title, total_cents: totals.total.to_string(), trades, repeated, lines: totals.lines })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Bill.Price", price).describe("Prices a bill of quantities and sums it by trade."),
    ],
}
