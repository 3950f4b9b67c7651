//! Lends a specimen. The register lists a loan under its `ref` as soon as it has answered, and drops a request that it
//! could not begin within 10 s. It answers 409 if the specimen is on loan already. A new loan has the revision 1, and every
//! change of the loan raises the revision. A `ref` is never used again.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    specimen: String,
    borrower: String,
    days: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Loan {
    id: String,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    revision: u32,
}

fn place(key: &str) -> String {
    format!("https://herbarium.example/loans?ref={key}")
}

fn lent(id: String, key: &str) -> Output<Loan> {
    let change = Change::new("loan", &id, "create").version("1").external_ref(place(key));
    Output::new(Loan { id }).change(change)
}

fn refused(status: u16) -> Error {
    match status {
        401 | 403 => Error::auth_forbidden("the register refused the credentials"),
        429 => Error::rate_limit("the register asks for fewer requests"),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(format!("the register answered {status}")),
        _ => Error::temporary_provider_error(format!("the register answered {status}")),
    }
}

fn read<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::schema_validation_failed(format!("answer of the register: {error}")))
}

/// Reads the loan at this address.
fn find(url: &str) -> Result<Option<Entry>, Error> {
    let answer = Request::get(url).send()?;
    if answer.status() != 200 {
        return Err(refused(answer.status()));
    }
    Ok(read::<Vec<Entry>>(answer.body())?.into_iter().next())
}

fn lend(wish: Wish, context: &tool::Context) -> Result<Output<Loan>, Error> {
    if wish.specimen.trim().is_empty() || !(1..=365).contains(&wish.days) {
        return Err(Error::invalid_input("a loan has a specimen and takes 1 to 365 days"));
    }
    let key = context.external_key();
    let body = json!({ "specimen": wish.specimen, "borrower": wish.borrower, "days": wish.days }).to_string();
    let answer = Request::post(&place(key)).header("content-type", "application/json").body(body).send()?;
    match answer.status() {
        200..=299 => Ok(lent(read::<Loan>(answer.body())?.id, key)),
        // An earlier try of this call may have arrived late. Otherwise another borrower has the specimen.
        409 => match find(&place(key)).map_err(Error::applied_unknown)? {
            Some(entry) => Ok(lent(entry.id, key)),
            None => Err(Error::policy_denied("another borrower has the specimen")),
        },
        status => Err(refused(status)),
    }
}

fn ask(_: Wish, key: &str) -> Result<Verdict<Output<Loan>>, Error> {
    Ok(find(&place(key))?.map_or(Verdict::DidNotHappen, |entry| Verdict::Happened(lent(entry.id, key))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(change.external_ref.as_deref().unwrap_or_default())? {
        Some(entry) if entry.id == change.resource_id => {
            Finding::compare(change.version.as_deref(), &entry.revision.to_string())
        }
        _ => Finding::Mismatch("the loan is no longer in the register".into()),
    })
}

fn withdraw(_: Wish, loan: Loan, key: &str) -> Result<Output<()>, Error> {
    match find(&place(key)).map_err(Error::not_applied)? {
        Some(entry) if entry.id == loan.id && entry.revision == 1 => {}
        Some(_) => return Err(Error::policy_denied("the loan was changed since")),
        None => return Err(Error::policy_denied("the loan is no longer in the register")),
    }
    let answer = Request::new("DELETE", &place(key)).header("if-match", "\"1\"").send()?;
    match answer.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("loan", &loan.id, "delete"))),
        404 | 409 | 410 | 412 => Err(Error::policy_denied("the loan was changed or withdrawn meanwhile")),
        status => Err(refused(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Specimen.Lend", lend)
            .describe("Lends a specimen of the herbarium.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(15))
            .reconcile(ask)
            .verify(verify)
            .compensate(withdraw),
    ],
    exports: [reconcile, verify, compensate],
}
