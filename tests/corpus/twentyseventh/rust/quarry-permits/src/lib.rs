//! Blasting permits of the county's permit register.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const REGISTER: &str = "https://permits.example/v1/blasts";
/// The register has at most some hundred permits of a quarry, in pages of 50.
const PAGES_MAX: usize = 20;

#[derive(Deserialize, JsonSchema)]
struct Blast {
    quarry: String,
    /// Day of the blast: `2026-01-12`.
    day: String,
    charge_kg: u32,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Permit {
    id: String,
    officer: String,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Permit>,
    /// Address of the following page.
    next: Option<String>,
}

fn page(url: &str) -> Result<Page, Error> {
    let answer = Request::get(url).send().map_err(|error| Error::from(error).not_applied())?;
    if answer.status() != 200 {
        return Err(Error::dependency_unavailable(format!("the register answered {}", answer.status())).not_applied());
    }
    serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("page of the register: {error}")).not_applied())
}

/// Looks a permit up by its reference. A reference has one permit at most, so there is nothing to page through.
fn by_reference(key: &str) -> Result<Option<Permit>, Error> {
    let found = page(&format!("{REGISTER}?reference={key}"))?;
    Ok(found.items.into_iter().next())
}

fn granted(permit: Permit) -> Output<Permit> {
    let change = Change::new("permit", &permit.id, "create").external_ref(format!("{REGISTER}/{}", permit.id));
    Output::new(permit.clone()).receipt(json!({ "permit": permit.id })).change(change)
}

fn refused(answer: &Response) -> Error {
    let text = format!("the register answered {}: {}", answer.status(), answer.text());
    match answer.status() {
        429 => Error::rate_limit(text),
        401 | 403 => Error::auth_forbidden(text),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(text),
        _ => Error::temporary_provider_error(text).applied_unknown(),
    }
}

fn register(blast: Blast, context: &tool::Context) -> Result<Output<Permit>, Error> {
    if blast.quarry.trim().is_empty() || !(1..=5_000).contains(&blast.charge_kg) {
        return Err(Error::invalid_input("a blast has a quarry, and a charge of 1 to 5000 kg"));
    }
    let key = context.external_key();
    let body = json!({ "reference": key, "quarry": blast.quarry, "day": blast.day, "charge_kg": blast.charge_kg });
    let answer = Request::post(REGISTER)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(15))
        .send()?;
    match answer.status() {
        200..=299 => serde_json::from_slice(answer.body()).map(granted).map_err(|error| {
            Error::schema_validation_failed(format!("answer of the register: {error}")).applied_unknown()
        }),
        // The reference is in use: an earlier try of this call, or a permit that was entered by hand.
        409 | 412 => match by_reference(key).map_err(Error::applied_unknown)? {
            Some(permit) => Ok(granted(permit)),
            None => Err(refused(&answer).applied_unknown()),
        },
        _ => Err(refused(&answer)),
    }
}

fn reconcile(_: Blast, key: &str) -> Result<Verdict<Output<Permit>>, Error> {
    Ok(match by_reference(key)? {
        Some(permit) => Verdict::Happened(granted(permit)),
        None => Verdict::DidNotHappen,
    })
}

#[derive(Deserialize, JsonSchema)]
struct Quarry {
    quarry: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Permits {
    permits: Vec<Permit>,
}

fn list(quarry: Quarry, _: &tool::Context) -> Result<Output<Permits>, Error> {
    if quarry.quarry.is_empty() || !quarry.quarry.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Err(Error::invalid_input("name the quarry by its code, such as LANG-2"));
    }
    let (mut permits, mut url) = (Vec::new(), format!("{REGISTER}?quarry={}", quarry.quarry));
    for _ in 0..PAGES_MAX {
        let found = page(&url)?;
        permits.extend(found.items);
        match found.next {
            Some(next) => url = next,
            None => return Ok(Output::new(Permits { permits })),
        }
    }
    Err(Error::dependency_unavailable("the register has more pages than a quarry can have").not_applied())
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Blast.Register", register)
            .describe("Asks the permit register for the permit of a blast.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
        tool::operator("Blast.List", list).describe("Lists the permits of a quarry."),
    ],
    exports: [reconcile],
}
