//! `Berth.Arrears`: notes the unpaid berth fees of a yacht in the harbor book, and reminds its owner.

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Number of unpaid months after which the owner gets a letter.
const PATIENCE: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Account {
    /// Name of the yacht.
    yacht: String,
    /// Mail address of the owner.
    owner: String,
    /// Fees of the season, one for each month.
    fees: Vec<Fee>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Fee {
    /// Month, such as `2026-04`.
    month: String,
    due_cents: u32,
    paid_cents: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Arrears {
    yacht: String,
    /// Months that are not fully paid.
    months: Vec<String>,
    open_cents: u64,
    /// True if the owner got a letter.
    reminded: bool,
}

/// Writes the letter to the owner.
fn letter(account: &Account, months: &[String], open_cents: u64) -> Value {
    let body = format!(
        "The berth of {} has open fees of {}.{:02} for {}. Please pay them at the harbor office.",
        account.yacht,
        open_cents / 100,
        open_cents % 100,
        months.join(", ")
    );
    json!({ "to": account.owner, "subject": format!("Berth fees of {}", account.yacht), "body": body })
}

fn arrears(account: Account, _: &step::Context) -> Result<Arrears, Error> {
    if account.yacht.trim().is_empty() {
        return Err(Error::invalid_input("the yacht has no name"));
    }
    if !account.owner.contains('@') {
        return Err(Error::invalid_input("the owner has no mail address"));
    }
    let unpaid: Vec<&Fee> = account.fees.iter().filter(|fee| fee.paid_cents < fee.due_cents).collect();
    let open_cents = unpaid.iter().map(|fee| u64::from(fee.due_cents - fee.paid_cents)).sum();
    let mut months: Vec<String> = unpaid.iter().map(|fee| fee.month.clone()).collect();
    months.sort();

    if months.is_empty() {
        log::info!("{} owes nothing", account.yacht);
        return Ok(Arrears { yacht: account.yacht, months, open_cents, reminded: false });
    }
    let note = json!({ "page": account.yacht, "months": months, "open_cents": open_cents });
    let _: Value = tools::call("HarborBook.Note", &note)?;

    let reminded = months.len() >= PATIENCE;
    if reminded {
        let _: Value = tools::call("Mail.Send", &letter(&account, &months, open_cents))?;
        log::info!("the owner of {} was reminded of {} months", account.yacht, months.len());
    }
    Ok(Arrears { yacht: account.yacht, months, open_cents, reminded })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Berth.Arrears", arrears)
            .describe("Notes unpaid berth fees in the harbor book and reminds the owner after three months.")
            .effects([Effect::InternalWrite])
            .determinism(Determinism::External),
    ],
}
