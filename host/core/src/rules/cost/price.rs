//! Prices of models, and the maximum cost of a call, computed before the call is made.

use std::collections::BTreeMap;

use serde_json::Value;

/// Number of tokens for which a price is stated.
const PER_TOKENS: u128 = 1_000_000;

/// Price of a model per million tokens, in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Price of input tokens.
    pub input: u64,
    /// Price of output tokens.
    pub output: u64,
}

impl Price {
    /// Returns the cost of the given numbers of tokens, in millionths of a US dollar. The cost is rounded up to a
    /// whole number, so no charge is too low.
    pub fn cost_of(&self, tokens_in: u64, tokens_out: u64) -> u64 {
        let input = u128::from(self.input) * u128::from(tokens_in);
        let output = u128::from(self.output) * u128::from(tokens_out);
        u64::try_from((input + output).div_ceil(PER_TOKENS)).unwrap_or(u64::MAX)
    }
}

/// Prices by model, in US dollars per million tokens: `{"small": {"input": "0.15", "output": "0.60"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices(BTreeMap<String, Price>);

/// Error: an invalid price table. The text describes the mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadPrice(pub String);

impl Prices {
    /// Reads a price table.
    ///
    /// # Errors
    /// Fails at the first entry that does not have the form shown at [`Prices`]. The error names this entry.
    pub fn read(table: &Value) -> Result<Self, BadPrice> {
        let form = "write { input = \"0.15\", output = \"0.60\" }, US dollars for a million tokens";
        let bad = |model: &str, what: &str| BadPrice(format!("model `{model}`: {what}; {form}"));
        let Some(models) = table.as_object() else {
            return Err(BadPrice(format!("expected a table of models; for each model {form}")));
        };
        let mut prices = BTreeMap::new();
        for (model, entry) in models {
            let fields = entry.as_object().ok_or_else(|| bad(model, "the price is not a table"))?;
            if let Some(other) = fields.keys().find(|key| !["input", "output"].contains(&key.as_str())) {
                return Err(bad(model, &format!("unknown key `{other}`")));
            }
            let amount = |key: &str| {
                let text = fields.get(key).and_then(Value::as_str);
                let text = text.ok_or_else(|| bad(model, &format!("`{key}` is not a string")))?;
                micro_usd(text).ok_or_else(|| bad(model, &format!("`{key}` is not an amount")))
            };
            prices.insert(model.clone(), Price { input: amount("input")?, output: amount("output")? });
        }
        Ok(Self(prices))
    }

    /// Returns the price of a model.
    pub fn get(&self, model: &str) -> Option<&Price> {
        self.0.get(model)
    }

    /// Returns the maximum cost of a call with the canonical arguments `args`, in millionths of a US dollar. Returns
    /// `None` if the model has no price, or if the arguments set no maximum number of output tokens.
    ///
    /// The input is counted as one token per byte. This is an upper bound, because a token has at least one byte.
    pub fn max_cost(&self, args: &[u8]) -> Option<u64> {
        let value: Value = serde_json::from_slice(args).ok()?;
        let price = self.get(value.get("model")?.as_str()?)?;
        let params = value.get("params")?;
        let tokens_out =
            ["max_completion_tokens", "max_tokens"].iter().filter_map(|key| params.get(key)?.as_u64()).max()?;
        Some(price.cost_of(args.len() as u64, tokens_out))
    }
}

/// Parses an amount of US dollars such as `1.00` into millionths. At most six decimals are allowed.
pub fn micro_usd(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 || (text.contains('.') && part.is_empty())
    {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    // Amounts of 2^53 or more are refused, because JSON numbers cannot represent all of them exactly.
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part).filter(|amount| *amount < 1 << 53)
}

/// Formats millionths as an amount of US dollars: `1.00`, `0.000031`.
pub fn usd(micro: u64) -> String {
    let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    let kept = text.trim_end_matches('0').len().max(text.len() - 4);
    text[..kept].to_owned()
}
