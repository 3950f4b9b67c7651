//! Leaves notices for the warehouse: which order will be picked up, and until when.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ORDER_MAX: usize = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pickup {
    /// Number of the order.
    order: String,
    /// End of the pickup, in seconds since 1970.
    until: i64,
    /// Remark for the warehouse.
    #[serde(default)]
    remark: String,
}

#[derive(Serialize, JsonSchema)]
struct Notice {
    file: String,
}

/// Path of the notice of a call. The external key has no dot.
fn file(key: &str) -> String {
    format!("/notices/{}.json", key.replace([':', '/'], "."))
}

fn announce(pickup: Pickup, context: &tool::Context) -> Result<Output<Notice>, Error> {
    if pickup.order.is_empty() || pickup.order.len() > ORDER_MAX {
        return Err(Error::invalid_input(format!("an order has 1 to {ORDER_MAX} characters")));
    }
    if pickup.until <= wall::now().seconds {
        return Err(Error::invalid_input(format!("the pickup of {} has ended already", pickup.order)));
    }
    // A repetition writes the same notice again: its name and its content follow from the call alone.
    let key = context.external_key();
    let file = file(key);
    let notice = json!({ "order": pickup.order, "until": pickup.until, "remark": pickup.remark }).to_string();
    fs::replace(&file, notice.as_bytes(), key)?;
    Ok(Output::new(Notice { file: file.clone() })
        .receipt(json!({ "notice": file }))
        .change(Change::new("notice", key, "create").external_ref(file)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pickup.Announce", announce)
            .describe("Leaves a notice of a pickup in the folder of the warehouse.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(2 * 86_400)),
    ],
}
