//! Informational events for consumers outside, visible once durable.

use serde::Serialize;

use crate::{Error, host};

/// Append an event; consumers dedupe on its id `latch:<job>:<step>:e<n>`.
///
/// ```
/// # use latchwork_guest::events;
/// events::emit("draft-ready", &serde_json::json!({ "words": 180 }))?;
/// # Ok::<(), latchwork_guest::Error>(())
/// ```
pub fn emit<P: Serialize + ?Sized>(name: &str, payload: &P) -> Result<(), Error> {
    let payload = serde_json::to_string(payload)
        .map_err(|error| Error::invalid_input(format!("payload of event {name} is not JSON: {error}")))?;
    host::emit(name, &payload);
    Ok(())
}
