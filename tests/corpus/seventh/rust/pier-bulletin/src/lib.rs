//! Writes the bulletin for the display at a pier from several feeds.

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Deserialize, JsonSchema)]
struct Pier {
    pier: String,
    /// Feeds of the display, such as `tides` and `wind`.
    feeds: Vec<String>,
}

/// Text of the display: the fields of all feeds, side by side.
#[derive(Serialize, JsonSchema)]
struct Bulletin {
    pier: String,
    /// Number of feeds that answered.
    answered: usize,
    /// Line at the bottom of the display.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// The fields that take the place of a feed without an answer.
fn stand_in(feed: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert(feed.to_owned(), Value::Null);
    fields.insert("notice".to_owned(), json!(format!("{feed}: ask the harbour office")));
    fields
}

fn write(pier: Pier, _: &step::Context) -> Result<Bulletin, Error> {
    if pier.feeds.is_empty() {
        return Err(Error::invalid_input("a bulletin needs at least one feed"));
    }
    let mut fields = Map::new();
    let mut answered = 0;
    for feed in &pier.feeds {
        match tools::call::<_, Value>("Feed.Read", &json!({ "feed": feed, "pier": pier.pier })) {
            Ok(value) => {
                answered += 1;
                fields.insert(feed.clone(), value);
            }
            Err(error) => {
                log::warn!("{feed}: {}", error.message());
                fields.extend(stand_in(feed));
            }
        }
    }
    let missing = pier.feeds.len() - answered;
    let notice = (missing > 0).then(|| format!("{missing} of {} feeds are missing", pier.feeds.len()));
    Ok(Bulletin { pier: pier.pier, answered, notice, fields })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Bulletin.Write", write)
            .describe("Writes the bulletin of a pier.")
            .determinism(Determinism::External)
            .outcome("Bulletin.Draft", "draft"),
    ],
}
