use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Deserialize, JsonSchema)]
struct Use {
    part: String,
    count: u32,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Part {
    id: String,
    own_cents: u32,
    #[serde(default)]
    uses: Vec<Use>,
}

#[derive(Deserialize, JsonSchema)]
struct Bom {
    root: String,
    parts: Vec<Part>,
}

#[derive(Serialize, JsonSchema)]
struct Cost {
    cents: u64,
    by_part: BTreeMap<String, u64>,
}

/// Greatest number of levels of a product.
const LEVELS: usize = 40;
/// Greatest sum in cents that a double holds exactly.
const MOST: u64 = 1 << 52;

thread_local! {
    // Costs that were computed already. A part is often used in several places.
    static KNOWN: RefCell<HashMap<String, u64>> = RefCell::new(HashMap::new());
}

fn cost_of(parts: &HashMap<&str, &Part>, id: &str, level: usize) -> Result<u64, Error> {
    if let Some(cents) = KNOWN.with_borrow(|known| known.get(id).copied()) {
        return Ok(cents);
    }
    if level == LEVELS {
        return Err(Error::invalid_input(format!("{id} has more than {LEVELS} levels")));
    }
    let part = parts.get(id).ok_or_else(|| Error::invalid_input(format!("part {id} is missing")))?;
    let mut cents = u64::from(part.own_cents);
    for used in &part.uses {
        let one = cost_of(parts, &used.part, level + 1)?;
        let all = one.checked_mul(u64::from(used.count)).and_then(|more| cents.checked_add(more));
        cents = all.filter(|sum| *sum < MOST).ok_or_else(|| Error::invalid_input(format!("{id} costs too much")))?;
    }
    KNOWN.with_borrow_mut(|known| known.insert(id.to_owned(), cents));
    Ok(cents)
}

fn cost(bom: Bom, _: &step::Context) -> Result<Cost, Error> {
    KNOWN.with_borrow_mut(HashMap::clear);
    let parts: HashMap<&str, &Part> = bom.parts.iter().map(|part| (part.id.as_str(), part)).collect();
    let cents = cost_of(&parts, &bom.root, 0)?;
    let by_part = KNOWN.with_borrow(|known| known.iter().map(|(id, cents)| (id.clone(), *cents)).collect());
    Ok(Cost { cents, by_part })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Bom.Cost", cost)
            .describe("Computes the cost of a product from its bill of materials.")
            .determinism(Determinism::Pure),
    ],
}
