//! Builds of foreign projects. A project must not read the secrets of the environment, and must not replace files that
//! the build uses.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::sdk::locked_versions::{build_with_wheels, write_wheel};
use crate::support::plugins::sdk_tools::{latch_command, run_latch};
use crate::support::program::command_output;

/// Creates the project `x` in a new folder.
fn new_project(lang: &str) -> tempfile::TempDir {
    let parent = tempfile::tempdir().unwrap();
    let new = run_latch(parent.path(), &["plugin", "new", "x", "--lang", lang, "--kind", "step"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    parent
}

/// Writes an executable shell script. Another process writes the file, because a file that this process has open for
/// writing cannot be started.
fn write_script(path: &Path, text: &str) {
    let mut write = Command::new("sh");
    write.args(["-c", "printf '%s' \"$1\" >\"$2\" && chmod +x \"$2\"", "sh", text]).arg(path);
    assert!(write.status().unwrap().success());
}

/// I203.
#[test]
fn secrets_of_the_environment_do_not_reach_programs_of_a_build() {
    let parent = new_project("rust");
    let (programs, seen) = (parent.path().join("bin"), parent.path().join("seen"));
    std::fs::create_dir(&programs).unwrap();
    write_script(&programs.join("cargo"), &format!("#!/bin/sh\nenv >>'{}'\nexit 1\n", seen.display()));
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut build = latch_command(parent.path(), &["plugin", "build", "x", "--json"]);
    build.env("PATH", path.unwrap()).env("LATCH_SECRET_KEY", "hunter2-hunter2").env("PGPASSWORD", "hunter2-hunter2");
    build.env("CARGO_REGISTRY_TOKEN", "hunter2-hunter2").env("PIP_INDEX_URL", "https://index.example");
    assert_ne!(command_output(build.output().unwrap()).code, 0);
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("PATH=") && seen.contains("PIP_INDEX_URL=https://index.example"), "{seen}");
    assert!(!seen.contains("hunter2"), "{seen}");
}

/// I203: the build runs its own modules, even if the project has modules with the same names.
#[test]
fn python_build_runs_no_modules_of_the_project() {
    let parent = new_project("python");
    let (project, owned) = (parent.path().join("x"), parent.path().join("owned"));
    let planted = format!("open({:?}, 'a').write(__name__)\n", owned.display().to_string());
    for file in ["pip.py", "json.py", "ast.py", "latchwork/_scan.py"] {
        std::fs::write(project.join(file), &planted).unwrap();
    }
    std::fs::write(project.join("requirements.txt"), "dep\n").unwrap();
    write_wheel(parent.path(), "1.0", "");
    // The build ends at the scan of the modules.
    let text = "from latchwork import step\n\n\n@step(\"A.B\")\ndef f(x, context):\n    import no_such_module\n";
    std::fs::write(project.join("plugin.py"), text).unwrap();
    let built = build_with_wheels(parent.path(), &[]);
    assert!(built.stdout.contains("there is no module no_such_module"), "{} {}", built.stdout, built.stderr);
    assert!(!owned.exists(), "{}", std::fs::read_to_string(&owned).unwrap_or_default());
}

/// I203.
#[test]
fn link_in_place_of_the_build_folder_is_refused() {
    for (lang, link) in [("rust", "build"), ("js", "build"), ("js", "build/.obj"), ("c", "build/.lock")] {
        let parent = new_project(lang);
        let elsewhere = parent.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("kept"), "").unwrap();
        let link = parent.path().join("x").join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let built = run_latch(parent.path(), &["plugin", "build", "x", "--json"]);
        assert_eq!(built.code, 2, "{}", built.stdout);
        assert!(built.json()["error"]["message"].as_str().unwrap().contains("it is a link"), "{}", built.stdout);
        let names: Vec<_> = std::fs::read_dir(&elsewhere).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["kept"], "{lang} {}", link.display());
    }
}

/// I203: if the user has no folder for the tools, the build is refused. It does not use a folder that all users share.
#[test]
fn build_without_a_home_folder_is_refused() {
    let parent = new_project("c");
    let mut build = latch_command(parent.path(), &["plugin", "build", "x", "--json"]);
    for name in ["HOME", "XDG_CACHE_HOME", "LATCH_TOOLS_DIR", "LATCH_WASM_DIR"] {
        build.env_remove(name);
    }
    let refused = command_output(build.output().unwrap());
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    assert!(refused.stdout.contains("neither HOME nor XDG_CACHE_HOME is set"), "{}", refused.stdout);
}

/// I203: a build writes no file through a link: neither the file that keeps `build` out of git nor a lock file, also if
/// the link leads to nothing yet.
#[test]
fn link_in_place_of_a_written_file_is_refused() {
    for (lang, link) in [("js", "build/.gitignore"), ("js", "build/x.wasm"), ("rust", "Cargo.lock")] {
        let parent = new_project(lang);
        let elsewhere = parent.path().join("elsewhere");
        let link = parent.path().join("x").join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let built = run_latch(parent.path(), &["plugin", "build", "x", "--json"]);
        assert_eq!(built.code, 2, "{}", built.stdout);
        assert!(built.json()["error"]["message"].as_str().unwrap().contains("it is a link"), "{}", built.stdout);
        assert!(!elsewhere.exists(), "{lang} {}", link.display());
    }
}
