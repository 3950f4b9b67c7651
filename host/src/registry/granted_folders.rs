//! Refuses grants of folders that hold files of the host or code of plugins, and of folders that another plugin could
//! replace.

use std::path::Path;

use latchwork_engine::PluginProblem;
use latchwork_engine::capability::grants::DirGrant;

use super::host_places::{self, RestrictedPlace};
use super::source_places;
use crate::config::{Config, RealPath};

/// Folders of the operating system. Their files are processes, devices and settings of the kernel.
const SYSTEM_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Files and folders that restrict the grants of folders.
pub(super) struct GrantedFolders {
    /// Files and folders of the host, and the code of plugins.
    places: Vec<RestrictedPlace>,
    /// Grants of all plugins.
    grants: Vec<GrantedFolder>,
}

struct GrantedFolder {
    plugin: String,
    real: RealPath,
    write: bool,
}

impl GrantedFolder {
    fn of(plugin: &str, dir: &DirGrant) -> Self {
        Self { plugin: plugin.to_owned(), real: RealPath::of(&dir.host), write: dir.write }
    }
}

impl GrantedFolders {
    pub(super) fn of(config: &Config) -> Self {
        let of_plugin = |plugin: &crate::config::PluginConfig| {
            plugin.grants.dirs.iter().map(|dir| GrantedFolder::of(&plugin.name, dir)).collect::<Vec<_>>()
        };
        let mut places = host_places::places(config);
        places.extend(source_places::places(config));
        Self { places, grants: config.plugins.iter().flat_map(of_plugin).collect() }
    }

    /// Returns the reasons why these folders cannot be granted.
    pub(super) fn problems(&self, dirs: &[DirGrant]) -> Vec<PluginProblem> {
        dirs.iter().filter_map(|dir| self.refusal(dir)).map(PluginProblem::GrantedFolder).collect()
    }

    fn refusal(&self, dir: &DirGrant) -> Option<String> {
        let real = RealPath::of(&dir.host);
        let displayed = match real.path == dir.host {
            true => dir.host.display().to_string(),
            false => format!("{} (a link to {})", dir.host.display(), real.path.display()),
        };
        let why = refusal_of_system(&real.path)
            .or_else(|| self.places.iter().find_map(|place| refusal_of_place(place, &real.path, dir.write)))
            .or_else(|| self.refusal_of_grants(&real, dir.write))?;
        Some(format!("its granted directory {displayed} {why}"))
    }

    /// Refuses a folder if a plugin with another folder, or with this folder, could replace one of the two by a link.
    fn refusal_of_grants(&self, real: &RealPath, write: bool) -> Option<String> {
        self.grants.iter().find_map(|other| {
            let (folder, plugin) = (other.real.path.display(), &other.plugin);
            let is_nested = other.real.path != real.path
                && (real.path.starts_with(&other.real.path) || other.real.path.starts_with(&real.path));
            if is_nested && (write || other.write) {
                let place = if real.path.starts_with(&other.real.path) { "lies inside" } else { "contains" };
                return Some(format!(
                    "{place} {folder}, which is granted to plugin {plugin:?}, and one of the two is writable, so the \
                     inner one could be replaced by a link; grant folders side by side"
                ));
            }
            let link = real.links.iter().find(|link| other.write && link.starts_with(&other.real.path))?;
            Some(format!(
                "leads through the link {}, which plugin {plugin:?} could replace, because {folder} is granted to it \
                 as writable; grant the folder by its own path",
                link.display()
            ))
        })
    }
}

/// Advice of a refusal: the folder to grant instead.
const OWN: &str = "grant a folder that only the plugin uses";

/// Refuses folders of the operating system.
fn refusal_of_system(real: &Path) -> Option<String> {
    if real.parent().is_none() {
        return Some(format!("is the whole file system; {OWN}"));
    }
    let system = SYSTEM_FOLDERS.iter().find(|system| real.starts_with(system))?;
    Some(format!("lies in {system}, whose files belong to the operating system; {OWN}"))
}

/// Refuses a folder that contains the place, or a link that leads to the place, or lies inside the place.
fn refusal_of_place(place: &RestrictedPlace, real: &Path, write: bool) -> Option<String> {
    if place.may_be_read && !write {
        return None;
    }
    let (what, path) = (&place.what, place.real.path.display());
    let example = match place.real.path == real {
        true => String::new(),
        false => format!(", such as {}", example(real)),
    };
    let own = format!("{OWN}{example}{}", if place.may_be_read { ", or remove `write`" } else { "" });
    if place.real.path.starts_with(real) {
        return Some(format!("contains the {what} {path}; {own}"));
    }
    if place.is_folder && real.starts_with(&place.real.path) {
        let own =
            if place.may_be_read { format!("{OWN}, outside of that folder, or remove `write`") } else { OWN.into() };
        return Some(format!("lies inside the {what} {path}; {own}"));
    }
    let link = place.real.links.iter().find(|link| write && link.starts_with(real))?;
    Some(format!("contains {}, a link that leads to the {what} {path}; {own}", link.display()))
}

/// Returns a folder that could be granted in place of `folder`.
fn example(folder: &Path) -> String {
    folder.join("outbox").display().to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::LoadOptions;

    fn granted(dir: &Path, grants: &[(&str, bool)], change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = Config::with_defaults(dir);
        config.file = Some(dir.join("latch.toml"));
        change(&mut config);
        let dirs: Vec<DirGrant> = grants
            .iter()
            .map(|(host, write)| DirGrant { host: dir.join(host), guest: "/d".into(), write: *write })
            .collect();
        let mut folders = GrantedFolders::of(&config);
        folders.grants = dirs.iter().map(|dir| GrantedFolder::of("p", dir)).collect();
        folders.problems(&dirs).iter().map(PluginProblem::to_string).collect()
    }

    fn assert_refused(found: &[String], says: &str) {
        assert!(found.len() == 1 && found[0].contains(says), "{says}: {found:?}");
    }

    /// I196: no grant opens the files of the host.
    #[test]
    fn folder_with_files_of_the_host_is_not_granted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        type Change = fn(&mut Config);
        let cases: [(&str, &str, Change); 10] = [
            (".", "contains the configuration file", |_| ()),
            ("..", "contains the configuration file", |_| ()),
            ("data", "contains the database", |config| {
                config.database = format!("sqlite://{}", config.root.join("data/latch.db").display());
            }),
            ("data", "contains the database", |config| {
                config.effect_store = Some(format!("sqlite://{}", config.root.join("data/effects.db").display()));
            }),
            ("data", "contains the state directory", |config| config.state_dir = config.root.join("data/state")),
            (".latch", "contains the state directory", |_| ()),
            (".latch/secrets", "lies inside the state directory", |_| ()),
            ("cache/x", "lies inside the cache directory", |config| {
                config.cache_dir = Some(config.root.join("cache"));
            }),
            ("state", "contains the directory of the cache's secret", |config| {
                config.cache_secret_dir = Some(config.root.join("state/latchwork"));
            }),
            ("tools", "contains the tools directory", |config| config.tools_dirs = vec![config.root.join("tools")]),
        ];
        for (folder, says, change) in cases {
            assert_refused(&granted(&root, &[(folder, false)], change), says);
        }
        for (folder, says) in [
            ("/", "is the whole file system"),
            ("/proc", "lies in /proc"),
            ("/proc/self/fd", "lies in /proc"),
            ("/sys/kernel", "lies in /sys"),
            ("/dev/shm", "lies in /dev"),
        ] {
            assert_refused(&granted(&root, &[(folder, false)], |_| ()), says);
        }
        assert_eq!(granted(&root, &[("outbox", true), ("notes", false)], |_| ()), Vec::<String>::new());
    }

    /// I196: a folder with files of the host is refused, even if the granted path leads to the folder through a link.
    #[test]
    fn link_to_files_of_the_host_is_not_granted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let outside = tempfile::tempdir().unwrap();
        symlink(&root, outside.path().join("link")).unwrap();
        let link = outside.path().join("link");
        let link = link.to_str().unwrap();
        assert_refused(&granted(&root, &[(link, false)], |_| ()), "a link to");
        let inner = format!("{link}/.latch/secrets");
        assert_refused(&granted(&root, &[(&inner, false)], |_| ()), "lies inside the state directory");
    }

    /// I196: a plugin with a writable folder could replace a folder inside it by a link.
    #[test]
    fn folder_inside_a_writable_folder_is_not_granted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (outer, inner) in [(true, false), (false, true), (true, true)] {
            let found = granted(&root, &[("data", outer), ("data/sub", inner)], |_| ());
            assert!(found.len() == 2 && found[0].contains("contains") && found[1].contains("lies inside"), "{found:?}");
        }
        for grants in
            [[("data", false), ("data/sub", false)], [("data", true), ("data", true)], [("a", true), ("ab", true)]]
        {
            assert_eq!(granted(&root, &grants, |_| ()), Vec::<String>::new(), "{grants:?}");
        }
    }

    /// Returns the refusals of all grants in this configuration, whose file lies in `project`.
    fn refusals(project: &Path, text: &str, variables: &[(&str, &Path)]) -> Vec<String> {
        std::fs::create_dir_all(project).unwrap();
        std::fs::write(project.join("latch.toml"), text).unwrap();
        let env = |name: &str| {
            let path = variables.iter().find(|(known, _)| *known == name)?.1;
            Some(path.to_str().unwrap().to_owned())
        };
        let options = LoadOptions { cwd: project, config: None, db: None, plan_folder: None, env: &env };
        let config = Config::load(&options).unwrap();
        let folders = GrantedFolders::of(&config);
        let of_plugin = |plugin: &crate::config::PluginConfig| folders.problems(&plugin.grants.dirs);
        config.plugins.iter().flat_map(of_plugin).map(|problem| problem.to_string()).collect()
    }

    fn plugin_with_folder(name: &str, source: &str, folder: &str, write: bool) -> String {
        format!(
            "[[plugin]]\nname = {name:?}\nsource = {source:?}\n\
             grants = {{ dirs = [{{ host = {folder:?}, guest = \"/d\", write = {write} }}] }}\n"
        )
    }

    /// I237: a project in the home directory has no cache of compiled code. The cache, the tools and the state that
    /// other projects of the user have cannot be granted there either.
    #[test]
    fn directories_of_the_user_are_not_granted_to_a_project_in_the_home_directory() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let (cache, tools) = (home.join("cache"), home.join("elsewhere"));
        let variables = [("HOME", &*home), ("XDG_CACHE_HOME", &*cache), ("LATCH_TOOLS_DIR", &*tools)];
        for (folder, says) in [
            (".cache", "contains the user's cache directory"),
            (".cache/latchwork/compiled", "lies inside the user's cache directory"),
            ("cache/latchwork/wasm-rust/current", "lies inside the tools directory"),
            ("cache", "contains the tools directory"),
            (".local", "contains the user's state directory"),
            (".local/state/latchwork/compiled", "lies inside the user's state directory"),
            ("elsewhere/x", "lies inside the tools directory"),
        ] {
            for write in [true, false] {
                let text = plugin_with_folder("p", "p.wasm", folder, write);
                assert_refused(&refusals(&home, &text, &variables), says);
            }
        }
        let inner = home.join("projects/x");
        for (folder, says) in [("../..", "contains the configuration file"), ("../../.cache", "user's cache directory")]
        {
            assert_refused(&refusals(&inner, &plugin_with_folder("p", "p.wasm", folder, false), &variables), says);
        }
        let outbox = plugin_with_folder("p", "p.wasm", "outbox", true);
        assert_eq!(refusals(&home, &outbox, &variables), Vec::<String>::new());
    }

    /// I237: a plugin that could replace a link to a place of the host could replace the place. Lock files lie beside
    /// the name of the database, even if the name is a link.
    #[test]
    fn links_to_places_of_the_host_and_lock_files_are_not_granted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (project, links) = (root.join("project"), root.join("links"));
        for folder in [&project, &links, &root.join("real"), &root.join("real/state")] {
            std::fs::create_dir(folder).unwrap();
        }
        symlink(root.join("real/latch.db"), links.join("latch.db")).unwrap();
        symlink(root.join("real/state"), links.join("state")).unwrap();
        let head =
            |database: &str| format!("database = \"sqlite://../links/{database}\"\nstate_dir = \"../links/state\"\n");
        for (folder, write, says) in [
            ("../real", false, "contains the database"),
            ("../links", false, "contains the directory of the database's locks"),
            ("../links/latch.db.owners", false, "contains the directory of the database's locks"),
            ("../links", true, "a link that leads to the database"),
            ("../real/state", false, "the state directory"),
        ] {
            let text = head("latch.db") + &plugin_with_folder("p", "p.wasm", folder, write);
            assert_refused(&refusals(&project, &text, &[]), says);
        }
        // The database is on a server, so `links` contains no lock files, only the link to the state directory.
        let server = |write| {
            let head = "database = \"postgres://db.example/x\"\nstate_dir = \"../links/state\"\n";
            refusals(&project, &(head.to_owned() + &plugin_with_folder("p", "p.wasm", "../links", write)), &[])
        };
        assert_refused(&server(true), "a link that leads to the state directory");
        assert_eq!(server(false), Vec::<String>::new());
    }

    /// I196: a plugin could replace the link through which a granted path leads, so that the plugin that has the path
    /// gets any other folder at the next start.
    #[test]
    fn folder_behind_a_link_in_a_writable_folder_is_not_granted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["data", "other"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        symlink("../other", root.join("data/link")).unwrap();
        assert_refused(&granted(&root, &[("data", true), ("data/link", false)], |_| ()), "leads through the link");
        assert_eq!(granted(&root, &[("data", false), ("data/link", true)], |_| ()), Vec::<String>::new());
        symlink(".", root.join("data/self")).unwrap();
        assert_refused(&granted(&root, &[("data/self", true)], |_| ()), "leads through the link");
    }

    /// I238: a plugin that can write the code of a plugin, or of the host, decides what is executed after the next
    /// start.
    #[test]
    fn code_is_not_granted_as_writable() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("project");
        std::fs::create_dir_all(root.join("mail/build")).unwrap();
        std::fs::create_dir_all(root.join("out")).unwrap();
        std::fs::write(root.join("mail/latch-plugin.toml"), "[plugin]\nname = \"mail\"\n").unwrap();
        std::fs::create_dir(root.join("code")).unwrap();
        std::fs::write(root.join("code/file.wasm"), "").unwrap();
        symlink(root.join("out/built.wasm"), root.join("mail/build/mail.wasm")).unwrap();
        let program = std::env::current_exe().unwrap();
        let programs = program.parent().unwrap().to_str().unwrap();
        let digest = format!("digest = \"sha256:{}\"\n", "0".repeat(64));
        for (folder, says) in [
            ("..", "contains the"),
            ("../mail", "contains the source of plugin \"code\""),
            ("../mail/src", "lies inside the source of plugin \"code\""),
            ("../out", "contains the source of plugin \"code\""),
            (programs, "contains the running program"),
        ] {
            for digest in ["", digest.as_str()] {
                let other = format!("[[plugin]]\nname = \"code\"\nsource = \"../mail\"\n{digest}");
                let text = |write| plugin_with_folder("p", "../elsewhere.wasm", folder, write) + &other;
                assert_refused(&refusals(&project, &text(true), &[]), says);
                let found = refusals(&project, &text(false), &[]);
                assert!(folder == ".." || found.is_empty(), "{folder}: {found:?}");
            }
        }
        for (source, folder, says) in [
            ("../code/file.wasm", "../code", "contains the source of plugin \"p\""),
            ("plugins/none.wasm", "plugins", "contains the source of plugin \"p\""),
            ("none", "none/out", "lies inside the source of plugin \"p\""),
        ] {
            assert_refused(&refusals(&project, &plugin_with_folder("p", source, folder, true), &[]), says);
        }
        let beside = plugin_with_folder("p", "../mail", "../outbox", true);
        assert_eq!(refusals(&project, &beside, &[]), Vec::<String>::new());
    }
}
