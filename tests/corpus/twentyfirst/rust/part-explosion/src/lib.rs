use std::collections::{BTreeMap, BTreeSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of pieces. Beyond it, other programs round the number.
const PIECES_MAX: u64 = (1 << 53) - 1;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// The product to build.
    product: String,
    /// Number of products.
    quantity: u32,
    /// Lines of the parts list, in any order.
    lines: Vec<Line>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    assembly: String,
    part: String,
    /// Pieces of the part in one assembly.
    pieces: u32,
}

#[derive(Serialize, JsonSchema)]
struct Needs {
    /// Parts to buy, by name.
    buy: BTreeMap<String, u64>,
    /// Assemblies to make, by name. The product is one of them.
    make: BTreeMap<String, u64>,
}

/// The parts of each assembly, with their pieces.
type Structure<'a> = BTreeMap<&'a str, Vec<(&'a str, u32)>>;

/// The search of the assemblies below the product.
struct Search<'a> {
    structure: &'a Structure<'a>,
    open: BTreeSet<&'a str>,
    done: BTreeSet<&'a str>,
    /// Every part follows all parts that it contains.
    order: Vec<&'a str>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, part: &'a str) -> Result<(), Error> {
        if self.done.contains(part) {
            return Ok(());
        }
        if !self.open.insert(part) {
            return Err(Error::invalid_input(format!("{part} contains itself")));
        }
        let structure = self.structure;
        for (inner, _) in structure.get(part).into_iter().flatten() {
            self.visit(inner)?;
        }
        self.open.remove(part);
        self.done.insert(part);
        self.order.push(part);
        Ok(())
    }
}

fn explode(order: Order, _: &step::Context) -> Result<Needs, Error> {
    let mut structure = Structure::new();
    for line in &order.lines {
        if line.pieces == 0 {
            return Err(Error::invalid_input(format!("{} has no pieces of {}", line.assembly, line.part)));
        }
        structure.entry(&line.assembly).or_default().push((&line.part, line.pieces));
    }
    if !structure.contains_key(order.product.as_str()) {
        return Err(Error::invalid_input(format!("the parts list has no lines of {}", order.product)));
    }
    let mut search = Search { structure: &structure, open: BTreeSet::new(), done: BTreeSet::new(), order: Vec::new() };
    search.visit(&order.product)?;

    let mut needed = BTreeMap::from([(order.product.as_str(), u64::from(order.quantity))]);
    for assembly in search.order.iter().rev() {
        let count = needed.get(assembly).copied().unwrap_or_default();
        for (part, pieces) in structure.get(assembly).into_iter().flatten() {
            let sum = needed.entry(part).or_default();
            *sum = count
                .checked_mul(u64::from(*pieces))
                .and_then(|more| sum.checked_add(more))
                .filter(|sum| *sum <= PIECES_MAX)
                .ok_or_else(|| Error::invalid_input(format!("too many pieces of {part}")))?;
        }
    }
    let (make, buy) = needed
        .into_iter()
        .map(|(part, count)| (part.to_owned(), count))
        .partition(|(part, _)| structure.contains_key(part.as_str()));
    Ok(Needs { buy, make })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Parts.Explode", explode)
            .describe("Computes the parts that an order needs, through all assemblies of the parts list."),
    ],
}
