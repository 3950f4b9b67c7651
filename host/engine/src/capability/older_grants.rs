//! Converts grants from the time before methods, reads and bound secrets existed into their present form.

use latchwork_core::model::manifest::{Determinism, OperatorSpec};

use crate::capability::grant::may_carry_secrets;
use crate::capability::grants::{Grants, HeaderName, HttpGrant, Method, SecretPlace};
use crate::guest::permissions::EffectClass;

/// Returns grants that allow these operators everything that a grant of an address alone allowed in earlier versions.
/// Returns `None` if the present rules take nothing away.
///
/// An address alone allowed every method to operators that change the world, and `POST` to operators that are declared
/// `stable`. A named secret was inserted into every request.
pub fn present_form(grants: &Grants, operators: &[OperatorSpec]) -> Option<Grants> {
    let sends = operators.iter().any(|spec| EffectClass::of(&spec.effects) == EffectClass::External);
    let asks = operators.iter().any(|spec| !spec.is_world_changing() && spec.determinism == Determinism::Stable);
    let unbound = if grants.secrets_clear { vec![] } else { grants.secrets.clone() };
    let mut present = grants.clone();
    let mut is_bound = false;
    for grant in present.http.iter_mut().filter(|grant| grant.is_address_only) {
        let secrets = if may_carry_secrets(&grant.origin) { unbound.clone() } else { vec![] };
        if !sends && !asks && secrets.is_empty() {
            continue;
        }
        is_bound |= !secrets.is_empty();
        let written = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        let places = vec![SecretPlace::Header(HeaderName::from_static("authorization"))];
        *grant = HttpGrant {
            methods: HttpGrant::DEFAULT_METHODS.into_iter().chain(written.into_iter().filter(|_| sends)).collect(),
            read_methods: if asks { vec![Method::POST] } else { vec![] },
            secret_places: if secrets.is_empty() { vec![] } else { places },
            secrets,
            is_address_only: false,
            ..grant.clone()
        };
    }
    if is_bound {
        present.secrets.clear();
    }
    (present != *grants).then_some(present)
}

/// Returns the operators whose strongest effect is `internal-write`, if the grants of the plugin let such operators
/// change other systems in earlier versions. Otherwise the list is empty.
pub fn operators_without_external_effect<'o>(grants: &Grants, operators: &'o [OperatorSpec]) -> Vec<&'o OperatorSpec> {
    let could_send = !grants.tcp.is_empty() || grants.http.iter().any(|grant| grant.is_address_only);
    let is_internal = |spec: &&OperatorSpec| could_send && EffectClass::of(&spec.effects) == EffectClass::Internal;
    operators.iter().filter(is_internal).collect()
}

#[cfg(test)]
mod tests {
    use latchwork_core::model::ids::Operator;
    use latchwork_core::model::manifest::EffectKind;

    use super::*;
    use crate::capability::config_line::config_line;
    use crate::capability::grants::Origin;

    fn operator(effect: EffectKind, determinism: Determinism) -> OperatorSpec {
        OperatorSpec {
            name: Operator::new("A"),
            description: String::new(),
            input_schema: String::new(),
            output_schema: String::new(),
            effects: vec![effect],
            determinism,
            outcome_type: None,
            outcome_status: None,
            resolution: Default::default(),
            limits: Default::default(),
        }
    }

    /// I199. Each older grant has its line in the present form, and grants of the present form have none.
    #[test]
    fn older_grants_are_displayed_in_their_present_form() {
        let origin = |scheme: &str| Origin { scheme: scheme.into(), host: "a.example".into(), port: 443 };
        let short = Grants { http: vec![HttpGrant::read_only(origin("https"))], ..Grants::default() };
        let reads = operator(EffectKind::ReadOnly, Determinism::External);
        let sends = operator(EffectKind::ExternalSend, Determinism::External);
        let keeps = operator(EffectKind::InternalWrite, Determinism::External);
        let asks = operator(EffectKind::ProduceOutcome, Determinism::Stable);
        let line =
            |grants: &Grants, operators: &[OperatorSpec]| present_form(grants, operators).map(|g| config_line(&g));
        assert_eq!(line(&short, &[reads.clone(), keeps.clone()]), None);
        assert_eq!(operators_without_external_effect(&short, &[keeps.clone(), sends.clone()]), [&keeps]);
        assert!(operators_without_external_effect(&Grants::default(), &[keeps]).is_empty());
        let sent = r#"methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]"#;
        let wanted = format!(r#"grants = {{ http = [{{ url = "https://a.example:443", {sent} }}] }}"#);
        assert_eq!(line(&short, &[reads.clone(), sends.clone()]), Some(wanted));
        let secret = Grants { secrets: vec!["KEY".into()], ..short.clone() };
        let wanted = r#"grants = { http = [{ url = "https://a.example:443", methods = ["GET", "HEAD"], read_methods = ["POST"], secrets = ["KEY"], in = ["header:authorization"] }] }"#;
        assert_eq!(line(&secret, &[asks]).as_deref(), Some(wanted));
        let present = present_form(&secret, std::slice::from_ref(&sends)).unwrap();
        assert_eq!(line(&present, &[sends]), None);
        let clear = Grants { secrets_clear: true, ..secret };
        assert_eq!(line(&clear, std::slice::from_ref(&reads)), None);
        let unencrypted =
            Grants { http: vec![HttpGrant::read_only(origin("http"))], secrets: vec!["KEY".into()], ..short };
        assert_eq!(line(&unencrypted, &[reads]), None);
    }
}
