//! Variables for the commands of a page. The variables name prepared projects and servers. A project or server is
//! prepared only for the pages that name it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::block::ShellBlock;
use crate::support::plugins::sdk_tools as sdk;
use crate::support::servers::llm_provider::Provider;
use crate::support::servers::postgres::server::Server;
use crate::support::test_env::build_plugin;
use crate::support::{checkout, program};

/// Plugins in Rust that pages use from the folder of `DOCS_CHECKOUT`.
const RUST_PLUGINS: [&str; 7] = [
    "bench-rust",
    "bench-tool-rust",
    "files-rust",
    "funding-rust",
    "llm-openai-rust",
    "mail-maildir-rust",
    "requests-rust",
];

/// Variables of a page, and the server that they name.
pub(super) struct PageEnvironment {
    pub(super) variables: BTreeMap<&'static str, OsString>,
    _server: Option<Server>,
}

impl PageEnvironment {
    /// Prepares the projects and servers that the blocks name. Prints a message and returns `None` if the blocks need
    /// PostgreSQL and this machine has none.
    ///
    /// | name in the blocks | value |
    /// |---|---|
    /// | `$DOCS_NOTES` | folder of the project of `latch plugin new notes --lang js --kind tool`, built |
    /// | `$DOCS_HELLO` | folder of the project of `latch init hello --lang js`, built |
    /// | `$DOCS_CHECKOUT` | a checkout whose plugins in Rust are built |
    /// | `$DOCS_MODEL` | address of a server that answers like a provider of models |
    /// | `postgres://` | `PGHOST`, `PGPORT` and `PGUSER` name a server and its superuser |
    pub(super) fn of(blocks: &[ShellBlock]) -> Option<PageEnvironment> {
        let is_named = |name: &str| blocks.iter().any(|block| block.is_run() && block.text.contains(name));
        let mut variables = BTreeMap::from([
            ("PATH", program::search_path()),
            ("LATCH_TOOLS_DIR", sdk::tools_dir().into_os_string()),
            // Pages show this user as the actor of their commands.
            ("USER", "ada".into()),
            ("LOGNAME", "ada".into()),
        ]);
        if is_named("$DOCS_NOTES") {
            variables.insert("DOCS_NOTES", notes_project().into());
        }
        if is_named("$DOCS_HELLO") {
            variables.insert("DOCS_HELLO", hello_project().into());
        }
        if is_named("$DOCS_CHECKOUT") {
            let copy = checkout::copy();
            for plugin in RUST_PLUGINS {
                build_plugin(&copy.join("example-plugins").join(plugin));
            }
            variables.insert("DOCS_CHECKOUT", copy.into());
        }
        if is_named("$DOCS_MODEL") {
            let address = format!("http://127.0.0.1:{}", Provider::start(Vec::new()).port);
            variables.insert("DOCS_MODEL", address.into());
        }
        let mut server = None;
        if is_named("postgres://") {
            // The kernel chooses a free port and does not assign it again soon, so the server can use this port.
            let port =
                TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
            let settings = [format!("port={port}"), "listen_addresses=localhost".to_owned()];
            // The superuser is not `latch`, because the pages create the user `latch`.
            let made = ["--username=postgres"];
            server = Some(Server::start_in(Path::new("/tmp"), &made, &settings.each_ref().map(String::as_str))?);
            let address =
                [("PGHOST", "localhost".to_owned()), ("PGPORT", port.to_string()), ("PGUSER", "postgres".to_owned())];
            variables.extend(address.map(|(name, value)| (name, value.into())));
        }
        Some(PageEnvironment { variables, _server: server })
    }
}

/// Returns the project `notes`, made once for all pages.
fn notes_project() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| built("notes", &["plugin", "new", "notes", "--lang", "js", "--kind", "tool"]))
}

/// Returns the project `hello`, made once for all pages.
fn hello_project() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| built("hello", &["init", "hello", "--lang", "js"]))
}

/// Makes the project `name` with this command and builds it.
fn built(name: &str, make: &[&str]) -> PathBuf {
    let parent = program::target_dir().join("docs-projects");
    let folder = parent.join(name);
    std::fs::create_dir_all(&parent).expect("the target folder is writable");
    // Removes the project of an earlier run, because it may come from older templates. An error means that there is no
    // such project.
    let _ = std::fs::remove_dir_all(&folder);
    for (folder, args) in [(&parent, make), (&folder, &["plugin", "build"])] {
        let ran = program::run_latch(folder, args);
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    }
    // Compiles the plugin, so that pages use the compiled code.
    let listed = program::run_latch(&folder, &["plugin", "list"]);
    assert_eq!(listed.code, 0, "{} {}", listed.stdout, listed.stderr);
    folder
}
