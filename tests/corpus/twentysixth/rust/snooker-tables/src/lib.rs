//! Keeps the players of the tables in a snooker hall.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, kv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PLAYER_BYTES_MAX: usize = 120;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Seating {
    /// Table such as `T4`.
    table: String,
    player: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Leaving {
    table: String,
}

#[derive(Serialize, JsonSchema)]
struct Seated {
    table: String,
    player: String,
}

/// Key of a table in the map. The desk writes `t4` or `T4` for one table.
fn key_of(table: &str) -> Result<String, Error> {
    let number = table.trim().to_ascii_lowercase();
    let digits = number.strip_prefix('t').unwrap_or_default();
    if digits.is_empty() || digits.len() > 2 || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Error::invalid_input(format!("{table:?} is no table")));
    }
    Ok(number)
}

fn player_at(key: &str) -> Result<Option<String>, Error> {
    let Some(bytes) = kv::get(key)? else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(player) => Ok(Some(player)),
        Err(_) => Err(Error::schema_validation_failed(format!("the entry of {key} is no text")).not_applied()),
    }
}

/// Puts a player at a table. A player who sat there before has to leave it.
fn seat(seating: Seating, _: &tool::Context) -> Result<Output<Seated>, Error> {
    let key = key_of(&seating.table)?;
    let player = seating.player.trim();
    if player.is_empty() || player.len() > PLAYER_BYTES_MAX {
        return Err(Error::invalid_input(format!("a player has 1 to {PLAYER_BYTES_MAX} bytes")));
    }
    kv::set(&key, player.as_bytes())?;
    let change = Change::new("table", &key, "update").version(player);
    Ok(Output::new(Seated { table: seating.table, player: player.to_owned() }).change(change))
}

fn clear(leaving: Leaving, _: &tool::Context) -> Result<Output<Seated>, Error> {
    let key = key_of(&leaving.table)?;
    let Some(player) = player_at(&key)? else {
        return Err(Error::invalid_input(format!("{} is free", leaving.table)));
    };
    kv::delete(&key)?;
    let change = Change::new("table", &leaving.table, "delete");
    Ok(Output::new(Seated { table: leaving.table, player }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let found = player_at(&key_of(&change.resource_id)?)?;
    Ok(match (change.operation.as_str(), found) {
        ("delete", None) => Finding::Confirmed,
        ("delete", Some(player)) => Finding::Mismatch(format!("{player} is at the table")),
        (_, None) => Finding::Mismatch("the table is free".into()),
        (_, Some(player)) => Finding::compare(change.version.as_deref(), &player),
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Table.Seat", seat)
            .describe("Puts a player at a snooker table.")
            .effects([Effect::InternalWrite])
            .verify(verify),
        tool::operator("Table.Clear", clear)
            .describe("Clears a snooker table.")
            .effects([Effect::InternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
