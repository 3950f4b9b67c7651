//! `Rowboat.Lend`: lends a rowboat of the boathouse to a member.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, secrets};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

const LOANS: &str = "https://boathouse.example/api/loans";
/// Time within which the boathouse books a request or drops it.
const BOOKING: Duration = Duration::from_secs(30);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    boat: String,
    member: String,
    hours: u8,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Lent {
    loan: String,
    boat: String,
    hours: u8,
}

/// A loan, as the boathouse shows it.
#[derive(Debug, Deserialize)]
struct Loan {
    loan: String,
    /// `open`, `returned` or `void`.
    state: String,
}

fn lend(wish: Wish, context: &tool::Context) -> Result<Output<Lent>, Error> {
    if wish.boat.is_empty() || wish.member.is_empty() || !(1..=12).contains(&wish.hours) {
        return Err(Error::invalid_input("a loan names a boat, a member and 1 to 12 hours"));
    }
    let key = context.external_key();
    let body = json!({ "boat": wish.boat, "member": wish.member, "hours": wish.hours });
    let answer = request("POST", key)?.body(body.to_string()).send()?;
    match answer.status() {
        200 | 201 => Ok(lent(read::<Loan>(&answer)?.loan, &wish, key)),
        409 => match find(key).map_err(Error::applied_unknown)? {
            Some(loan) if loan.state != "void" => Ok(lent(loan.loan, &wish, key)),
            Some(loan) => Err(Error::policy_denied(format!("loan {} was voided", loan.loan)).applied_unknown()),
            None => Err(Error::policy_denied(format!("{} is out on the water", wish.boat))),
        },
        _ => Err(refused(&answer)),
    }
}

/// Looks for the loan of a call at the boathouse.
fn reconcile(wish: Wish, key: &str) -> Result<Verdict<Output<Lent>>, Error> {
    Ok(match find(key)? {
        Some(loan) if loan.state == "void" => Verdict::Unknown,
        Some(loan) => Verdict::Happened(lent(loan.loan, &wish, key)),
        None => Verdict::DidNotHappen,
    })
}

/// Takes a loan back. The boathouse keeps the loan of a boat that has left.
fn compensate(_: Wish, done: Lent, key: &str) -> Result<Output<()>, Error> {
    let answer = request("DELETE", key)?.send()?;
    match answer.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("loan", key, "delete").external_ref(done.loan))),
        404 | 410 => Err(Error::policy_denied(format!("loan {} does not exist any more", done.loan))),
        409 | 412 => Err(Error::policy_denied(format!("{} has left the boathouse", done.boat))),
        _ => Err(refused(&answer)),
    }
}

/// Returns the loan of a key, if the boathouse has one.
fn find(key: &str) -> Result<Option<Loan>, Error> {
    let answer = request("GET", key)?.send()?;
    if answer.status() != 200 {
        return Err(refused(&answer));
    }
    Ok(read::<Vec<Loan>>(&answer)?.into_iter().next())
}

fn read<T: DeserializeOwned>(answer: &Response) -> Result<T, Error> {
    serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("the answer cannot be read: {error}")))
}

fn lent(loan: String, wish: &Wish, key: &str) -> Output<Lent> {
    let change = Change::new("loan", key, "create").external_ref(&loan);
    Output::new(Lent { loan, boat: wish.boat.clone(), hours: wish.hours }).change(change)
}

fn refused(answer: &Response) -> Error {
    let said = format!("the boathouse answered {}", answer.status());
    match answer.status() {
        401 | 403 => Error::auth_forbidden(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        429 => Error::rate_limit(said),
        _ => Error::temporary_provider_error(said),
    }
}

/// Prepares a request about the loan of a key, with the login of the desk.
fn request(method: &str, key: &str) -> Result<Request, Error> {
    let login = base64(format!("desk:{}", secrets::get("BOATHOUSE_PASSWORD")?).as_bytes());
    Ok(Request::new(method, &format!("{LOANS}?ref={key}"))
        .header("authorization", &format!("Basic {login}"))
        .header("content-type", "application/json"))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (24 - 8 * group.len());
        for i in 0..=group.len() {
            text.push(char::from(DIGITS[bits >> (18 - 6 * i) & 63]));
        }
        text.push_str(&"=="[group.len() - 1..]);
    }
    text
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Rowboat.Lend", lend)
            .describe("Lends a rowboat of the boathouse to a member.")
            .effects([Effect::ExternalWrite])
            .settles_within(BOOKING)
            .reconcile(reconcile)
            .compensate(compensate),
    ],
    exports: [reconcile, compensate],
}
