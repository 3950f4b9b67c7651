//! Cost of an answer, in whole millionths of a US dollar.

use latchwork_guest::Error;
use serde::Deserialize;

/// Price in US dollars per million tokens: `{ input = "0.15", output = "0.60" }`. The host has validated the
/// form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Price {
    input: String,
    output: String,
}

impl Price {
    /// Returns the cost of these token counts in millionths of a US dollar, rounded up.
    pub(crate) fn of(&self, tokens_in: u32, tokens_out: u32) -> Result<u32, Error> {
        let bad = || Error::missing_required_context("config key `model_prices` in latch.toml has an invalid amount");
        let input = micro_usd(&self.input).ok_or_else(bad)? * u128::from(tokens_in);
        let output = micro_usd(&self.output).ok_or_else(bad)? * u128::from(tokens_out);
        Ok(u32::try_from((input + output).div_ceil(1_000_000)).unwrap_or(u32::MAX))
    }
}

fn micro_usd(text: &str) -> Option<u128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.len() > 12 || part.len() > 6 {
        return None;
    }
    format!("{whole}{part:0<6}").parse().ok()
}
