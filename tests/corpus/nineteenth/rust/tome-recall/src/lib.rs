//! `Tome.Recall`: asks the members of a library to bring back the books that are due.

use latchwork_guest::{Determinism, Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Largest number of loans of one run.
const LOANS_MAX: usize = 250;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Evening {
    /// Address of the desk, which is the sender of the mails.
    desk: String,
    loans: Vec<Loan>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Loan {
    /// Number of the member's card.
    card: u32,
    email: String,
    title: String,
    /// Day on which the book is due, as `2026-01-31`.
    due: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Recalled {
    /// Number of mails that were sent.
    sent: usize,
    failed: Vec<Failed>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Failed {
    card: u32,
    title: String,
    reason: String,
}

fn recall(evening: Evening, _: &step::Context) -> Result<Recalled, Error> {
    if evening.loans.len() > LOANS_MAX {
        return Err(Error::invalid_input(format!("at most {LOANS_MAX} loans at once, not {}", evening.loans.len())));
    }
    if let Some(loan) = evening.loans.iter().find(|loan| !is_day(&loan.due)) {
        return Err(Error::invalid_input(format!("{}: {:?} is no day", loan.title, loan.due)));
    }
    let calls: Vec<tools::Call> = evening.loans.iter().map(|loan| mail(&evening.desk, loan)).collect();
    let answers: Vec<Result<Value, Error>> = tools::call_all(calls);
    let mut recalled = Recalled { sent: 0, failed: Vec::new() };
    for (loan, answer) in evening.loans.into_iter().zip(answers) {
        match answer {
            Ok(_) => recalled.sent += 1,
            Err(error) => {
                let reason = error.message().to_owned();
                recalled.failed.push(Failed { card: loan.card, title: loan.title, reason });
            }
        }
    }
    Ok(recalled)
}

/// Prepares the mail about one loan. A member gets it once, although the list is run every evening.
fn mail(desk: &str, loan: &Loan) -> tools::Call {
    let body = format!(
        "Dear reader,\n\n\"{}\" is due on {}. Please bring it back to the desk or renew it.\n\nYour library",
        loan.title, loan.due
    );
    let args = json!({
        "from": desk,
        "to": loan.email,
        "subject": format!("Please return \"{}\"", loan.title),
        "body": body,
    });
    tools::Call::new("Mail.Send", &args).action_key(format!("tome-recall/{}/{}", loan.card, loan.due))
}

/// Returns true for four digits, two digits and two digits with `-` between them.
fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Tome.Recall", recall)
            .describe("Asks the members of a library to bring back the books that are due.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
