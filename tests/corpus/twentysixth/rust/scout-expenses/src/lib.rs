//! Sums the receipts of a scout troop and draws the receipts for the audit.

use std::collections::HashMap;
use std::sync::OnceLock;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of receipts that an audit looks at.
const AUDITED: usize = 3;
/// 100,000 euros: no receipt of a troop is larger.
const CENTS_MAX: u32 = 10_000_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Camp {
    troop: String,
    expenses: Group,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    #[serde(default)]
    receipts: Vec<Receipt>,
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Receipt {
    shop: String,
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Summary {
    troop: String,
    cents: u64,
    receipts: usize,
    /// The shop with the highest sum comes first.
    shops: Vec<Shop>,
    audit: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Shop {
    shop: String,
    cents: u64,
    /// Share of all expenses, with one decimal.
    percent: f64,
}

/// A receipt with the names of its groups, such as `camp/kitchen`.
struct Filed<'a> {
    path: String,
    receipt: &'a Receipt,
}

/// Adds the receipts of a group and of the groups inside it. JSON has at most 64 levels, so groups have fewer.
fn file_all<'a>(group: &'a Group, above: &str, filed: &mut Vec<Filed<'a>>) {
    let path = if above.is_empty() { group.name.clone() } else { format!("{above}/{}", group.name) };
    filed.extend(group.receipts.iter().map(|receipt| Filed { path: path.clone(), receipt }));
    for inner in &group.groups {
        file_all(inner, &path, filed);
    }
}

static CRC_TABLE: OnceLock<[u32; 256]> = OnceLock::new();

fn crc32(bytes: &[u8]) -> u32 {
    let table = CRC_TABLE.get_or_init(|| {
        std::array::from_fn(|at| {
            (0..8).fold(at as u32, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
        })
    });
    !bytes.iter().fold(u32::MAX, |crc, byte| crc >> 8 ^ table[((crc ^ u32::from(*byte)) & 0xff) as usize])
}

/// Random numbers that follow from a seed (xorshift).
struct Draw(u32);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as usize % bound
    }
}

/// Draws receipts. The same troop with the same receipts gets the same draw, and cannot draw again.
fn draw(troop: &str, filed: &[Filed]) -> Vec<String> {
    let mut text = troop.to_owned();
    for Filed { path, receipt } in filed {
        text.push_str(&format!("\n{path}\t{}\t{}", receipt.shop, receipt.cents));
    }
    // A seed of 0 would give zeros alone.
    let mut draw = Draw(crc32(text.as_bytes()).max(1));
    let mut order: Vec<usize> = (0..filed.len()).collect();
    let wanted = AUDITED.min(order.len());
    for at in 0..wanted {
        let other = at + draw.below(order.len() - at);
        order.swap(at, other);
    }
    order.truncate(wanted);
    order.sort_unstable();
    let shown = |at: &usize| {
        let Filed { path, receipt } = &filed[*at];
        format!("{path}: {} ({}.{:02})", receipt.shop, receipt.cents / 100, receipt.cents % 100)
    };
    order.iter().map(shown).collect()
}

fn sum(camp: Camp, _: &step::Context) -> Result<Summary, Error> {
    if camp.troop.trim().is_empty() {
        return Err(Error::invalid_input("the troop has no name"));
    }
    let mut filed = Vec::new();
    file_all(&camp.expenses, "", &mut filed);
    if filed.is_empty() {
        return Err(Error::invalid_input("there are no receipts"));
    }
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for Filed { path, receipt } in &filed {
        if receipt.cents == 0 || receipt.cents > CENTS_MAX {
            return Err(Error::invalid_input(format!("{path}: {} has no sum that is possible", receipt.shop)));
        }
        *sums.entry(receipt.shop.as_str()).or_default() += u64::from(receipt.cents);
    }
    let total: u64 = sums.values().sum();
    let mut shops: Vec<Shop> = sums
        .into_iter()
        .map(|(shop, cents)| Shop {
            shop: shop.to_owned(),
            cents,
            percent: (cents as f64 * 1000.0 / total as f64).round() / 10.0,
        })
        .collect();
    shops.sort_by(|a, b| b.cents.cmp(&a.cents).then_with(|| a.shop.cmp(&b.shop)));
    let audit = draw(&camp.troop, &filed);
    Ok(Summary { cents: total, receipts: filed.len(), shops, audit, troop: camp.troop })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Expenses.Sum", sum)
            .describe("Sums the receipts of a scout troop and draws the receipts for the audit."),
    ],
}
