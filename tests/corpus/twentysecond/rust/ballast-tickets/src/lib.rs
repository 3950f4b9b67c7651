//! Files the delivery ticket of a truck that leaves the gravel pit. The office reads the folder of a day in the evening.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, config, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Load {
    /// Licence plate of the truck.
    #[schemars(length(min = 2, max = 16))]
    truck: String,
    /// Grain of the ballast in millimetres, such as `16/32`.
    #[schemars(regex(pattern = r"^[0-9]{1,3}/[0-9]{1,3}$"))]
    grain: String,
    /// Weight of the full and of the empty truck in kilograms.
    #[schemars(range(min = 3_000, max = 60_000))]
    full: u32,
    #[schemars(range(min = 3_000, max = 30_000))]
    empty: u32,
    #[schemars(length(max = 200))]
    customer: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ticket {
    file: String,
    net: u32,
}

/// Text of the ticket. It follows from the load alone, so that a repetition writes the same bytes.
fn text(load: &Load, net: u32) -> String {
    let customer = load.customer.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or("cash sale");
    json!({ "truck": load.truck, "grain": load.grain, "full": load.full, "net": net, "customer": customer }).to_string()
}

fn net(load: &Load) -> Result<u32, Error> {
    match load.full.checked_sub(load.empty) {
        Some(net) if net > 0 => Ok(net),
        _ => Err(Error::invalid_input("the empty truck is heavier than the full one")),
    }
}

/// Name of the file of a call. A key has no dot, so two calls never have one file.
fn name(key: &str) -> String {
    format!("{}.json", key.replace(':', ".").replace('/', ".."))
}

fn file(load: Load, context: &tool::Context) -> Result<Output<Ticket>, Error> {
    let net = net(&load)?;
    let most = config::get("most_kilograms")?.unwrap_or(40_000);
    if load.full > most {
        return Err(Error::policy_denied(format!("{} kg is more than the {most} kg of the road", load.full)));
    }

    let key = context.external_key();
    let day = wall::now().to_string()[..10].to_owned();
    let folder = format!("/tickets/{day}");
    fs::create_dir(&folder)?;
    let path = format!("{folder}/{}", name(key));
    fs::replace(&path, text(&load, net).as_bytes(), key)?;
    let change = Change::new("ticket", key, "create").version(net.to_string()).external_ref(path.as_str());
    Ok(Output::new(Ticket { file: path, net }).receipt(json!({ "ticket": key })).change(change))
}

/// The ticket is in place if its file is there and has the recorded net weight.
fn verify(change: &Change) -> Result<Finding, Error> {
    let path = change.external_ref.as_deref().unwrap_or_default();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Ok(Finding::Mismatch("the ticket is not in its folder".into()));
        }
        Err(error) => return Err(error.into()),
    };
    let found = serde_json::from_str::<serde_json::Value>(&text).map(|ticket| ticket["net"].to_string());
    Ok(Finding::compare(change.version.as_deref(), found.as_deref().unwrap_or("no ticket")))
}

/// Takes the ticket out of its folder, unless the office has corrected it.
fn take_out(load: Load, ticket: Ticket, key: &str) -> Result<Output<()>, Error> {
    if fs::read(&ticket.file)? != text(&load, ticket.net).as_bytes() {
        return Err(Error::policy_denied("the ticket was corrected after it was filed"));
    }
    fs::remove(&ticket.file)?;
    Ok(Output::new(()).change(Change::new("ticket", key, "delete").external_ref(ticket.file)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Ballast.File", file)
            .describe("Files the delivery ticket of a truck with ballast.")
            .effects([Effect::InternalWrite])
            // The file has the name of the call, so a repetition replaces it by the same file.
            .idempotent_by_key(Duration::from_secs(3 * 86_400))
            .verify(verify)
            .compensate(take_out),
    ],
    exports: [verify, compensate],
}
