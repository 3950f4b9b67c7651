use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seconds since 1970, set by `build.rs`.
const BUILT_AT: &str = env!("BUILT_AT");

#[derive(Deserialize, JsonSchema)]
struct Minutes {
    title: String,
    points: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Page {
    text: String,
    generator: String,
}

fn format_minutes(minutes: Minutes, _: &step::Context) -> Result<Page, Error> {
    let mut text = format!("# {}\n", minutes.title);
    for (number, point) in minutes.points.iter().enumerate() {
        text.push_str(&format!("\n{}. {point}", number + 1));
    }
    Ok(Page { text, generator: format!("minutes {} ({BUILT_AT})", env!("CARGO_PKG_VERSION")) })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Minutes.Format", format_minutes)
            .describe("Formats the minutes of a meeting.")
            .determinism(Determinism::Pure),
    ],
}
