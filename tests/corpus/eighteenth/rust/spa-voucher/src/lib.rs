//! `Spa.Reserve`: keeps vouchers for treatments in the map of the spa.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, kv, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    guest: String,
    /// Treatment, such as `mud bath`.
    treatment: String,
    /// Start of the treatment, in seconds since 1970.
    starts_at: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Voucher {
    /// Code that the guest shows at the desk.
    code: String,
    guest: String,
    treatment: String,
    starts_at: i64,
}

/// Key of the voucher of a call in the map.
fn entry(key: &str) -> String {
    format!("voucher/{key}")
}

/// Reads the voucher of a call.
fn find(key: &str) -> Result<Option<Voucher>, Error> {
    let Some(bytes) = kv::get(&entry(key))? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("the voucher cannot be read: {error}")))
}

fn reserved(voucher: Voucher) -> Output<Voucher> {
    let receipt = json!({ "code": voucher.code });
    Output::new(voucher).receipt(receipt)
}

fn reserve(wish: Wish, context: &tool::Context) -> Result<Output<Voucher>, Error> {
    if wish.guest.trim().is_empty() || wish.guest.len() > 200 {
        return Err(Error::invalid_input("the name of the guest has 1 to 200 bytes"));
    }
    if wish.treatment.trim().is_empty() || wish.treatment.len() > 200 {
        return Err(Error::invalid_input("the treatment has 1 to 200 bytes"));
    }
    if wish.starts_at <= wall::now().seconds {
        return Err(Error::invalid_input("the treatment has already begun"));
    }
    let key = context.external_key();
    if let Some(voucher) = find(key)? {
        log::info!("{} has a voucher already", voucher.guest);
        return Ok(reserved(voucher));
    }
    let voucher =
        Voucher { code: key.to_owned(), guest: wish.guest, treatment: wish.treatment, starts_at: wish.starts_at };
    let bytes = serde_json::to_vec(&voucher).map_err(|error| Error::invalid_input(error.to_string()))?;
    kv::set(&entry(key), &bytes)?;
    Ok(reserved(voucher))
}

/// Takes the voucher back.
fn compensate(_: Wish, voucher: Voucher, key: &str) -> Result<Output<()>, Error> {
    match find(key).map_err(Error::not_applied)? {
        Some(found) if found == voucher => {}
        Some(_) => return Err(Error::policy_denied("the voucher was changed since")),
        None => return Err(Error::policy_denied("the voucher does not exist any more")),
    }
    if !kv::delete(&entry(key))? {
        return Err(Error::policy_denied("the voucher does not exist any more"));
    }
    Ok(Output::new(()))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Spa.Reserve", reserve)
            .describe("Reserves a treatment for a guest, once for each external key.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .compensate(compensate),
    ],
    exports: [compensate],
}
