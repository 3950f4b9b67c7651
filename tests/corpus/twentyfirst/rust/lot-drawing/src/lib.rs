use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Raffle {
    /// Sold tickets. A person may be in the list several times.
    sales: Vec<Sale>,
    /// The prizes, the best first.
    #[schemars(length(min = 1, max = 200))]
    prizes: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sale {
    name: String,
    #[schemars(range(min = 1, max = 1000))]
    tickets: u32,
}

#[derive(Serialize, JsonSchema)]
struct Drawing {
    /// One winner for each prize, in the order of the prizes.
    winners: Vec<Winner>,
    people: usize,
    tickets: u32,
}

#[derive(Serialize, JsonSchema)]
struct Winner {
    prize: String,
    name: String,
}

fn draw(raffle: Raffle, context: &step::Context) -> Result<Drawing, Error> {
    let mut sold: HashMap<&str, u32> = HashMap::new();
    let mut tickets: u32 = 0;
    for sale in &raffle.sales {
        let name = sale.name.trim();
        if name.is_empty() {
            return Err(Error::invalid_input("a sale has no name"));
        }
        tickets =
            tickets.checked_add(sale.tickets).ok_or_else(|| Error::invalid_input("the sales have too many tickets"))?;
        *sold.entry(name).or_default() += sale.tickets;
    }
    let people = sold.len();
    if people < raffle.prizes.len() {
        return Err(Error::invalid_input(format!("{} prizes for {people} people", raffle.prizes.len())));
    }

    // The drawn number counts through the names in alphabetical order.
    let mut pot: Vec<(&str, u32)> = sold.into_iter().collect();
    pot.sort_unstable();
    let mut remaining = tickets;
    let mut winners = Vec::with_capacity(raffle.prizes.len());
    for prize in raffle.prizes {
        let drawn = rng::below(remaining);
        let Some(place) = place_of(&pot, drawn) else {
            return Err(Error::invalid_input("no tickets are left for the prizes"));
        };
        // A person wins once: all tickets of the winner leave the pot.
        let (name, own) = pot.remove(place);
        remaining -= own;
        winners.push(Winner { prize, name: name.to_owned() });
    }
    log::info!("{} drew {} winners from {tickets} tickets", context.actor(), winners.len());
    Ok(Drawing { winners, people, tickets })
}

/// Returns the place of the person with the ticket of this number.
fn place_of(pot: &[(&str, u32)], number: u32) -> Option<usize> {
    let mut end = 0;
    pot.iter().position(|(_, tickets)| {
        end += tickets;
        number < end
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Stable: each job draws winners of its own.
        step::operator("Raffle.Draw", draw)
            .describe("Draws the winners of a raffle.")
            .determinism(Determinism::Stable),
    ],
}
