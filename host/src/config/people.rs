//! `[people.NAME]`: people, and the keys with which they sign their decisions.

use latchwork_core::model::person::{People, PublicKey};

use super::policy::is_valid_name;
use crate::located_toml::TableReader;

pub(super) fn read(table: Option<TableReader<'_>>) -> People {
    let mut people = People::default();
    let Some(mut table) = table else { return people };
    for (name, field) in table.entries() {
        if !is_valid_name(name) {
            field.invalid::<()>("invalid name of a person: use 1 to 256 bytes without control characters");
        }
        let Some(mut person) = field.table() else { continue };
        let keys = person.get("keys").map(|field| {
            field.list(|field| {
                let key = field.parse(public_key)?;
                match people.add(name, key) {
                    Some(other) => field.invalid(format!("{key} is a key of `{other}` already")),
                    None => Some(key),
                }
            })
        });
        if keys.is_none() {
            person.problem(
                "keys",
                latchwork_core::model::error_docs::CONFIG_INVALID_VALUE,
                "`keys` is missing: write `keys = [\"ed25519:…\"]`, as `latch key show FILE` prints it",
            );
        }
        person.finish();
    }
    people
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    PublicKey::parse(text)
        .ok_or_else(|| format!("`{text}` is not a public key: write `ed25519:` and 64 lower-case hexadecimal digits"))
}
