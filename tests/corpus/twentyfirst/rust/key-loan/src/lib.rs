use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Entries are never removed, except by `compensate`.
const WINDOW: Duration = Duration::from_secs(30 * 86_400);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lend {
    /// Name on the key, such as `cellar 3`.
    label: String,
    person: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Loan {
    /// Id of the loan, which `Key.Return` takes.
    loan: String,
    label: String,
    person: String,
    /// Time of the loan.
    lent_at: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Return {
    #[schemars(length(max = 128))]
    loan: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Returned {
    loan: String,
    label: String,
    returned_at: String,
}

fn lend(args: Lend, context: &tool::Context) -> Result<Output<Loan>, Error> {
    let (label, person) = (args.label.trim(), args.person.trim());
    if label.is_empty() || person.is_empty() || label.len() + person.len() > 1000 {
        return Err(Error::invalid_input("a loan has the label of the key and a person, in at most 1000 bytes"));
    }
    let key = context.external_key();
    let entry = format!("lent {key}");
    // A repetition of the call keeps the entry of the first try, with its time.
    let loan = match read(&entry)? {
        Some(loan) => loan,
        None => {
            let lent_at = wall::now().to_string();
            let loan = Loan { loan: key.to_owned(), label: label.to_owned(), person: person.to_owned(), lent_at };
            write(&entry, &loan)?;
            loan
        }
    };
    let change = Change::new("key loan", key, "create").version(&loan.lent_at);
    Ok(Output::new(loan).change(change))
}

fn give_back(args: Return, context: &tool::Context) -> Result<Output<Returned>, Error> {
    let key = context.external_key();
    let entry = format!("returned {key}");
    let returned = match read(&entry)? {
        Some(returned) => returned,
        None => {
            let loan: Loan = read(&format!("lent {}", args.loan))?
                .ok_or_else(|| Error::invalid_input(format!("there is no loan {:?}", args.loan)))?;
            let returned = Returned { loan: loan.loan, label: loan.label, returned_at: wall::now().to_string() };
            write(&entry, &returned)?;
            returned
        }
    };
    let change = Change::new("key return", key, "create").version(&returned.returned_at);
    Ok(Output::new(returned).change(change))
}

fn read<T: DeserializeOwned>(entry: &str) -> Result<Option<T>, Error> {
    let Some(bytes) = kv::get(entry).map_err(Error::not_applied)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("the entry {entry:?}: {error}")).not_applied())
}

fn write<T: Serialize>(entry: &str, value: &T) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(|error| Error::invalid_input(format!("{entry:?}: {error}")))?;
    kv::set(entry, &text)
}

/// Deletes the entry of an undone call.
fn delete(kind: &str, entry: &str, key: &str) -> Result<Output<()>, Error> {
    match kv::delete(entry)? {
        true => Ok(Output::new(()).change(Change::new(kind, key, "delete"))),
        false => Err(Error::policy_denied(format!("the entry {entry:?} was removed before"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Key.Lend", lend)
            .describe("Notes that a person has a key of the house.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW)
            .compensate(|_, _, key| delete("key loan", &format!("lent {key}"), key)),
        tool::operator("Key.Return", give_back)
            .describe("Notes that a key of the house was returned.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW)
            .compensate(|_, _, key| delete("key return", &format!("returned {key}"), key)),
    ],
    exports: [compensate],
}
