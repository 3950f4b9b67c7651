//! A small persistent map of the tool's own, in the namespace its grant names (`kv = "mail"`).
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

/// The value at `key`.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    host::kv_get(key)
}

/// Write `value` at `key`; durable when it returns. Keys up to 256 bytes, values up to 64 KiB.
pub fn set(key: &str, value: &[u8]) -> Result<(), Error> {
    host::kv_set(key, value)
}

/// Forget `key`; true where it was there.
pub fn delete(key: &str) -> Result<bool, Error> {
    host::kv_delete(key)
}
