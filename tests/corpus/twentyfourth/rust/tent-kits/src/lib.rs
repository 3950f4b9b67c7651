//! Counts the parts of a marquee from its nested kits.

use std::cell::RefCell;
use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

thread_local! {
    /// Names as the store prints them, by the names as the kits spell them.
    static PRINTED: RefCell<HashMap<String, String>> = RefCell::new(HashMap::new());
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Kit {
    name: String,
    /// Pieces in the kit that holds this one.
    count: u32,
    /// Parts of the kit. A piece without parts is taken from the store as it is.
    #[serde(default)]
    parts: Vec<Kit>,
}

#[derive(Serialize, JsonSchema)]
struct Picking {
    pieces: Vec<Piece>,
    /// Depth of the kits.
    levels: usize,
}

#[derive(Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    name: String,
    /// Total as a decimal number, because the pegs of a season pass every counter.
    total: String,
}

fn printed(name: &str) -> String {
    PRINTED.with_borrow_mut(|known| {
        known
            .entry(name.to_owned())
            .or_insert_with(|| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
            .clone()
    })
}

fn collect(kit: &Kit, outer: u128, totals: &mut HashMap<String, u128>) -> Result<usize, Error> {
    let name = printed(&kit.name);
    if name.is_empty() || kit.count == 0 {
        return Err(Error::invalid_input(format!("kit {:?} with {} pieces", kit.name, kit.count)));
    }
    let too_many = || Error::invalid_input(format!("too many pieces of {name}"));
    let pieces = outer.checked_mul(u128::from(kit.count)).ok_or_else(too_many)?;
    if kit.parts.is_empty() {
        let total = totals.entry(name.clone()).or_default();
        *total = total.checked_add(pieces).ok_or_else(too_many)?;
        return Ok(1);
    }
    let mut levels = 0;
    for part in &kit.parts {
        levels = levels.max(collect(part, pieces, totals)?);
    }
    Ok(levels + 1)
}

fn pick(kit: Kit, _: &step::Context) -> Result<Picking, Error> {
    let mut totals = HashMap::new();
    let levels = collect(&kit, 1, &mut totals)?;
    let mut pieces: Vec<Piece> =
        totals.into_iter().map(|(name, total)| Piece { name, total: total.to_string() }).collect();
    pieces.sort();
    Ok(Picking { pieces, levels })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Tent.Pick", pick).describe("Counts the parts of nested kits.")],
}
