//! Resources that a component may reach: by class of imports, by grant, and by its configuration entry.

use serde_json::{Value, json};

use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::capability::access_text::{http_access, map_access};
use latchwork_engine::capability::grants::{DirGrant, Grants};
use latchwork_tooling::inspect::Reachability;

use crate::commands::plugin::inspect::inspection::Inspection;
use crate::plugins::ungated;

/// Classes of imports. Each entry has the name of the class and the prefixes of its imports.
const CLASSES: [(&str, &[&str]); 7] = [
    ("host", &["latchwork:plugin/"]),
    ("http", &["wasi:http/"]),
    ("sockets", &["wasi:sockets/"]),
    ("files", &["wasi:filesystem/"]),
    ("clocks and random", &["wasi:clocks/", "wasi:random/"]),
    ("plumbing", &["wasi:io/", "wasi:cli/"]),
    ("other", &[""]),
];

/// Grants. Each entry has the key of a grant, the prefix of the imports that the grant serves, and the resources that
/// the grant opens.
const GRANTS: [(&str, &str, &str); 6] = [
    ("http", "wasi:http/", "requests to the servers it names"),
    ("tcp", "wasi:sockets/", "connections to the addresses it names"),
    ("dirs", "wasi:filesystem/", "the directories it names, for reading or writing"),
    (
        "secrets",
        "latchwork:plugin/secrets",
        "placeholders of secrets, which a grant of http binds to a server and a header",
    ),
    ("secrets_clear", "latchwork:plugin/secrets", "the same secrets in clear, for code that has to compute with them"),
    ("kv", "latchwork:plugin/kv", "a map of its own under the name it gives"),
];

/// A grant and its effect on a component.
pub(super) struct GrantMatch<'a> {
    pub(super) key: &'static str,
    pub(super) opens: &'static str,
    /// Imports that the grant serves. If the list is empty, the grant opens nothing.
    pub(super) serves: Vec<&'a str>,
    /// True if any code reaches one of the imports in `serves`.
    pub(super) used: bool,
    /// True if the configured entry has the grant.
    pub(super) granted: bool,
}

pub(super) fn class(import: &str) -> &'static str {
    let class = CLASSES.iter().find(|(_, prefixes)| prefixes.iter().any(|prefix| import.starts_with(prefix)));
    class.expect("the last class takes everything").0
}

/// Returns the class names in display order.
pub(super) fn classes() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(class, _)| *class)
}

impl Inspection<'_> {
    /// Returns the effect of each grant. Steps have no grants.
    pub(super) fn grants(&self) -> Vec<GrantMatch<'_>> {
        if self.anatomy.nearest_world() == PluginKind::Step {
            return vec![];
        }
        let given = self.configured.map(|plugin| &plugin.grants);
        let granted = |key: &str| {
            given.is_some_and(|grants| match key {
                "http" => !grants.http.is_empty(),
                "tcp" => !grants.tcp.is_empty(),
                "dirs" => !grants.dirs.is_empty(),
                "secrets" => !grants.secret_names().is_empty(),
                "secrets_clear" => grants.secrets_clear,
                _ => grants.kv.is_some(),
            })
        };
        let opened = |(key, prefix, opens): &(&'static str, &str, &'static str)| {
            let serves: Vec<_> = self.imports.iter().filter(|(item, _)| item.name.starts_with(prefix)).collect();
            GrantMatch {
                key,
                opens,
                used: serves.iter().any(|(_, reach)| *reach != Reachability::Never),
                serves: serves.iter().map(|(item, _)| item.name.as_str()).collect(),
                granted: granted(key),
            }
        };
        GRANTS.iter().map(opened).collect()
    }

    /// Returns the lines that the entry in `latch.toml` must have for the component to be loaded.
    pub(super) fn needs(&self) -> Vec<String> {
        let mut needs = Vec::new();
        if self.anatomy.nearest_world() == PluginKind::Step {
            needs.extend(
                self.imports
                    .iter()
                    .any(|(item, _)| item.name.starts_with("wasi:"))
                    .then(|| "wasi = \"virtual\"".to_owned()),
            );
            return needs;
        }
        for (prefix, example) in
            [("wasi:http/", "http = [\"https://HOST:443\"]"), ("wasi:sockets/", "tcp = [\"HOST:PORT\"]")]
        {
            if self.imports.iter().any(|(item, _)| item.name.starts_with(prefix)) {
                needs.push(format!("grants.{example}"));
            }
        }
        needs
    }

    /// Returns a description of everything that the operators of a configured tool could do in a job without an
    /// approval.
    pub(super) fn without_approval(&self) -> Option<String> {
        let (plugin, configured) = (self.plugin()?, self.configured?);
        ungated::without_approval(self.config, plugin, &configured.grants)
    }

    /// Returns the resources that the component may reach, and the resources that it may not reach.
    pub(super) fn reachable(&self) -> (Vec<String>, Vec<String>) {
        match self.anatomy.fitting_world() {
            Some(PluginKind::Tool) => match self.configured {
                Some(plugin) => granted_resources(&plugin.grants),
                None => (vec!["nothing: no [[plugin]] in latch.toml has it as its source".into()], vec![]),
            },
            Some(PluginKind::Step) => (
                [
                    Some("its input, the injected clock and random numbers, and tools through the ledger"),
                    self.has_wasi().then_some("a WASI that answers from those and logs what is written"),
                ]
                .map(|what| what.map(str::to_owned))
                .into_iter()
                .flatten()
                .collect(),
                vec!["network, files, environment, the machine's clock and entropy, earlier runs' memory".into()],
            ),
            None => (vec![], vec!["anything: it is not loaded".into()]),
        }
    }
}

/// Returns a path to an import as JSON.
pub(super) fn reach_json(reach: &Reachability) -> Value {
    match reach {
        Reachability::Path { export, frames } => {
            let frames: Vec<_> = frames
                .iter()
                .map(|frame| json!({ "function": frame.function, "through_table": frame.through_table, "named": frame.named }))
                .collect();
            json!({ "how": "path", "export": export, "frames": frames })
        }
        Reachability::Never => json!({ "how": "never" }),
        Reachability::Unknown(why) => json!({ "how": "unknown", "why": why }),
    }
}

fn granted_resources(grants: &Grants) -> (Vec<String>, Vec<String>) {
    let (mut may, mut may_not) = (vec![], vec![]);
    let mut class = |all: Vec<String>, none: &str| match all.is_empty() {
        true => may_not.push(none.to_owned()),
        false => may.extend(all),
    };
    class(grants.http.iter().map(http_access).collect(), "any HTTP server");
    class(grants.tcp.iter().map(|g| format!("tcp {}:{}", g.host, g.port)).collect(), "any TCP address");
    let dir = |g: &DirGrant| {
        let how = if g.write { "read and write" } else { "read" };
        format!("{how} {} (as {})", g.host.display(), g.guest)
    };
    class(grants.dirs.iter().map(dir).collect(), "any file");
    let how = if grants.secrets_clear { "in clear" } else { "as a placeholder" };
    class(grants.secret_names().into_iter().map(|name| format!("secret {name} {how}")).collect(), "any secret");
    class(grants.kv.iter().map(map_access).collect(), "any stored map");
    may_not.push("the environment, other plugins, and whatever is not listed above".to_owned());
    (may, may_not)
}
