//! Locates and reads the component of a plugin.

use std::io::Read;
use std::path::{Path, PathBuf};

use latchwork_engine::PluginProblem;
use latchwork_engine::capability::grants::DirGrant;

use crate::located_toml::TomlProblems;

/// Recipe file of a plugin that is built from source.
const RECIPE: &str = "latch-plugin.toml";

/// Returns the file of the component: the source itself or, if the source is a directory, the build output of `latch
/// plugin build` in the directory.
pub(super) fn component_file(source: &Path) -> Result<PathBuf, PluginProblem> {
    if !source.is_dir() {
        return Ok(source.to_owned());
    }
    let displayed = source.display();
    let recipe = source.join(RECIPE);
    let text = std::fs::read_to_string(&recipe).map_err(|error| {
        PluginProblem::Source(format!(
            "its source {displayed} is a directory, and {} cannot be read: {error}",
            recipe.display()
        ))
    })?;
    let name = plugin_name(&text).map_err(|wrong| PluginProblem::Source(format!("{}: {wrong}", recipe.display())))?;
    Ok(source.join("build").join(format!("{name}.wasm")))
}

/// Reads the component of a source. Reads at most one byte more than `bytes_max`, the maximum size of the component.
pub(super) fn read(source: &Path, bytes_max: u64) -> Result<Vec<u8>, PluginProblem> {
    let displayed = source.display();
    let file = component_file(source)?;
    read_file(&file, bytes_max).map_err(|error| match error.kind() {
        _ if file == source => PluginProblem::Source(format!(
            "its source {displayed} cannot be read: {error}; check `source` in latch.toml"
        )),
        std::io::ErrorKind::NotFound => PluginProblem::Source(format!(
            "it is not built: {} is missing; run: latch plugin build {displayed}",
            file.display()
        )),
        _ => PluginProblem::Source(format!("{} cannot be read: {error}", file.display())),
    })
}

/// Reads at most one byte more than `bytes_max` of a file. A component from which the additional byte was read is too
/// large, and the later check of the size refuses it.
fn read_file(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a problem for each granted read-only directory that does not exist.
pub(super) fn missing_dirs(dirs: &[DirGrant]) -> Vec<PluginProblem> {
    let missing = dirs.iter().filter(|dir| !dir.write && !dir.host.is_dir());
    let problem = |dir: &DirGrant| {
        PluginProblem::Source(format!("its granted directory {} does not exist; create it", dir.host.display()))
    };
    missing.map(problem).collect()
}

/// Creates granted writable directories before a call needs them, and checks that granted read-only
/// directories exist.
pub(super) fn prepare_dirs(dirs: &[DirGrant]) -> Result<(), Vec<PluginProblem>> {
    let mut problems = Vec::new();
    for dir in dirs {
        let displayed = dir.host.display();
        let made = if dir.write { std::fs::create_dir_all(&dir.host) } else { Ok(()) };
        let problem = match made {
            Err(error) => Some(PluginProblem::unwritable(
                format!("its granted directory {displayed} cannot be created: {error}"),
                &error,
            )),
            Ok(()) if !dir.host.is_dir() => {
                Some(PluginProblem::Source(format!("its granted directory {displayed} does not exist; create it")))
            }
            Ok(()) => None,
        };
        problems.extend(problem);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Reads `name` from the table `[plugin]` of a recipe. The name must be a valid file name.
fn plugin_name(recipe: &str) -> Result<String, String> {
    let problems = TomlProblems::new(recipe);
    let document = problems.parse();
    let plugin = document.get_ref().get("plugin").and_then(|plugin| plugin.get_ref().as_table());
    let name = plugin.and_then(|plugin| plugin.get("name")?.get_ref().as_str());
    if let Some(problem) = problems.into_list().into_iter().next() {
        return Err(problem.message);
    }
    match name {
        Some(name) if !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.') => Ok(name.to_owned()),
        Some(name) => Err(format!("[plugin] name {name:?} is not a file name")),
        None => Err("[plugin] has no `name`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sources_name_the_fix() {
        let dir = tempfile::tempdir().unwrap();
        let read = || read(dir.path(), u64::MAX);
        assert!(read().unwrap_err().to_string().contains(RECIPE));
        std::fs::write(dir.path().join(RECIPE), "[plugin]\nname = \"../x\"").unwrap();
        assert!(read().unwrap_err().to_string().contains("not a file name"));
        std::fs::write(dir.path().join(RECIPE), "[plugin]\nname = \"mail\"").unwrap();
        assert!(read().unwrap_err().to_string().contains("latch plugin build"));
        std::fs::create_dir(dir.path().join("build")).unwrap();
        std::fs::write(dir.path().join("build/mail.wasm"), "x").unwrap();
        assert_eq!(read().unwrap(), b"x");
        assert!(super::read(&dir.path().join("none.wasm"), u64::MAX).unwrap_err().to_string().contains("`source`"));
    }

    #[test]
    fn writable_directories_are_created_and_others_required() {
        let dir = tempfile::tempdir().unwrap();
        let grant = |name: &str, write| DirGrant { host: dir.path().join(name), guest: "/x".into(), write };
        prepare_dirs(&[grant("out/box", true)]).unwrap();
        assert!(dir.path().join("out/box").is_dir());
        assert_eq!(prepare_dirs(&[grant("in", false), grant("also", false)]).unwrap_err().len(), 2);
    }
}
