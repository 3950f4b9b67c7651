//! `Stream.Order`: the Strahler number of a river network, from the reaches of a survey.

use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reach {
    id: String,
    /// The reach that this one flows into. The outlet has none.
    into: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Network {
    reaches: Vec<Reach>,
}

#[derive(Serialize, JsonSchema)]
struct Order {
    outlet: String,
    order: u32,
    /// Reaches without a tributary.
    springs: u32,
}

struct Tree<'a> {
    tributaries: BTreeMap<&'a str, Vec<&'a str>>,
    springs: u32,
}

impl Tree<'_> {
    /// The order of a reach: one more than its tributaries if the two largest are equal, else that of the largest.
    fn order(&mut self, id: &str) -> u32 {
        let Some(above) = self.tributaries.get(id).cloned() else {
            self.springs += 1;
            return 1;
        };
        let (mut largest, mut times) = (0, 0);
        for tributary in above {
            let order = self.order(tributary);
            if order > largest {
                (largest, times) = (order, 1);
            } else if order == largest {
                times += 1;
            }
        }
        if times > 1 { largest + 1 } else { largest }
    }
}

fn order(network: Network, _: &step::Context) -> Result<Order, Error> {
    let mut known = BTreeMap::new();
    let mut tributaries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut outlet = None;
    for reach in &network.reaches {
        if known.insert(reach.id.as_str(), ()).is_some() {
            return Err(Error::invalid_input(format!("reach {} is listed twice", reach.id)));
        }
        match &reach.into {
            Some(below) => tributaries.entry(below).or_default().push(&reach.id),
            None if outlet.is_none() => outlet = Some(reach.id.as_str()),
            None => return Err(Error::invalid_input(format!("reach {} is a second outlet", reach.id))),
        }
    }
    if let Some(missing) = tributaries.keys().find(|below| !known.contains_key(*below)) {
        return Err(Error::invalid_input(format!("reach {missing} is not in the survey")));
    }
    let outlet = outlet.ok_or_else(|| Error::invalid_input("no reach is the outlet"))?;
    let mut tree = Tree { tributaries, springs: 0 };
    let order = tree.order(outlet);
    Ok(Order { outlet: outlet.to_owned(), order, springs: tree.springs })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Stream.Order", order).describe("Computes the Strahler number of a river network."),
    ],
}
