//! Makes a digest of the alerts of several sites. A site that does not answer has the beginning of its failure in the
//! digest, because failures have long texts with addresses at their end.

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Length of a line of the digest.
const WIDTH: usize = 24;

#[derive(Deserialize, JsonSchema)]
struct Sites {
    sites: Vec<String>,
}

#[derive(Deserialize)]
struct Alerts {
    open: u32,
}

#[derive(Serialize, JsonSchema)]
struct Digest {
    lines: Vec<String>,
}

fn digest(input: Sites, _: &step::Context) -> Result<Digest, Error> {
    if input.sites.is_empty() {
        return Err(Error::invalid_input("no site is given"));
    }
    let calls = input.sites.iter().map(|site| tools::Call::new("Site.Alerts", &json!({ "site": site })));
    let answers: Vec<Result<Alerts, Error>> = tools::call_all(calls.collect::<Vec<_>>());
    let lines = input
        .sites
        .iter()
        .zip(answers)
        .map(|(site, answer)| match answer {
            Ok(alerts) => format!("{site}: {} open", alerts.open),
            Err(error) => format!("{site}: {}", &error.message()[..WIDTH]),
        })
        .collect();
    Ok(Digest { lines })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Alert.Digest", digest)
            .describe("Makes a digest of the alerts of several sites.")
            .determinism(Determinism::External),
    ],
}
