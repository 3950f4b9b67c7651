//! Keeps the prices that the electronic shelf labels of a shop show.

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, kv, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Label {
    /// Number of the article.
    #[schemars(regex(pattern = r"^[A-Z0-9]{3,12}(-[A-Z0-9]{1,6})?$"))]
    article: String,
    #[schemars(range(min = 1, max = 10_000_000))]
    price_cents: u32,
    /// Price of the competitor that the new price follows, if there is one.
    #[schemars(range(min = 1, max = 10_000_000))]
    follows_cents: Option<u32>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    article: String,
    price_cents: u32,
    /// Price before the call. Missing if the label was empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_cents: Option<u32>,
}

fn entry(article: &str) -> String {
    format!("label:{article}")
}

/// Reads the price on a label.
fn read(article: &str) -> Result<Option<u32>, Error> {
    let Some(bytes) = kv::get(&entry(article))? else { return Ok(None) };
    let price = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
    match price {
        Some(price) => Ok(Some(price)),
        None => Err(Error::schema_validation_failed(format!("the label of {article} has no price")).not_applied()),
    }
}

fn show(label: Label, context: &tool::Context) -> Result<Output<Shown>, Error> {
    if label.follows_cents.is_some_and(|other| label.price_cents < other / 2) {
        return Err(Error::invalid_input("the price is less than half of the price that it follows"));
    }
    // The earlier price goes into the result, so that the call can be undone.
    let earlier_cents = read(&label.article)?;
    if let Some(earlier) = earlier_cents {
        log::info!("{}: {earlier} becomes {} in {}", label.article, label.price_cents, context.slot());
    }
    kv::set(&entry(&label.article), label.price_cents.to_string().as_bytes())?;
    let change = Change::new("label", &label.article, "update").version(label.price_cents.to_string());
    Ok(Output::new(Shown { article: label.article, price_cents: label.price_cents, earlier_cents }).change(change))
}

/// Puts the earlier price back. A label that was empty becomes empty again.
fn restore(_: Label, shown: Shown, _key: &str) -> Result<Output<()>, Error> {
    let name = entry(&shown.article);
    let change = match shown.earlier_cents {
        Some(earlier) => {
            kv::set(&name, earlier.to_string().as_bytes())?;
            Change::new("label", &shown.article, "update").version(earlier.to_string())
        }
        None => {
            if !kv::delete(&name)? {
                return Err(Error::policy_denied(format!("the label of {} is empty already", shown.article)));
            }
            Change::new("label", &shown.article, "delete")
        }
    };
    Ok(Output::new(()).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Label.Show", show)
            .describe("Sets the price that a shelf label shows.")
            .effects([Effect::InternalWrite])
            .compensate(restore),
    ],
    exports: [compensate],
}
