//! Loans of herbarium sheets. A loan is a slip in the folder of open loans, which the curators and `Loan.List` read,
//! and a receipt for the borrower.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Loan {
    borrower: String,
    /// Numbers of the sheets: `K000123456`.
    sheets: Vec<String>,
    /// Day by which the sheets are back: `2026-06-30`.
    due: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Lent {
    slip: String,
    receipt: String,
    sheets: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Everything {}

#[derive(Serialize, JsonSchema)]
struct Open {
    slips: Vec<String>,
}

/// Name of the files of a call. A key has neither a dot nor a plus.
fn name(key: &str) -> String {
    key.replace(':', ".").replace('/', "+")
}

fn slip(key: &str) -> String {
    format!("/loans/open/{}.txt", name(key))
}

fn receipt(key: &str) -> String {
    format!("/loans/receipts/{}.json", name(key))
}

fn check(loan: &Loan) -> Result<(), Error> {
    if loan.borrower.trim().is_empty() || loan.borrower.contains('\n') {
        return Err(Error::invalid_input("the borrower is one line of text"));
    }
    if loan.sheets.is_empty() || loan.sheets.len() > 500 {
        return Err(Error::invalid_input("a loan has 1 to 500 sheets"));
    }
    for sheet in &loan.sheets {
        let digits = sheet.strip_prefix('K').unwrap_or_default();
        if digits.len() != 9 || !digits.bytes().all(|c| c.is_ascii_digit()) {
            return Err(Error::invalid_input(format!("{sheet:?} is no number of a sheet")));
        }
    }
    Ok(())
}

fn record(loan: Loan, context: &tool::Context) -> Result<Output<Lent>, Error> {
    check(&loan)?;
    let key = context.external_key();
    let text = format!("{}\ndue {}\n{}\n", loan.borrower.trim(), loan.due, loan.sheets.join("\n"));
    // Both files are named by the key and replaced as a whole, so another try writes the same again. The receipt
    // is written last: where there is a receipt, the loan is complete.
    fs::replace(&slip(key), text.as_bytes(), key)?;
    let copy = json!({ "borrower": loan.borrower.trim(), "sheets": loan.sheets, "due": loan.due, "slip": slip(key) });
    fs::replace(&receipt(key), copy.to_string().as_bytes(), key)?;
    Ok(lent(&loan, key))
}

/// The output follows from the arguments and the key.
fn lent(loan: &Loan, key: &str) -> Output<Lent> {
    Output::new(Lent { slip: slip(key), receipt: receipt(key), sheets: loan.sheets.len() })
        .receipt(json!({ "receipt": receipt(key) }))
        .change(Change::new("loan", key, "create").external_ref(slip(key)))
}

fn find(loan: Loan, key: &str) -> Result<Verdict<Output<Lent>>, Error> {
    Ok(match fs::exists(&receipt(key))? {
        true => Verdict::Happened(lent(&loan, key)),
        false => Verdict::DidNotHappen,
    })
}

fn list(_: Everything, _: &tool::Context) -> Result<Output<Open>, Error> {
    let mut slips = Vec::new();
    for entry in fs::list("/loans/open")? {
        if entry.name.ends_with(".txt") {
            slips.push(fs::read_to_string(&format!("/loans/open/{}", entry.name))?);
        }
    }
    Ok(Output::new(Open { slips }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Loan.Record", record)
            .describe("Records a loan of herbarium sheets, with a receipt for the borrower.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
        tool::operator("Loan.List", list).describe("Lists the slips of the open loans."),
    ],
    exports: [reconcile],
}
