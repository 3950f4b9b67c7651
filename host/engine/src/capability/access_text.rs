//! Texts for people about what the grants of a plugin open.

use http::Method;

use latchwork_core::model::manifest::OperatorSpec;
use latchwork_core::model::rules::Rules;
use latchwork_core::rules::policy;

use crate::capability::config_line::{byte_size, origin_text};
use crate::capability::grants::{Grants, HttpGrant, KvGrant};
use crate::guest::permissions::EffectClass;

/// Describes an HTTP grant: its methods, its address and its secrets.
pub fn http_access(grant: &HttpGrant) -> String {
    let mut text = format!("{} {}", names(&grant.methods), address(grant));
    if !grant.read_methods.is_empty() {
        text.push_str(&format!(", {} as a read", names(&grant.read_methods)));
    }
    if !grant.secrets.is_empty() {
        let places: Vec<_> = grant.secret_places.iter().map(ToString::to_string).collect();
        text.push_str(&format!(", with {} in {}", grant.secrets.join(", "), places.join(", ")));
    }
    text
}

/// Describes the grant of a key-value map: its name, its tenants and its quota.
pub fn map_access(grant: &KvGrant) -> String {
    let of = if grant.is_shared { "that all tenants share" } else { "of the job's tenant" };
    format!("the map {} {of}, at most {}", grant.name, byte_size(grant.bytes))
}

/// Describes in one line the accesses of operators whose calls need no approval. A call counts if one of the policies
/// lets one of its actors make the call in one of its modes without an approval.
pub fn ungated_access(operators: &[OperatorSpec], grants: &Grants, policies: &[Rules]) -> String {
    let is_ungated =
        |spec: &&OperatorSpec| policies.iter().any(|rules| policy::may_be_ungated(rules, &spec.name, &spec.effects));
    let ungated = operators.iter().filter(is_ungated).map(|spec| EffectClass::of(&spec.effects));
    let Some(strongest) = ungated.max() else { return "nothing, because each call needs one".to_owned() };
    let sends = strongest == EffectClass::External;
    let mut parts = Vec::new();
    for grant in &grants.http {
        let all = HttpGrant::DEFAULT_METHODS.iter().chain(&grant.methods).chain(&grant.read_methods);
        let mut methods: Vec<Method> = Vec::new();
        for method in all.filter(|method| if sends { grant.allows(method) } else { grant.reads_with(method) }) {
            if !methods.contains(method) {
                methods.push(method.clone());
            }
        }
        if !methods.is_empty() {
            parts.push(format!("{} {}", names(&methods), address(grant)));
        }
    }
    if sends {
        parts.extend(grants.tcp.iter().map(|grant| format!("tcp {}:{}", grant.host, grant.port)));
    }
    let writes = strongest >= EffectClass::Internal;
    for dir in &grants.dirs {
        let how = if writes && dir.write { "read and write" } else { "read" };
        parts.push(format!("{how} {}", dir.host.display()));
    }
    if let Some(grant) = &grants.kv {
        let how = if writes { "read and write" } else { "read" };
        parts.push(format!("{how} {}", map_access(grant)));
    }
    if parts.is_empty() { "nothing outside its call".to_owned() } else { parts.join("; ") }
}

fn names(methods: &[Method]) -> String {
    methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ")
}

fn address(grant: &HttpGrant) -> String {
    format!("{}{}", origin_text(&grant.origin), if grant.path == "/" { "" } else { &grant.path })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I232.
    #[test]
    fn access_to_a_map_names_its_tenants_and_its_quota() {
        let own = KvGrant::named("mail");
        assert_eq!(map_access(&own), "the map mail of the job's tenant, at most 16MiB");
        let shared = KvGrant { is_shared: true, bytes: 1_500, ..own };
        assert_eq!(map_access(&shared), "the map mail that all tenants share, at most 1500B");
    }
}
