//! Registers water samples of a municipal laboratory.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, config, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sample {
    /// Place where the sample was taken.
    #[schemars(length(min = 1, max = 120))]
    place: String,
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    taken_on: String,
    #[schemars(range(min = 10, max = 20_000))]
    millilitres: u32,
    /// Substances that are measured.
    #[schemars(length(min = 1, max = 40), inner(length(min = 1, max = 60)))]
    substances: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Registered {
    card: String,
    /// Volume that each measurement may use.
    portion_millilitres: u32,
}

/// Path of the card of a call. A key has neither a dot nor a plus.
fn card(key: &str) -> String {
    format!("/cards/{}.json", key.replace(':', ".").replace('/', "+"))
}

fn content(sample: &Sample) -> Result<String, Error> {
    serde_json::to_string(sample).map_err(|error| Error::invalid_input(format!("the sample is not JSON: {error}")))
}

/// The answer of a call whose card exists.
fn registered(sample: &Sample, key: &str) -> Result<Output<Registered>, Error> {
    // A part of each sample is kept for a second opinion.
    let reserve: u32 = config::get("reserve_millilitres")?.unwrap_or(0);
    let measurements = sample.substances.len() as u32;
    let portion_millilitres = sample.millilitres.saturating_sub(reserve) / measurements;
    let change = Change::new("card", key, "create").external_ref(card(key));
    Ok(Output::new(Registered { card: card(key), portion_millilitres }).change(change))
}

fn register(sample: Sample, context: &tool::Context) -> Result<Output<Registered>, Error> {
    if sample.substances.iter().any(|substance| substance.trim().is_empty()) {
        return Err(Error::invalid_input("a substance has no name"));
    }
    let key = context.external_key();
    fs::replace(&card(key), content(&sample)?.as_bytes(), key)?;
    registered(&sample, key)
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let Some(card) = change.external_ref.as_deref() else {
        return Err(Error::missing_required_context("the change names no card"));
    };
    Ok(if fs::exists(card)? { Finding::Confirmed } else { Finding::Mismatch(format!("{card} is missing")) })
}

fn withdraw(sample: Sample, registered: Registered, key: &str) -> Result<Output<()>, Error> {
    match fs::read(&registered.card) {
        Ok(found) if found == content(&sample)?.as_bytes() => fs::remove(&registered.card)?,
        Ok(_) => return Err(Error::policy_denied("the card has results already")),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied("the card is not in its folder"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Output::new(()).change(Change::new("card", key, "delete").external_ref(registered.card)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sample.Register", register)
            .describe("Registers a water sample and divides it among the measurements.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(withdraw),
    ],
    exports: [verify, compensate],
}
