//! `Umbrella.Lend` and `Umbrella.Return`: the loans of a hotel's umbrellas, kept in the map of the plugin.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, kv, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Time for which loans are certainly kept.
const WINDOW: Duration = Duration::from_secs(3 * 86_400);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lend {
    /// Room of the guest.
    room: String,
    /// Time by which the umbrella is due, in seconds since 1970.
    due_at: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Lent {
    /// Number of the loan, for the return.
    loan: String,
    room: String,
    /// Time of the loan in seconds since 1970.
    lent_at: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Return {
    /// Number of the loan.
    loan: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Returned {
    loan: String,
    room: String,
}

/// Entry of a loan in the map.
#[derive(Debug, Serialize, Deserialize)]
struct Loan {
    room: String,
    due_at: i64,
    lent_at: i64,
    returned: bool,
}

fn entry(loan: &str) -> String {
    format!("loan/{loan}")
}

fn find(loan: &str) -> Result<Option<Loan>, Error> {
    let Some(bytes) = kv::get(&entry(loan))? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("loan {loan} cannot be read: {error}")))
}

fn keep(loan: &str, content: &Loan) -> Result<(), Error> {
    let bytes = serde_json::to_vec(content).map_err(|error| Error::invalid_input(error.to_string()))?;
    kv::set(&entry(loan), &bytes)
}

fn lend(lend: Lend, context: &tool::Context) -> Result<Output<Lent>, Error> {
    if lend.room.trim().is_empty() || lend.room.len() > 40 {
        return Err(Error::invalid_input("a room has 1 to 40 bytes"));
    }
    let key = context.external_key();
    let loan = match find(key)? {
        Some(loan) => loan,
        None => {
            let now = wall::now().seconds;
            if lend.due_at <= now {
                return Err(Error::invalid_input("the umbrella would be due in the past"));
            }
            let loan = Loan { room: lend.room, due_at: lend.due_at, lent_at: now, returned: false };
            keep(key, &loan)?;
            loan
        }
    };
    let receipt = json!({ "loan": key });
    Ok(Output::new(Lent { loan: key.to_owned(), room: loan.room, lent_at: loan.lent_at }).receipt(receipt))
}

fn give_back(back: Return, _: &tool::Context) -> Result<Output<Returned>, Error> {
    if back.loan.is_empty() || back.loan.len() > 128 {
        return Err(Error::invalid_input("a number of a loan has 1 to 128 bytes"));
    }
    let Some(mut loan) = find(&back.loan)? else {
        return Err(Error::invalid_input(format!("there is no loan {}", back.loan)));
    };
    if loan.returned {
        log::info!("loan {} was returned before", back.loan);
    } else {
        loan.returned = true;
        keep(&back.loan, &loan)?;
    }
    Ok(Output::new(Returned { loan: back.loan, room: loan.room }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Umbrella.Lend", lend)
            .describe("Lends an umbrella to a guest, once for each external key.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW),
        tool::operator("Umbrella.Return", give_back)
            .describe("Marks a loan as returned.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW),
    ],
}
