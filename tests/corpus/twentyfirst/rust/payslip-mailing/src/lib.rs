use std::collections::HashSet;

use latchwork_guest::tools::{self, Call};
use latchwork_guest::{Code, Determinism, Effect, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Number of rounds in which a mail is sent.
const ROUNDS: usize = 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Payroll {
    company: String,
    /// The month, such as `2026-03`.
    #[schemars(regex(pattern = r"^[0-9]{4}-(0[1-9]|1[0-2])$"))]
    month: String,
    #[schemars(length(max = 500))]
    staff: Vec<Person>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Person {
    number: u32,
    mail: String,
    /// The payment in cents.
    net_cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Mailing {
    sent: usize,
    /// People without a mail, in the order of the input.
    unsent: Vec<Unsent>,
}

#[derive(Serialize, JsonSchema)]
struct Unsent {
    number: u32,
    reason: String,
}

fn send(payroll: Payroll, _: &step::Context) -> Result<Mailing, Error> {
    let mut numbers = HashSet::new();
    for person in &payroll.staff {
        if !numbers.insert(person.number) {
            return Err(Error::invalid_input(format!("number {} is in the payroll twice", person.number)));
        }
        if !person.mail.contains('@') {
            return Err(Error::invalid_input(format!("number {} has no mail address", person.number)));
        }
    }

    let mut results: Vec<Result<(), Error>> = Vec::new();
    let mut pending: Vec<usize> = (0..payroll.staff.len()).collect();
    for round in 0..ROUNDS {
        if pending.is_empty() {
            break;
        }
        let answers = tools::call_all::<Value>(pending.iter().map(|index| mail(&payroll, &payroll.staff[*index])));
        let answers = answers.into_iter().map(|answer| answer.map(drop));
        if round == 0 {
            results = answers.collect();
        } else {
            for (index, answer) in pending.iter().zip(answers) {
                results[*index] = answer;
            }
        }
        // A mail that was refused for its rate was certainly not sent.
        pending.retain(|index| matches!(&results[*index], Err(error) if error.code() == Code::RateLimit));
    }

    let unsent: Vec<Unsent> = payroll
        .staff
        .iter()
        .zip(&results)
        .filter_map(|(person, result)| {
            let error = result.as_ref().err()?;
            Some(Unsent { number: person.number, reason: error.message().to_owned() })
        })
        .collect();
    Ok(Mailing { sent: results.len() - unsent.len(), unsent })
}

/// Prepares the mail. A person gets one mail of a company for each month, whatever job sends it.
fn mail(payroll: &Payroll, person: &Person) -> Call {
    let Payroll { company, month, .. } = payroll;
    let amount = format!("{}.{:02}", person.net_cents / 100, person.net_cents % 100);
    let args = json!({
        "to": person.mail,
        "subject": format!("Your payslip of {month}"),
        "body": format!("{company} pays you {amount} EUR for {month}."),
    });
    Call::new("Mail.Send", &args).action_key(json!(["payslip", company, month, person.number]).to_string())
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Payslip.Mail", send)
            .describe("Sends the staff of a company their payslips of a month.")
            .determinism(Determinism::External)
            .effects([Effect::ExternalSend]),
    ],
}
