//! Refuses grants of folders that hold files of the host, and of folders that another plugin could replace.

use std::path::{Path, PathBuf};

use latchwork_engine::Problem;
use latchwork_engine::capability::grants::DirGrant;

use crate::config::{Config, real_path};

/// Folders of the operating system. Their files are processes, devices and settings of the kernel.
const SYSTEM_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Files and folders that restrict the grants of folders. All paths are without links.
pub(super) struct GrantedFolders {
    /// Files of the host, each with its name. A granted folder must not contain any of these files.
    files: Vec<(&'static str, PathBuf)>,
    /// Folders of the host, each with its name. A granted folder must not contain, or lie inside, any of these folders.
    folders: Vec<(&'static str, PathBuf)>,
    /// Grants of all plugins.
    grants: Vec<GrantedFolder>,
}

struct GrantedFolder {
    plugin: String,
    real: PathBuf,
    write: bool,
}

impl GrantedFolders {
    pub(super) fn of(config: &Config) -> Self {
        let mut files: Vec<(&str, PathBuf)> = Vec::new();
        files.extend(config.file.clone().map(|file| ("configuration file", file)));
        let databases = [Some(&config.database), config.effect_store.as_ref()];
        let path = |url: &String| url.strip_prefix("sqlite://").map(PathBuf::from);
        files.extend(databases.into_iter().flatten().filter_map(path).map(|file| ("database", file)));
        let mut folders = vec![("state directory", config.state_dir.clone())];
        folders.extend(config.cache_dir.clone().map(|dir| ("cache directory", dir)));
        folders.extend(config.cache_secret_dir.clone().map(|dir| ("directory of the cache's secret", dir)));
        folders.extend(config.tools_dirs.iter().map(|dir| ("tools directory", dir.clone())));
        let real = |places: Vec<(&'static str, PathBuf)>| {
            places.into_iter().map(|(what, path)| (what, real_path(&path))).collect()
        };
        let of_plugin = |plugin: &crate::config::PluginConfig| {
            let grant = |dir: &DirGrant| GrantedFolder {
                plugin: plugin.name.clone(),
                real: real_path(&dir.host),
                write: dir.write,
            };
            plugin.grants.dirs.iter().map(grant).collect::<Vec<_>>()
        };
        let grants = config.plugins.iter().flat_map(of_plugin).collect();
        Self { files: real(files), folders: real(folders), grants }
    }

    /// Returns the reasons why these folders cannot be granted.
    pub(super) fn problems(&self, dirs: &[DirGrant]) -> Vec<Problem> {
        dirs.iter().filter_map(|dir| self.refusal(dir)).map(Problem::GrantedFolder).collect()
    }

    fn refusal(&self, dir: &DirGrant) -> Option<String> {
        let real = real_path(&dir.host);
        let shown = match real == dir.host {
            true => dir.host.display().to_string(),
            false => format!("{} (a link to {})", dir.host.display(), real.display()),
        };
        let refuse = |why: String| Some(format!("its granted directory {shown} {why}"));
        let own = "grant a folder that only the plugin uses";
        if real.parent().is_none() {
            return refuse(format!("is the whole file system; {own}"));
        }
        if let Some(system) = SYSTEM_FOLDERS.iter().find(|system| real.starts_with(system)) {
            return refuse(format!("lies in {system}, whose files belong to the operating system; {own}"));
        }
        let contained = self.files.iter().chain(&self.folders).find(|(_, place)| place.starts_with(&real));
        if let Some((what, place)) = contained {
            return refuse(format!("contains the {what} {}; {own}, such as {}", place.display(), example(&real)));
        }
        if let Some((what, place)) = self.folders.iter().find(|(_, place)| real.starts_with(place)) {
            return refuse(format!("lies inside the {what} {}; {own}", place.display()));
        }
        let is_nested = |other: &&GrantedFolder| {
            (dir.write || other.write)
                && other.real != real
                && (real.starts_with(&other.real) || other.real.starts_with(&real))
        };
        let other = self.grants.iter().find(is_nested)?;
        let place = if real.starts_with(&other.real) { "lies inside" } else { "contains" };
        refuse(format!(
            "{place} {}, which is granted to plugin {:?}, and one of the two is writable, so the inner one could be \
             replaced by a link; grant folders side by side",
            other.real.display(),
            other.plugin
        ))
    }
}

/// Returns a folder that could be granted in place of `folder`.
fn example(folder: &Path) -> String {
    folder.join("outbox").display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(dir: &Path, grants: &[(&str, bool)], change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = Config::with_defaults(dir);
        config.file = Some(dir.join("latch.toml"));
        change(&mut config);
        let dirs: Vec<DirGrant> = grants
            .iter()
            .map(|(host, write)| DirGrant { host: dir.join(host), guest: "/d".into(), write: *write })
            .collect();
        let mut folders = GrantedFolders::of(&config);
        let grant =
            |dir: &DirGrant| GrantedFolder { plugin: "p".to_owned(), real: real_path(&dir.host), write: dir.write };
        folders.grants = dirs.iter().map(grant).collect();
        folders.problems(&dirs).iter().map(Problem::to_string).collect()
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
        std::os::unix::fs::symlink(&root, outside.path().join("link")).unwrap();
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
}
