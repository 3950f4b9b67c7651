use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Width of the signature line in characters.
const WIDTH: usize = 24;

#[derive(Deserialize, JsonSchema)]
struct Draft {
    text: String,
    sender: String,
}

#[derive(Serialize, JsonSchema)]
struct Letter {
    text: String,
    signature: String,
}

fn close(draft: Draft, context: &step::Context) -> Result<Letter, Error> {
    if draft.sender.is_empty() {
        return Err(Error::invalid_input("the sender is empty"));
    }
    let fits = context.actor().chars().count() <= WIDTH;
    let signature = if fits { format!("Yours, {}", draft.sender) } else { "Yours, the team".to_owned() };
    Ok(Letter { text: draft.text.trim().to_owned(), signature })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Letter.Close", close).describe("Closes a letter with a signature.").determinism(Determinism::Pure),
    ],
}
