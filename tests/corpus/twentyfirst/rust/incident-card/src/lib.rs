use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest title of a card, in characters.
const TITLE_CHARS: usize = 80;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Alert {
    /// Name of the service.
    service: String,
    /// One sentence about the failure.
    summary: String,
    /// Requests that failed in the last five minutes.
    failed: u32,
    /// All requests of the last five minutes.
    total: u32,
    /// Labels of the monitoring, such as region and cluster.
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
struct Card {
    title: String,
    severity: String,
    /// Failed requests in hundredths of a percent.
    failed_share: u32,
    /// The labels are columns of the incident board, beside the fields above.
    #[serde(flatten)]
    labels: BTreeMap<String, String>,
}

fn write(alert: Alert, _: &step::Context) -> Result<Card, Error> {
    let service = alert.service.trim();
    if service.is_empty() {
        return Err(Error::invalid_input("the service has no name"));
    }
    if alert.failed > alert.total {
        return Err(Error::invalid_input("more requests failed than were made"));
    }
    if let Some(name) = alert.labels.keys().find(|name| !is_label(name)) {
        return Err(Error::invalid_input(format!("the label {name:?} has to be in lower case")));
    }
    let failed_share = share(alert.failed, alert.total);
    Ok(Card {
        title: title(service, &alert.summary),
        severity: severity(failed_share).to_owned(),
        failed_share,
        labels: alert.labels.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
    })
}

/// Label names have lower-case letters, digits and underscores, and begin with a letter.
fn is_label(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns hundredths of a percent. Without requests nothing has failed.
fn share(failed: u32, total: u32) -> u32 {
    match u64::from(failed).saturating_mul(10_000).checked_div(u64::from(total)) {
        Some(share) => u32::try_from(share).unwrap_or(10_000),
        None => 0,
    }
}

fn severity(share: u32) -> &'static str {
    match share {
        5_000.. => "critical",
        500.. => "major",
        1.. => "minor",
        0 => "info",
    }
}

fn title(service: &str, summary: &str) -> String {
    let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    let full = if summary.is_empty() { service.to_owned() } else { format!("{service}: {summary}") };
    if full.chars().count() <= TITLE_CHARS {
        return full;
    }
    let mut short: String = full.chars().take(TITLE_CHARS - 1).collect();
    short.push('…');
    short
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Incident.Card", write)
            .describe("Writes the card of an incident from an alert of the monitoring.")
            .outcome("Summary.Incident", "draft"),
    ],
}
