//! `Royalty.Split`: what the authors of an anthology get, from the sales of the single stories.

use std::collections::HashMap;

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Period {
    /// Part of the income that the authors get, in percent.
    #[schemars(range(min = 1, max = 100))]
    percent: f64,
    #[schemars(length(min = 1, max = 2000))]
    sales: Vec<Sale>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sale {
    #[schemars(length(min = 1, max = 80))]
    author: String,
    /// Income in euro.
    #[schemars(range(min = 0, max = 100000))]
    income: f64,
}

#[derive(Serialize, JsonSchema)]
struct Statement {
    income: f64,
    paid_out: f64,
    shares: Vec<Share>,
}

#[derive(Serialize, JsonSchema)]
struct Share {
    author: String,
    euro: f64,
    /// Part of the whole income, from 0 to 1.
    part: f64,
}

fn split(period: Period, _: &step::Context) -> Result<Statement, Error> {
    let mut by_author: HashMap<String, f64> = HashMap::new();
    for sale in period.sales {
        *by_author.entry(sale.author).or_default() += sale.income;
    }
    let income: f64 = by_author.values().sum();
    if income <= 0.0 {
        return Err(Error::invalid_input("nothing was sold"));
    }
    log::info!("{} authors share {income:.2} euro", by_author.len());

    let mut shares: Vec<Share> = by_author
        .into_iter()
        .map(|(author, own)| Share { author, euro: cents(own * period.percent / 100.0), part: own / income })
        .collect();
    // The order of the map is arbitrary.
    shares.sort_by(|a, b| b.euro.total_cmp(&a.euro).then_with(|| a.author.cmp(&b.author)));
    let paid_out = cents(shares.iter().map(|share| share.euro).sum());
    Ok(Statement { income, paid_out, shares })
}

fn cents(euro: f64) -> f64 {
    (euro * 100.0).round() / 100.0
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Royalty.Split", split).describe("Splits the income of an anthology between its authors."),
    ],
}
