//! Informational events for consumers outside the host. An event becomes visible once it is durable.

use serde::Serialize;

use crate::{Error, finite, host};

/// Appends an event with the id `latch:<job>:<step>:e<n>`. Consumers use this id to drop duplicates.
///
/// ```
/// # use latchwork_guest::events;
/// events::emit("draft-ready", &serde_json::json!({ "words": 180 }))?;
/// # Ok::<(), latchwork_guest::Error>(())
/// ```
pub fn emit<P: Serialize + ?Sized>(name: &str, payload: &P) -> Result<(), Error> {
    let payload = finite::to_string(payload)
        .map_err(|error| Error::invalid_input(format!("payload of event {name} is not JSON: {error}")))?;
    host::emit(name, &payload);
    Ok(())
}
