//! Decides which imports a plugin may have.

use latchwork_core::model::manifest::{PluginKind, WasiMode};

use crate::capability::grant;
use crate::capability::grants::Grants;
use crate::interfaces::package::{PACKAGE, VERSION};
use crate::interfaces::virtual_wasi;

const STEP_IMPORTS: [&str; 7] = ["types", "context", "clock", "rng", "tools", "events", "log"];
const TOOL_IMPORTS: [&str; 7] = ["types", "context", "invocation", "log", "kv", "secrets", "config"];

/// Hint for a refused import of WASI. The hint names the setting with which a step may import WASI.
const VIRTUAL_WASI_HINT: &str = "wasi = \"virtual\" in its [[plugin]], for a deterministic WASI";

/// Returns the reason why a plugin of this kind may not have the import, with the alternative to use. Returns
/// `None` if the import is allowed.
pub fn import_refusal(kind: PluginKind, import: &str, grants: &Grants, wasi: WasiMode) -> Option<String> {
    if let Some(name) = import.strip_prefix(PACKAGE) {
        let (allowed, other) = match kind {
            PluginKind::Step => (&STEP_IMPORTS, &TOOL_IMPORTS),
            PluginKind::Tool => (&TOOL_IMPORTS, &STEP_IMPORTS),
        };
        return match name.split_once('@') {
            Some((interface, "0.1.0")) if allowed.contains(&interface) => None,
            Some((interface, "0.1.0")) if other.contains(&interface) => Some(other_world_hint(kind, interface)),
            _ => Some(format!("this host only serves {PACKAGE}*{VERSION}; build against that version")),
        };
    }
    let interface = import.split('@').next().unwrap_or(import);
    match kind {
        PluginKind::Step => match (virtual_wasi::serves(import), wasi) {
            (true, WasiMode::Virtual) => None,
            (true, WasiMode::None) => Some(format!("{}; or set {VIRTUAL_WASI_HINT}", step_alternative(interface))),
            (false, _) => Some(step_alternative(interface).to_owned()),
        },
        PluginKind::Tool if !is_wasi_0_2(import) => {
            Some("a tool may only import latchwork:plugin and WASI 0.2".to_owned())
        }
        PluginKind::Tool => grant::refuse_import(interface, grants),
    }
}

fn is_wasi_0_2(import: &str) -> bool {
    import.starts_with("wasi:") && import.split_once('@').is_some_and(|(_, version)| version.starts_with("0.2."))
}

fn other_world_hint(kind: PluginKind, interface: &str) -> String {
    match (kind, interface) {
        (PluginKind::Step, "invocation") => {
            "it distinguishes attempts, which a step must not; use latchwork:plugin/context".to_owned()
        }
        (PluginKind::Step, "kv") => {
            "a step keeps no data; pass the data in its input, or call a tool through latchwork:plugin/tools".to_owned()
        }
        (PluginKind::Step, "config") => "a step gets its settings in its input".to_owned(),
        (PluginKind::Step, _) => "only a tool may import it; call one through latchwork:plugin/tools".to_owned(),
        (PluginKind::Tool, "clock") => "a tool uses wasi:clocks".to_owned(),
        (PluginKind::Tool, "rng") => "a tool uses wasi:random".to_owned(),
        (PluginKind::Tool, "tools") => "a tool cannot call another tool; let a step call both".to_owned(),
        (PluginKind::Tool, _) => "only a step may import it".to_owned(),
    }
}

/// Returns the alternative to an import that depends on the machine, as advice for the author of a step.
fn step_alternative(interface: &str) -> &'static str {
    let package = interface.split('/').next().unwrap_or(interface);
    match (package, interface) {
        ("wasi:clocks", _) => "use latchwork:plugin/clock, the injected clock; a step cannot wait",
        ("wasi:random", _) => "use latchwork:plugin/rng, the injected generator",
        ("wasi:filesystem", _) => {
            "a step has no files; take the content in the input, \
             or call a tool with a directory grant through latchwork:plugin/tools"
        }
        ("wasi:sockets", _) => "a step has no network; call a tool with a tcp grant through latchwork:plugin/tools",
        ("wasi:http", _) => "a step has no network; call a tool with an http grant through latchwork:plugin/tools",
        (_, "wasi:cli/environment") => "a step has no environment; take settings in the input",
        (_, "wasi:cli/exit") => "a step does not exit; return an error",
        (_, "wasi:cli/stdout" | "wasi:cli/stderr") => "write records through latchwork:plugin/log",
        ("wasi:cli", _) => "a step has no terminal; it takes an input and returns an output",
        ("wasi:io", _) => "it comes with the other wasi imports; build without them",
        ("wasi_snapshot_preview1", _) => "build for a target without WASI, such as wasm32-unknown-unknown",
        _ => "a step imports latchwork:plugin/{types,context,clock,rng,tools,events,log} and nothing else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interfaces::package::interface_name;

    #[test]
    fn refused_step_import_names_the_alternative() {
        let none = Grants::default();
        let refused = |import: &str| import_refusal(PluginKind::Step, import, &none, WasiMode::None);
        for interface in STEP_IMPORTS {
            assert_eq!(refused(&interface_name(interface)), None);
        }
        assert!(refused("wasi:clocks/monotonic-clock@0.2.6").unwrap().contains("latchwork:plugin/clock"));
        assert!(refused("wasi:sockets/tcp@0.2.6").unwrap().contains("tcp grant"));
        assert!(refused("latchwork:plugin/invocation@0.1.0").unwrap().contains("attempts"));
        assert!(refused("latchwork:plugin/clock@0.2.0").unwrap().contains("@0.1.0"));
        assert!(refused("env").is_some());
        // The message names virtual WASI only if virtual WASI would provide the import.
        assert!(refused("wasi:clocks/monotonic-clock@0.2.6").unwrap().contains("wasi = \"virtual\""));
        assert!(!refused("wasi:http/incoming-handler@0.2.6").unwrap().contains("virtual"));
    }

    #[test]
    fn virtual_wasi_serves_exactly_the_wasi_0_2_releases() {
        let none = Grants::default();
        let refused = |import: &str| import_refusal(PluginKind::Step, import, &none, WasiMode::Virtual);
        for import in [
            "wasi:clocks/wall-clock@0.2.0",
            "wasi:io/poll@0.2.6",
            "wasi:cli/exit@0.2.9",
            "wasi:sockets/tcp@0.2.12",
            "wasi:http/types@0.2.10",
            "wasi:filesystem/types@0.2.3",
        ] {
            assert_eq!(refused(import), None, "{import}");
        }
        for import in [
            "wasi:clocks/wall-clock@0.3.0",
            "wasi:clocks/wall-clock@0.2.0-rc-2023-11-10",
            "wasi:clocks/wall-clock",
            "wasi:clocks/timezone@0.2.12",
            "wasi:http/incoming-handler@0.2.12",
            "wasi:cli/run@0.2.12",
            "wasi:keyvalue/store@0.2.0",
            "wasi_snapshot_preview1",
            "latchwork:plugin/kv@0.1.0",
        ] {
            assert!(refused(import).is_some(), "{import}");
        }
    }

    #[test]
    fn tool_imports_depend_on_grants() {
        let none = Grants::default();
        let refused = |import: &str| import_refusal(PluginKind::Tool, import, &none, WasiMode::None);
        assert_eq!(refused("wasi:clocks/wall-clock@0.2.6"), None);
        assert_eq!(refused("wasi:cli/environment@0.2.6"), None);
        assert!(refused("wasi:http/outgoing-handler@0.2.6").unwrap().contains("grants = { http"));
        assert!(refused("wasi:sockets/tcp@0.2.6").unwrap().contains("grants = { tcp"));
        assert!(refused("wasi:clocks/wall-clock@0.3.0").is_some());
        assert!(refused(&interface_name("tools")).unwrap().contains("step"));
    }
}
