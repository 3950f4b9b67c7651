//! Functions that [`export_tool!`](crate::export_tool) calls.

use super::{Change, Context, Erased, Finding, Verdict};
use crate::bindings::export_reconcile::exports::latchwork::plugin::reconcile as wit_reconcile;
use crate::bindings::export_verify::exports::latchwork::plugin::verify as wit_verify;
use crate::bindings::types;
use crate::manifest::millis;
use crate::{Error, log};

fn find_operator<'a>(operators: &'a [Erased], name: &str) -> Result<&'a Erased, Error> {
    log::install_panic_hook();
    operators
        .iter()
        .find(|operator| operator.about.name == name)
        .ok_or_else(|| Error::invalid_input(format!("this plugin has no operator {name}")))
}

/// Executes one of the operators by name.
pub fn invoke(operators: &[Erased], name: &str, args: &str) -> Result<types::ToolOutput, types::Error> {
    let operator = find_operator(operators, name)?;
    Ok((operator.invoke)(args, &Context::default())?)
}

/// Asks an operator whether a call happened. An operator without a `reconcile` handler answers `unknown`.
pub fn reconcile(
    operators: &[Erased],
    name: &str,
    external_key: &str,
    args: &str,
) -> Result<wit_reconcile::Verdict, types::Error> {
    let Some(handler) = &find_operator(operators, name)?.reconcile else { return Ok(wit_reconcile::Verdict::Unknown) };
    Ok(match handler(external_key, args)? {
        Verdict::Happened(output) => wit_reconcile::Verdict::Happened(output),
        Verdict::DidNotHappen => wit_reconcile::Verdict::DidNotHappen,
        Verdict::NotYet(wait) => wit_reconcile::Verdict::NotYet(millis(wait)),
        Verdict::Unknown => wit_reconcile::Verdict::Unknown,
    })
}

/// Asks an operator whether a recorded change is still in place. Fails if the operator has no `verify`
/// handler.
pub fn verify(
    operators: &[Erased],
    name: &str,
    change: types::StateChange,
) -> Result<wit_verify::Finding, types::Error> {
    let Some(handler) = &find_operator(operators, name)?.verify else {
        return Err(Error::dependency_unavailable(format!("{name} has no `verify` handler")).not_applied().into());
    };
    Ok(match handler(&Change::from(change))? {
        Finding::Confirmed => wit_verify::Finding::Confirmed,
        Finding::Mismatch(found) => wit_verify::Finding::Mismatch(found),
    })
}

/// Undoes a call. Fails with `POLICY_DENIED` if the operator has no `compensate` handler.
pub fn compensate(
    operators: &[Erased],
    name: &str,
    external_key: &str,
    args: &str,
    result: &str,
) -> Result<types::ToolOutput, types::Error> {
    let Some(handler) = &find_operator(operators, name)?.compensate else {
        return Err(Error::policy_denied(format!("{name} cannot be undone: it has no `compensate` handler")).into());
    };
    Ok(handler(external_key, args, result)?)
}

/// Returns one message per mismatch between handlers and exports:
///
/// * a handler without its export,
/// * an export without a handler,
/// * a world-changing operator without a `verify` handler, if the plugin has the export `verify`.
pub fn mismatched_exports(operators: &[Erased], exported: &[&str]) -> Vec<String> {
    let has = |present: fn(&Erased) -> bool| operators.iter().any(present);
    let changes_world = |operator: &&Erased| operator.about.effects.iter().any(|effect| effect.is_world_changing());
    let verifies = has(|operator| operator.verify.is_some());
    // All operators share the export `verify`, and it fails for an operator without a handler. Each resume of a job
    // with effects of such an operator would wait for a person.
    let unverified = operators.iter().filter(changes_world).filter(|operator| verifies && operator.verify.is_none());
    let unverified = unverified.map(|operator| {
        let name = &operator.about.name;
        format!("the plugin exports `verify`, but {name} changes the world and has no `verify` handler")
    });
    [
        ("reconcile", has(|operator| operator.reconcile.is_some())),
        ("verify", has(|operator| operator.verify.is_some())),
        ("compensate", has(|operator| operator.compensate.is_some())),
    ]
    .into_iter()
    .filter(|(name, present)| exported.contains(name) != *present)
    .map(|(name, present)| match present {
        true => format!("an operator has a {name} handler: add `{name}` to export_tool!'s `exports`"),
        false => format!("export_tool! exports `{name}`, but no operator has a handler for it"),
    })
    .chain(unverified)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::tool::{Output, operator};

    fn doubling_operators() -> Vec<Erased> {
        let double = |n: i64, _: &Context| Ok(Output::new(n * 2));
        vec![
            operator("Number.Double", double)
                .reconcile(|n, key| match key {
                    "k" => Ok(Verdict::Happened(Output::new(n * 2))),
                    _ => Ok(Verdict::DidNotHappen),
                })
                .compensate(|n: i64, doubled: i64, key: &str| Ok(Output::new(format!("{key} {n} {doubled}"))))
                .into(),
            operator("Number.Plain", double).into(),
        ]
    }

    #[test]
    fn each_export_reaches_its_handler() {
        let operators = doubling_operators();
        assert_eq!(invoke(&operators, "Number.Double", "4").unwrap().result, "8");
        let verdict = reconcile(&operators, "Number.Double", "k", "4").unwrap();
        assert!(matches!(verdict, wit_reconcile::Verdict::Happened(output) if output.result == "8"));
        assert_eq!(compensate(&operators, "Number.Double", "k", "4", "8").unwrap().result, "\"k 4 8\"");
    }

    #[test]
    fn reconcile_without_handler_is_unknown_and_compensate_is_denied() {
        let operators = doubling_operators();
        let verdict = reconcile(&operators, "Number.Plain", "k", "4").unwrap();
        assert!(matches!(verdict, wit_reconcile::Verdict::Unknown));
        let refused = compensate(&operators, "Number.Plain", "k", "4", "8").unwrap_err();
        assert_eq!(refused.code, types::ErrorCode::PolicyDenied);
    }

    #[test]
    fn world_changing_operator_without_verify_handler_is_a_mismatch() {
        let sends =
            |name: &str| operator(name, |n: i64, _: &Context| Ok(Output::new(n))).effects([Effect::ExternalSend]);
        let verifying = || sends("Number.Send").verify(|change| Ok(Finding::compare(change.version.as_deref(), "2")));
        let mixed: Vec<Erased> = vec![verifying().into(), sends("Number.Post").into()];
        let found = mismatched_exports(&mixed, &["verify"]);
        assert!(found.len() == 1 && found[0].contains("Number.Post"), "{found:?}");
        let reads = operator("Number.Read", |n: i64, _: &Context| Ok(Output::new(n)));
        assert!(mismatched_exports(&[verifying().into(), reads.into()], &["verify"]).is_empty());
        let change = types::StateChange::from(Change::new("number", "1", "update").version("1"));
        let finding = verify(&mixed, "Number.Send", change).unwrap();
        assert!(matches!(finding, wit_verify::Finding::Mismatch(found) if found.contains("recorded was \"1\"")));
    }

    #[test]
    fn mismatched_exports_are_reported() {
        assert!(mismatched_exports(&doubling_operators(), &["reconcile", "compensate"]).is_empty());
        let found = mismatched_exports(&doubling_operators(), &["reconcile", "verify"]);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
