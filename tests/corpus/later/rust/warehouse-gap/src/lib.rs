use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    sku: String,
    /// Pieces on the shelf.
    on_hand: u64,
    /// Pieces that orders have reserved.
    reserved: u64,
    /// Pieces of each delivery that is on its way.
    #[serde(default)]
    incoming: Vec<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sheet {
    warehouse: String,
    items: Vec<Item>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    sku: String,
    free: u64,
    short: bool,
}

#[derive(Serialize, JsonSchema)]
struct Gaps {
    warehouse: String,
    rows: Vec<Row>,
}

/// Fewer free pieces than this are reported as short.
const LEAST: u64 = 10;

fn gaps(sheet: Sheet, _: &step::Context) -> Result<Gaps, Error> {
    if sheet.items.is_empty() {
        return Err(Error::invalid_input(format!("warehouse {} has no items", sheet.warehouse)));
    }
    let mut rows: Vec<Row> = sheet
        .items
        .into_iter()
        .map(|item| {
            let coming: u64 = item.incoming.iter().sum();
            let free = item.on_hand + coming - item.reserved;
            Row { sku: item.sku, free, short: free < LEAST }
        })
        .collect();
    rows.sort_by(|a, b| a.sku.cmp(&b.sku));
    Ok(Gaps { warehouse: sheet.warehouse, rows })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Stock.Gaps", gaps)
            .describe("Lists the free pieces of each item of a warehouse.")
            .determinism(Determinism::Pure),
    ],
}
