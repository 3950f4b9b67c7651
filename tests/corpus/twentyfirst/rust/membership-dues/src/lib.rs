use std::collections::BTreeSet;

use latchwork_guest::tools::{self, Call};
use latchwork_guest::{Determinism, Effect, Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    /// Short name of the club.
    club: String,
    /// The quarter, such as `2026-Q1`.
    period: String,
    #[schemars(length(max = 1000))]
    members: Vec<Member>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    fee: Fee,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Fee {
    Junior,
    Full,
    /// Honorary members pay nothing.
    Honorary,
}

impl Fee {
    fn cents(self) -> Option<u32> {
        match self {
            Fee::Junior => Some(1_500),
            Fee::Full => Some(4_200),
            Fee::Honorary => None,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Collected {
    charged: usize,
    exempt: usize,
    cents: u32,
    /// Members whose charge failed, in the order of the input.
    failed: Vec<Failed>,
}

#[derive(Serialize, JsonSchema)]
struct Failed {
    member: String,
    reason: String,
}

fn collect(round: Round, _: &step::Context) -> Result<Collected, Error> {
    let (year, quarter) = parse(&round.period)
        .ok_or_else(|| Error::invalid_input(format!("{:?} is no quarter such as 2026-Q1", round.period)))?;
    let mut ids = BTreeSet::new();
    if let Some(twice) = round.members.iter().find(|member| !ids.insert(member.id.as_str())) {
        return Err(Error::invalid_input(format!("member {} is in the list twice", twice.id)));
    }
    let due: Vec<(&str, u32)> =
        round.members.iter().filter_map(|member| Some((member.id.as_str(), member.fee.cents()?))).collect();
    let calls = due.iter().map(|(id, cents)| {
        // One charge for each member of a club and quarter, also if the round is started twice.
        let key = json!(["dues", round.club, id, quarter]);
        let text = format!("Dues of {}, quarter {quarter} of {year}", round.club);
        Call::new("Account.Charge", &json!({ "member": id, "cents": cents, "text": text })).action_key(key.to_string())
    });
    let answers = tools::call_all::<Value>(calls);

    let mut collected = Collected { charged: 0, exempt: round.members.len() - due.len(), cents: 0, failed: Vec::new() };
    for ((id, cents), answer) in due.into_iter().zip(answers) {
        match answer {
            Ok(_) => {
                collected.charged += 1;
                collected.cents += cents;
            }
            Err(error) => {
                log::warn!("charge of {id}: {error}");
                collected.failed.push(Failed { member: id.to_owned(), reason: error.message().to_owned() });
            }
        }
    }
    Ok(collected)
}

/// Returns the year and the number of the quarter.
fn parse(period: &str) -> Option<(u16, u8)> {
    let (year, quarter) = period.split_once("-Q")?;
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(year, 4) || !digits(quarter, 1) {
        return None;
    }
    let quarter = quarter.parse().ok().filter(|quarter| (1..=4).contains(quarter))?;
    Some((year.parse().ok()?, quarter))
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Dues.Collect", collect)
            .describe("Charges the members of a club their dues for a quarter.")
            .determinism(Determinism::External)
            .effects([Effect::ExternalWrite]),
    ],
}
