use latchwork_guest::{Determinism, Error, clock, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Letters and digits without those that look alike.
const SIGNS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

#[derive(Deserialize, JsonSchema)]
struct Event {
    name: String,
    #[schemars(range(min = 1, max = 500))]
    tickets: u16,
}

#[derive(Serialize, JsonSchema)]
struct Codes {
    issued: String,
    codes: Vec<String>,
}

fn code() -> String {
    // `below` with the length of a list of fewer than 2^32 signs.
    let bound = u32::try_from(SIGNS.len()).unwrap_or(1);
    (0..8).map(|_| char::from(SIGNS[rng::below(bound) as usize])).collect()
}

fn issue(event: Event, context: &step::Context) -> Result<Codes, Error> {
    if event.tickets == 0 || event.tickets > 500 {
        return Err(Error::invalid_input("tickets: 1 to 500"));
    }
    let (year, month, day) = clock::now().date();
    let mut codes: Vec<String> = Vec::new();
    while codes.len() < usize::from(event.tickets) {
        let next = code();
        if !codes.contains(&next) {
            codes.push(next);
        }
    }
    log::info!("{} codes of {} for {}", codes.len(), event.name, context.actor());
    Ok(Codes { issued: format!("{year:04}-{month:02}-{day:02}"), codes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Each job has codes of its own.
        step::operator("Ticket.Codes", issue)
            .describe("Makes random codes for the tickets of an event.")
            .determinism(Determinism::Stable),
    ],
}
