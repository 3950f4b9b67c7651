//! `Tidegate.Read`: reads the state of a tide gate from the water board's service.

use std::time::Duration;

use latchwork_guest::{Effect, Error, config, http, secrets, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Gate {
    /// Name of the gate: small letters, digits and `-`.
    gate: String,
}

#[derive(Serialize, JsonSchema)]
struct Status {
    gate: String,
    /// False if the water board has no such gate. The other fields are then empty.
    known: bool,
    /// State of the gate, such as `closed`.
    state: Option<String>,
    /// Water level on the sea side, in centimetres.
    level_cm: Option<f64>,
}

#[derive(Deserialize)]
struct Reading {
    state: String,
    level_cm: f64,
}

/// Returns the credentials of the config key `user` and the secret `TIDEGATE_PASSWORD`.
fn credentials() -> Result<String, Error> {
    let user: String = config::require("user")?;
    if user.is_empty() || user.contains(':') {
        return Err(Error::missing_required_context("config key `user`: a name without a colon"));
    }
    let password = secrets::get("TIDEGATE_PASSWORD")?;
    Ok(format!("Basic {}", base64(format!("{user}:{password}").as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |number, at| number << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            match at <= group.len() {
                true => text.push(char::from(DIGITS[number >> (18 - 6 * at) & 63])),
                false => text.push('='),
            }
        }
    }
    text
}

fn read(args: Gate, context: &tool::Context) -> Result<tool::Output<Status>, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if args.gate.is_empty() || args.gate.len() > 40 || !args.gate.chars().all(plain) {
        return Err(Error::invalid_input(format!("{:?} is not a name of a gate", args.gate)));
    }
    let base: String = config::require("base_url")?;
    let answer = http::Request::get(&format!("{}/gates/{}", base.trim_end_matches('/'), args.gate))
        .header("authorization", &credentials()?)
        .header("accept", "application/json")
        .timeout(context.timeout().mul_f32(0.8))
        .send()
        .map_err(|error| Error::from(error).not_applied())?;
    let said = format!("the water board answered {}", answer.status());
    match answer.status() {
        200 => {}
        404 => {
            let status = Status { gate: args.gate, known: false, state: None, level_cm: None };
            return Ok(tool::Output::new(status));
        }
        401 | 403 => return Err(Error::auth_forbidden(said)),
        429 => return Err(wait(Error::rate_limit(said), &answer)),
        500..=599 => return Err(wait(Error::temporary_provider_error(said).not_applied(), &answer)),
        _ => return Err(Error::dependency_unavailable(said).not_applied()),
    }
    let reading: Reading = serde_json::from_slice(answer.body()).map_err(|error| {
        Error::schema_validation_failed(format!("unknown form of the reading: {error}")).not_applied()
    })?;
    let Reading { state, level_cm } = reading;
    Ok(tool::Output::new(Status { gate: args.gate, known: true, state: Some(state), level_cm: Some(level_cm) }))
}

/// Returns `error` with the wait that the water board asks for.
fn wait(error: Error, answer: &http::Response) -> Error {
    match answer.header("retry-after").and_then(|seconds| seconds.trim().parse().ok()) {
        Some(seconds) => error.retry_after(Duration::from_secs(seconds)),
        None => error,
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Tidegate.Read", read)
            .describe("Reads the state of a tide gate and the water level beside it.")
            .effects([Effect::ReadOnly]),
    ],
}
