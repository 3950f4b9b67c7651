//! Grants that a component needs to be linked.

use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::capability::grants::{Grants, HttpGrant, Origin, TcpGrant};
use latchwork_tooling::inspect::ComponentInfo;

/// Returns the grants that are necessary to link the imports of a tool. The addresses in these grants do not exist.
pub(crate) fn grants_needed(anatomy: &ComponentInfo) -> Grants {
    let mut grants = Grants::default();
    if anatomy.nearest_world() == PluginKind::Tool {
        let imports = anatomy.imports();
        let has = |prefix: &str| imports.iter().any(|item| item.name.starts_with(prefix));
        let (http, tcp) = example_grants();
        grants.http.extend(has("wasi:http/").then_some(http));
        grants.tcp.extend(has("wasi:sockets/").then_some(tcp));
    }
    grants
}

/// Returns example grants with addresses that do not exist, for a component that needs a grant to be linked.
fn example_grants() -> (HttpGrant, TcpGrant) {
    let host = "host.invalid".to_owned();
    let origin = Origin { scheme: "https".into(), host: host.clone(), port: 443 };
    (HttpGrant::read_only(origin), TcpGrant { host, port: 443 })
}
