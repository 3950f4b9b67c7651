//! The plugin's `config` table in `latch.toml`.

use serde::de::DeserializeOwned;

use crate::{Error, host};

/// Returns the value of one key, or `None` if the key is not set. Fails with `MISSING_REQUIRED_CONTEXT` if
/// the value does not deserialize as `T`.
///
/// ```
/// # use latchwork_guest::{config, testing::Host};
/// Host::new().config("from", "me@example.org").run(|| {
///     let from: Option<String> = config::get("from")?;
///     assert_eq!(from.as_deref(), Some("me@example.org"));
///     Ok::<(), latchwork_guest::Error>(())
/// })?;
/// # Ok::<(), latchwork_guest::Error>(())
/// ```
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, Error> {
    let Some(text) = host::config(key) else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Error::missing_required_context(format!("invalid value of config key `{key}` in latch.toml: {error}"))
    })
}

/// Returns the value of a required key. Fails with `MISSING_REQUIRED_CONTEXT` if the key is not set or its
/// value does not deserialize as `T`.
pub fn require<T: DeserializeOwned>(key: &str) -> Result<T, Error> {
    get(key)?.ok_or_else(|| {
        Error::missing_required_context(format!(
            "config key `{key}` is missing: set it in this plugin's config table in latch.toml"
        ))
    })
}
