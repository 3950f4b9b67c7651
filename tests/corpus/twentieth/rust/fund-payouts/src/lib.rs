//! `Fund.PayOut`: orders the payments of a funding round, one for each approved project.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Effect, Error, events, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most payments of one round.
const PAYMENTS_MAX: usize = 400;
/// Largest payment, in cents.
const CENTS_MAX: u64 = 50_000_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    /// Name of the round, such as `2026-spring`.
    round: String,
    payments: Vec<Payment>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Payment {
    project: String,
    /// Account of the project.
    iban: String,
    cents: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PaidOut {
    paid: Vec<Paid>,
    /// Projects without a payment, with the reason.
    refused: Vec<Refused>,
    total_cents: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Paid {
    project: String,
    order: String,
    cents: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Refused {
    project: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Order {
    order: String,
}

fn pay_out(round: Round, _: &step::Context) -> Result<PaidOut, Error> {
    if round.round.trim().is_empty() || round.round.len() > 60 {
        return Err(Error::invalid_input("the name of a round has 1 to 60 bytes"));
    }
    if round.payments.len() > PAYMENTS_MAX {
        return Err(Error::invalid_input(format!("a round has at most {PAYMENTS_MAX} payments")));
    }
    let mut seen = HashSet::new();
    let mut calls = Vec::with_capacity(round.payments.len());
    for payment in &round.payments {
        if !(1..=100).contains(&payment.project.len()) || !(15..=34).contains(&payment.iban.len()) {
            return Err(Error::invalid_input(format!("the project {:?} or its account is invalid", payment.project)));
        }
        if payment.cents == 0 || payment.cents > CENTS_MAX {
            return Err(Error::invalid_input(format!(
                "project {} cannot get {} cents",
                payment.project, payment.cents
            )));
        }
        // A project may get several payments in a round, such as two parts for two accounts.
        let key = json!([round.round, payment.project, payment.iban, payment.cents]).to_string();
        if !seen.insert(key.clone()) {
            let (project, cents) = (&payment.project, payment.cents);
            return Err(Error::invalid_input(format!("{cents} cents for project {project} are listed twice")));
        }
        let purpose = format!("{} {}", round.round, payment.project);
        let args = json!({ "iban": payment.iban, "cents": payment.cents, "purpose": purpose });
        calls.push(tools::Call::new("Payment.Order", &args).action_key(key));
    }
    let answers: Vec<Result<Order, Error>> = tools::call_all(calls);
    let mut out = PaidOut { paid: Vec::new(), refused: Vec::new(), total_cents: 0 };
    for (payment, answer) in round.payments.into_iter().zip(answers) {
        let Payment { project, cents, .. } = payment;
        match answer {
            Ok(order) => {
                out.total_cents += cents;
                out.paid.push(Paid { project, order: order.order, cents });
            }
            Err(error) => out.refused.push(Refused { project, reason: error.message().to_owned() }),
        }
    }
    events::emit("round-paid", &json!({ "round": round.round, "paid": out.paid.len(), "cents": out.total_cents }))?;
    Ok(out)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Fund.PayOut", pay_out)
            .describe("Orders the payments of a funding round, one for each approved project.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
