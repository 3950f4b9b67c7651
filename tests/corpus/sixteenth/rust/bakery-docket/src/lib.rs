//! `Docket.File`: files the docket of a bakery order in the folder of its day, for the night shift.

use std::collections::BTreeMap;
use std::time::Duration;

use latchwork_guest::tool::{Change, Output};
use latchwork_guest::{Effect, Error, config, fs, log, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Time for which the bakery keeps its dockets.
const KEPT: Duration = Duration::from_secs(14 * 86_400);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    customer: String,
    /// Number of loaves by kind of bread.
    loaves: BTreeMap<String, u32>,
    /// Time of the pickup, such as `06:30`.
    pickup: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filed {
    /// Path of the docket.
    path: String,
    /// Number of all loaves.
    loaves: u64,
}

fn file(order: Order, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if order.customer.trim().is_empty() {
        return Err(Error::invalid_input("customer: empty"));
    }
    let loaves: u64 = order.loaves.values().map(|count| u64::from(*count)).sum();
    if loaves == 0 {
        return Err(Error::invalid_input(format!("{} orders no loaf", order.customer)));
    }
    if !is_time(&order.pickup) {
        return Err(Error::invalid_input(format!("{} is no time such as 06:30", order.pickup)));
    }

    let key = context.external_key();
    let docket = json!({
        "order": key,
        "customer": order.customer,
        "loaves": order.loaves,
        "pickup": order.pickup,
    });
    let folder = folder_of_today()?;
    fs::create_dir(&folder).map_err(|error| Error::from(error).not_applied())?;
    // The night shift finds a docket by the key of its call.
    let path = format!("{folder}/{}.json", key.replace([':', '/'], "."));
    fs::replace(&path, docket.to_string().as_bytes(), key)?;
    log::info!("{loaves} loaves for {} at {}", order.customer, order.pickup);
    let change = Change::new("docket", key, "create").external_ref(&path);
    Ok(Output::new(Filed { path, loaves }).change(change))
}

/// Returns the folder of today's dockets, below the config key `folder`, by default `/dockets`.
fn folder_of_today() -> Result<String, Error> {
    let root: Option<String> = config::get("folder")?;
    let root = root.unwrap_or_else(|| "/dockets".into());
    let (year, month, day) = wall::now().date();
    Ok(format!("{}/{year:04}-{month:02}-{day:02}", root.trim_end_matches('/')))
}

/// Returns true for hours and minutes with two digits each.
fn is_time(text: &str) -> bool {
    let Some((hours, minutes)) = text.split_once(':') else {
        return false;
    };
    let below = |text: &str, bound: u32| {
        text.len() == 2 && text.bytes().all(|c| c.is_ascii_digit()) && text.parse::<u32>().is_ok_and(|n| n < bound)
    };
    below(hours, 24) && below(minutes, 60)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Docket.File", file)
            .describe("Files the docket of a bakery order, once for each external key.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(KEPT),
    ],
}
