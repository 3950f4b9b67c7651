//! `Appeal.Progress`: sums the gifts of an appeal for a new roof, for the board at the church door.

use std::collections::BTreeSet;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Appeal {
    /// Sum that the roof costs.
    goal_cents: u32,
    /// All gifts since the start of the appeal.
    gifts: Vec<Gift>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Gift {
    giver: String,
    cents: u32,
    /// True if the giver got the money back.
    #[serde(default)]
    returned: bool,
    /// True if the giver wants no mention on the board.
    #[serde(default)]
    quiet: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Board {
    raised_cents: u64,
    /// Sum that is still missing.
    missing_cents: u64,
    /// Part of the goal that is reached, for the painted thermometer.
    #[schemars(range(min = 0, max = 100))]
    percent: u64,
    /// Names of the givers, each once.
    thanks: Vec<String>,
    /// Text of the board.
    line: String,
}

/// Writes an amount such as `1250.50`.
fn amount(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn progress(appeal: Appeal, _: &step::Context) -> Result<Board, Error> {
    if appeal.goal_cents == 0 {
        return Err(Error::invalid_input("the appeal has no goal"));
    }
    let goal = u64::from(appeal.goal_cents);
    let kept: Vec<&Gift> = appeal.gifts.iter().filter(|gift| !gift.returned).collect();
    let raised_cents: u64 = kept.iter().map(|gift| u64::from(gift.cents)).sum();
    let missing_cents = goal.saturating_sub(raised_cents);
    let percent = raised_cents * 100 / goal;
    let thanks: BTreeSet<&str> = kept.iter().filter(|gift| !gift.quiet).map(|gift| gift.giver.trim()).collect();
    let line = match missing_cents {
        0 => format!("The roof is paid. Thank you for {}!", amount(raised_cents)),
        missing => format!("{} given, {} to go.", amount(raised_cents), amount(missing)),
    };
    Ok(Board {
        raised_cents,
        missing_cents,
        percent,
        thanks: thanks.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        line,
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Appeal.Progress", progress)
            .describe("Sums the gifts of an appeal for the board at the door.")
            .outcome("Text.Board", "draft"),
    ],
}
