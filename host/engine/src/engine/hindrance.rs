//! Failures of tools that follow from an access that the host refused or could not complete.

use latchwork_core::encoding::truncate;
use latchwork_core::model::error::{Code, Failure};

use crate::capability::call_window::Hindrances;
use crate::guest::convert::MESSAGE_BYTES_MAX;
use crate::guest::fault;
use crate::guest::fault::HostFault;
use crate::guest::permissions::DeniedBy;

/// Replaces the result of a call for which the machine lacked a resource. The guest may have handled the failure, and
/// its answer would then depend on the machine.
pub(super) fn unless_lacking<R>(returned: Result<R, Failure>, hindered: &Hindrances) -> Result<R, Failure> {
    match (&hindered.lack, returned) {
        (Some(_), Err(failure)) if failure.code == Code::MachineFault => Err(failure),
        (Some(why), _) => Err(fault::failure(&HostFault::Machine(why.clone()).into())),
        (None, returned) => returned,
    }
}

/// Explains an error of a tool by an access that the host refused or could not complete. `oversized` is the failure for
/// an error that is too large. If no such access explains this error, the result is `oversized`.
pub(super) fn explain_error(returned: Failure, hindered: Hindrances, oversized: Option<Failure>) -> Failure {
    let code = returned.code;
    let explained = explain_hindrance(returned, hindered);
    match oversized {
        None => explained,
        Some(failure) if explained.code == code => failure,
        Some(_) => Failure { detail: None, ..explained },
    }
}

/// Replaces a failure by an access that the host refused or could not complete, if the access is the likely cause. A
/// refused access replaces a crash or a refusal that the guest reports. An unreachable server replaces only a crash.
pub(super) fn explain_hindrance(failure: Failure, hindered: Hindrances) -> Failure {
    let is_crash = matches!(failure.code, Code::PluginException | Code::PluginTrap);
    let (code, why) = match hindered {
        Hindrances { denied: Some((DeniedBy::NarrowerGrants, why)), .. } if may_be_denial(failure.code) => {
            (Code::GrantRequired, why)
        }
        Hindrances { denied: Some((_, why)), .. } if is_crash || failure.code == Code::PolicyDenied => {
            (Code::CapabilityDenied, why)
        }
        // If the host denies a write to the key-value map, the guest gets the error of an unavailable store. The guest
        // then reports an unavailable dependency. This code is replaced here.
        Hindrances { denied: Some((_, why)), .. }
            if failure.code == Code::DependencyUnavailable && failure.message.contains(&why) =>
        {
            return Failure { code: Code::CapabilityDenied, retry_after_ms: None, ..failure };
        }
        Hindrances { unreachable: Some(why), .. } if is_crash => (Code::NetworkUnavailable, why),
        _ => return failure,
    };
    let message = format!("{why} (the plugin: {})", failure.message);
    Failure { code, message: truncate::at_bytes(&message, MESSAGE_BYTES_MAX).start.to_owned(), ..failure }
}

/// Returns true if a plugin may report a refused access with this code. The other codes describe the input or an answer
/// of a server.
fn may_be_denial(code: Code) -> bool {
    matches!(
        code,
        Code::PluginException
            | Code::PluginTrap
            | Code::PolicyDenied
            | Code::AuthForbidden
            | Code::DependencyUnavailable
            | Code::NetworkTimeout
            | Code::TemporaryProviderError
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I245. The answer of a tool that handled the error is replaced, too.
    #[test]
    fn lack_of_resources_replaces_every_result() {
        let lacking = Hindrances { lack: Some("too many open files".to_owned()), ..Hindrances::default() };
        for returned in [Ok("an answer"), Err(Failure::new(Code::PluginTrap, "it trapped"))] {
            assert_eq!(unless_lacking(returned.clone(), &Hindrances::default()), returned);
            let failure = unless_lacking(returned, &lacking).unwrap_err();
            assert_eq!(failure.code, Code::MachineFault);
            assert!(failure.message.contains("too many open files"), "{failure:?}");
        }
        let trapped = Err::<(), _>(Failure::new(Code::MachineFault, "too many open files in function f"));
        assert_eq!(unless_lacking(trapped.clone(), &lacking), trapped);
    }
}
