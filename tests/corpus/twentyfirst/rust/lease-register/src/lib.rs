use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const LEASES: &str = "https://leases.example/v1/lease";

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Lease {
    flat: String,
    tenant: String,
    #[schemars(range(min = 1, max = 9_999_999))]
    rent_cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Entered {
    /// Reference of the lease in the register.
    reference: String,
}

/// Returns the address of a lease. Keys have no character that a query encodes.
fn address(key: &str) -> String {
    format!("{LEASES}?reference={key}")
}

fn enter(lease: Lease, context: &tool::Context) -> Result<Output<Entered>, Error> {
    if lease.flat.trim().is_empty() || lease.tenant.trim().is_empty() {
        return Err(Error::invalid_input("a lease names the flat and the tenant"));
    }
    let key = context.external_key();
    let response = Request::new("PUT", &address(key))
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .body(text(&lease))
        .send()?;
    let said = format!("the register answered with status {}", response.status());
    match response.status() {
        200..=299 => Ok(entered(&lease, key)),
        // The address has the key of this call, so only an earlier try can have made the entry.
        409 | 412 => match find(key).map_err(Error::applied_unknown)? {
            Some(_) => Ok(entered(&lease, key)),
            None => Err(Error::temporary_provider_error(said).applied_unknown()),
        },
        401 | 403 => Err(Error::auth_forbidden(said)),
        429 => Err(Error::rate_limit(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

fn reconcile(lease: Lease, key: &str) -> Result<Verdict<Output<Entered>>, Error> {
    Ok(match Request::get(&address(key)).send()?.status() {
        200 => Verdict::Happened(entered(&lease, key)),
        404 => Verdict::DidNotHappen,
        _ => Verdict::Unknown,
    })
}

/// Compares the lease in the register with the entered one.
fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(&change.resource_id)? {
        Some((lease, _)) => Finding::compare(change.version.as_deref(), &text(&lease)),
        None => Finding::Mismatch("the lease is not in the register".into()),
    })
}

/// Removes the lease, unless it was changed since.
fn remove(lease: Lease, _: Entered, key: &str) -> Result<Output<()>, Error> {
    let found = find(key).map_err(Error::not_applied)?;
    let Some((_, Some(tag))) = found.filter(|(present, _)| *present == lease) else {
        return Err(Error::policy_denied("the lease was changed or removed since"));
    };
    let response = Request::new("DELETE", &address(key)).header("if-match", &tag).send()?;
    match response.status() {
        200..=299 => Ok(Output::new(()).change(Change::new("lease", key, "delete"))),
        429 => Err(Error::rate_limit("the removal was refused for its rate")),
        400 | 401 | 403..=405 | 409 | 410 | 412 | 413 | 415 | 422 => Err(Error::policy_denied("the lease was kept")),
        status => Err(Error::temporary_provider_error(format!("the removal: status {status}"))),
    }
}

/// Returns the lease with its entity tag, or `None` if it is not or no longer in the register.
fn find(key: &str) -> Result<Option<(Lease, Option<String>)>, Error> {
    let response = Request::get(&address(key)).send()?;
    match response.status() {
        200 => serde_json::from_slice(response.body())
            .map(|lease| Some((lease, response.header("etag").map(str::to_owned))))
            .map_err(|error| Error::schema_validation_failed(format!("unexpected lease: {error}"))),
        404 | 410 => Ok(None),
        status => Err(Error::dependency_unavailable(format!("the lease could not be read: status {status}"))),
    }
}

fn text(lease: &Lease) -> String {
    serde_json::json!(lease).to_string()
}

fn entered(lease: &Lease, key: &str) -> Output<Entered> {
    Output::new(Entered { reference: key.to_owned() })
        .change(Change::new("lease", key, "create").version(text(lease)).external_ref(address(key)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Lease.Enter", enter)
            .describe("Enters the lease of a flat in the register.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(remove),
    ],
    exports: [reconcile, verify, compensate],
}
