//! A small persistent map of the tool, in the namespace that its grant names: `kv = "mail"`. Each tenant has a map of
//! its own, unless the grant says `shared = true`.
//!
//! ```
//! use latchwork_guest::{kv, testing::Host};
//!
//! Host::new().grant_kv().run(|| {
//!     assert!(kv::get("cursor")?.is_none());
//!     kv::set("cursor", b"42")?;
//!     assert_eq!(kv::get("cursor")?.as_deref(), Some(&b"42"[..]));
//!     assert!(kv::delete("cursor")?);
//!     Ok::<(), latchwork_guest::Error>(())
//! })?;
//! # Ok::<(), latchwork_guest::Error>(())
//! ```

use crate::{Error, host};

/// Returns the value of `key`, or `None` if the key is not set.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    host::kv_get(key)
}

/// Sets `key` to `value`. The value is durable when the function returns. A key has at most 256 bytes and a value at
/// most 64 KiB. Fails with `DEPENDENCY_UNAVAILABLE` if the map has no room. A map has room for 16 MiB, or for the
/// `bytes` of its grant. The size of a map is its keys, its values, and 64 bytes for each key.
pub fn set(key: &str, value: &[u8]) -> Result<(), Error> {
    host::kv_set(key, value)
}

/// Deletes `key`. Returns true if the key existed.
pub fn delete(key: &str) -> Result<bool, Error> {
    host::kv_delete(key)
}
