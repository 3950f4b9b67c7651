//! `latchwork:plugin/events`: informational events.

use serde::de::IgnoredAny;

use latchwork_core::model::bounds::EVENT_NAME_BYTES;

use crate::capability::step_call_view::StepCallView;
use crate::guest::bindings::import::events;
use crate::guest::bindings::import::types::Json;
use crate::guest::fault::HostFault;
use crate::guest::json_gate;

impl events::Host for StepCallView<'_> {
    async fn emit(&mut self, name: String, payload: Json) -> wasmtime::Result<()> {
        self.guard.count_host_call()?;
        check(&name, &payload, self.calls.next_event_is_recorded())?;
        self.guard.count_event_bytes(name.len() + payload.len())?;
        let emitted = self.guard.exclude_wait(self.calls.emit(name, payload)).await;
        Ok(emitted.map_err(|_| HostFault::Stopped)?)
    }
}

/// Returns the fault that stops the step if the name or the payload is invalid. An invalid event could not be read
/// later, and the interface has no error for it. A new payload must have a canonical form, like arguments. A payload
/// that the log already contains must only be JSON, because it was accepted when it was recorded.
fn check(name: &str, payload: &str, is_recorded: bool) -> Result<(), HostFault> {
    if name.is_empty() || name.len() > EVENT_NAME_BYTES || name.chars().any(char::is_control) {
        let message = format!("an event's name has 1 to {EVENT_NAME_BYTES} bytes and no control characters");
        return Err(HostFault::InvalidEvent(message));
    }
    if is_recorded {
        return match serde_json::from_str::<IgnoredAny>(payload) {
            Ok(_) => Ok(()),
            Err(error) => Err(HostFault::InvalidEvent(format!("the payload of event {name:?} is not JSON: {error}"))),
        };
    }
    json_gate::parse(&format!("the payload of event {name:?}"), payload).map(drop).map_err(HostFault::InvalidEvent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I225: bound `event_name_bytes`.
    #[test]
    fn event_names_and_payloads_are_checked() {
        let longest = "n".repeat(EVENT_NAME_BYTES);
        for name in ["draft-ready", "é", &longest] {
            check(name, "{\"words\": 180}", false).unwrap();
        }
        let too_long = "n".repeat(EVENT_NAME_BYTES + 1);
        for name in ["", "a\nb", "a\0", &too_long] {
            assert!(matches!(check(name, "{}", false), Err(HostFault::InvalidEvent(_))), "{name:?}");
        }
        for payload in ["", "{", "{} {}", "nul", "\u{feff}{}"] {
            assert!(matches!(check("n", payload, false), Err(HostFault::InvalidEvent(_))), "{payload:?}");
        }
    }
}
