use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Kept {
    key: String,
}

fn keep(note: Note, context: &tool::Context) -> Result<Output<Kept>, Error> {
    let key = context.external_key();
    kv::set(key, format!("{} {}", wall::now(), note.text).as_bytes())?;
    Ok(kept(key))
}

/// Called after a crash: finds out whether the call happened.
fn find(_: Note, key: &str) -> Result<Verdict<Output<Kept>>, Error> {
    Ok(if kv::get(key)?.is_some() { Verdict::Happened(kept(key)) } else { Verdict::DidNotHappen })
}

fn kept(key: &str) -> Output<Kept> {
    Output::new(Kept { key: key.to_owned() }).change(Change::new("note", key, "create"))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("{{Noun}}.Keep", keep)
            .describe("Keeps a note under the key of its call.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}

#[cfg(test)]
mod tests {
    use latchwork_guest::testing::Host;

    use super::*;

    const KEY: &str = "latch:j:s1:1";

    fn note() -> Note {
        Note { text: "hello".into() }
    }

    #[test]
    fn kept_note_is_found_by_reconcile() {
        let host = Host::new().grant_kv().external_key(KEY);
        assert!(matches!(host.run(|| find(note(), KEY)).unwrap(), Verdict::DidNotHappen));
        let output = host.run(|| keep(note(), &tool::Context::default())).unwrap();
        assert_eq!((output.result().key.as_str(), output.changes().len()), (KEY, 1));
        assert!(matches!(host.run(|| find(note(), KEY)).unwrap(), Verdict::Happened(_)));
    }
}
