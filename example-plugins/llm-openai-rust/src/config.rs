//! The plugin's `config` table in `latch.toml`.

use std::collections::BTreeMap;

use latchwork_guest::{Error, config, secrets};
use serde::Deserialize;

use crate::price::Price;

/// Settings of the provider: URL, credentials and prices.
pub(crate) struct Config {
    base_url: String,
    auth: Auth,
    secret: String,
    user: String,
    organization: Option<String>,
    /// Prices by model name.
    pub(crate) model_prices: BTreeMap<String, Price>,
    /// Maximum size of an answer in bytes. A larger answer is an error.
    pub(crate) answer_bytes_max: usize,
}

/// Authentication scheme of the provider.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Auth {
    /// `Authorization: Bearer SECRET_FILE`
    #[default]
    Bearer,
    /// `Authorization: Basic base64(USER:SECRET_FILE)`
    Basic,
    /// No authentication, for a local server.
    None,
}

impl Config {
    pub(crate) fn read() -> Result<Self, Error> {
        Ok(Self {
            base_url: config::require("base_url")?,
            auth: config::get("auth")?.unwrap_or_default(),
            secret: config::get("secret")?.unwrap_or_else(|| "LLM_API_KEY".to_owned()),
            user: config::get("user")?.unwrap_or_default(),
            organization: config::get("organization")?,
            model_prices: config::get("model_prices")?.unwrap_or_default(),
            answer_bytes_max: config::get("answer_bytes_max")?.unwrap_or(1 << 20),
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/chat/completions", self.base_url.trim_end_matches('/'))
    }

    /// Returns the headers with the credentials. The headers contain the placeholder of the secret. The host
    /// replaces the placeholder in requests to the granted host.
    pub(crate) fn headers(&self) -> Result<Vec<(String, String)>, Error> {
        let authorization = match self.auth {
            Auth::Bearer => Some(format!("Bearer {}", secrets::get(&self.secret)?)),
            Auth::Basic => {
                let credentials = format!("{}:{}", self.user, secrets::get(&self.secret)?);
                Some(format!("Basic {}", base64(credentials.as_bytes())))
            }
            Auth::None => None,
        };
        let authorization = authorization.map(|value| ("authorization".to_owned(), value));
        let organization = self.organization.clone().map(|value| ("openai-organization".to_owned(), value));
        Ok(authorization.into_iter().chain(organization).collect())
    }
}

/// Encodes bytes as base64 with padding (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[((bits >> (18 - 6 * place)) & 63) as usize];
            text.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}
