//! Builds take packages in the versions and with the hashes of a lock file, in each language that has packages.
//!
//! All packages are made here, so that only the tools of the builds come from a registry.

use std::path::Path;
use std::process::Command;
use std::sync::Once;

use serde_json::Value;

use crate::support::plugins::sdk_tools::{latch_command, run_latch};
use crate::support::program::{CommandOutput, command_output};

/// Runs a Python script in `dir`.
fn python(dir: &Path, script: &str, args: &[&str]) {
    let ran = Command::new("python3").args(["-c", script]).args(args).current_dir(dir).status();
    assert!(ran.unwrap().success());
}

/// Writes a wheel of the package `dep` into the folder `wheels`, which pip uses instead of an index.
pub(super) fn write_wheel(dir: &Path, version: &str, code: &str) {
    let script = "import os, sys, zipfile\n\
                  version, code = sys.argv[1:]\n\
                  os.makedirs('wheels', exist_ok=True)\n\
                  info = f'dep-{version}.dist-info/'\n\
                  with zipfile.ZipFile(f'wheels/dep-{version}-py3-none-any.whl', 'w') as wheel:\n\
                  \x20   wheel.writestr('dep.py', code)\n\
                  \x20   wheel.writestr(info + 'METADATA', f'Metadata-Version: 2.1\\nName: dep\\nVersion: {version}\\n')\n\
                  \x20   wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
                  \x20   wheel.writestr(info + 'RECORD', '')\n";
    python(dir, script, &[version, code]);
}

/// Installs the tools for builds of Python from the package index, by running a build that ends at the scan of the
/// modules.
fn install_python_tools() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let parent = new_project("python");
        let text = "from latchwork import step\n\n\n@step(\"A.B\")\ndef f(x, context):\n    import no_such_module\n";
        std::fs::write(parent.path().join("x/plugin.py"), text).unwrap();
        let built = run_latch(parent.path(), &["plugin", "build", "x", "--json"]);
        assert!(built.stdout.contains("there is no module no_such_module"), "{} {}", built.stdout, built.stderr);
    });
}

/// Builds the project `x` in `dir` with packages from a folder of wheels. During this build, pip uses no other source,
/// not even for the tools of the build. This function therefore installs the tools before.
pub(super) fn build_with_wheels(dir: &Path, more: &[&str]) -> CommandOutput {
    install_python_tools();
    let mut build = latch_command(dir, &[&["plugin", "build", "x", "--json"], more].concat());
    build.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", dir.join("wheels"));
    command_output(build.output().unwrap())
}

fn new_project(lang: &str) -> tempfile::TempDir {
    let parent = tempfile::tempdir().unwrap();
    let new = run_latch(parent.path(), &["plugin", "new", "x", "--lang", lang, "--kind", "step"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    parent
}

/// Checks that a build was refused because of this lock file, and that the error ends with the command to type.
fn assert_refused(built: &CommandOutput, lock: &str) {
    assert_eq!(built.code, 2, "{} {}", built.stdout, built.stderr);
    let error = &built.json()["error"];
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["code"], "L0036", "{message}");
    assert!(message.contains(lock) && message.contains("type: latch plugin build "), "{message}");
    assert!(message.ends_with("/x --update"), "{message}");
}

fn assert_built(built: &CommandOutput) {
    assert_eq!(built.code, 0, "{} {}", built.stdout, built.stderr);
}

fn message(built: &CommandOutput) -> String {
    built.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
}

/// I227.
#[test]
fn cargo_builds_with_the_lock_file_of_the_first_build() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("x");
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
        std::fs::write(dir.join(path), text).unwrap();
    };
    write("latch-plugin.toml", "[plugin]\nname = \"x\"\nkind = \"step\"\nlang = \"rust\"\n");
    let manifest = |dep: &str| {
        format!(
            "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
             [dependencies]\ndep = {{ path = \"{dep}\" }}\n[workspace]\nmembers = [\"{dep}\"]\n"
        )
    };
    write("Cargo.toml", &manifest("dep"));
    write("src/lib.rs", "");
    for (folder, version) in [("dep", "1.0.0"), ("later", "2.0.0")] {
        let text = format!("[package]\nname = \"dep\"\nversion = \"{version}\"\nedition = \"2024\"\n");
        write(&format!("{folder}/Cargo.toml"), &text);
        write(&format!("{folder}/src/lib.rs"), "");
    }
    let build = |more: &[&str]| run_latch(parent.path(), &[&["plugin", "build", "x", "--json"], more].concat());
    let lock = || std::fs::read_to_string(dir.join("Cargo.lock")).unwrap();
    assert_built(&build(&[]));
    let first = lock();
    assert!(first.contains("version = \"1.0.0\""), "{first}");

    write("Cargo.toml", &manifest("later"));
    assert_refused(&build(&[]), "x/Cargo.lock");
    // The other commands that build the project refuse this lock file as well.
    for args in [["plugin", "check", "x", "--json"], ["call", "x", "A.B", "--build"]] {
        let refused = run_latch(parent.path(), &args);
        assert_eq!(refused.code, 2, "{} {}", refused.stdout, refused.stderr);
    }
    assert_eq!(lock(), first);
    assert_built(&build(&["--update"]));
    assert!(lock().contains("version = \"2.0.0\""), "{}", lock());
    assert_built(&build(&[]));
}

/// I227: a package whose content differs from the hash in the lock file is refused, and a new version is not installed.
#[test]
fn pip_installs_the_locked_files_alone() {
    let parent = new_project("python");
    let dir = parent.path().join("x");
    // Every build ends at the scan of the modules, which comes after the packages.
    let text = "from latchwork import step\n\n\n@step(\"A.B\")\ndef f(x, context):\n    import no_such_module, dep\n";
    std::fs::write(dir.join("plugin.py"), text).unwrap();
    std::fs::write(dir.join("requirements.txt"), "dep\n").unwrap();
    let installed = |built: &CommandOutput| {
        let message = message(built);
        assert!(message.contains("there is no module no_such_module"), "{message}");
        std::fs::read_to_string(dir.join("build/.obj/packages/dep.py")).unwrap()
    };
    write_wheel(parent.path(), "1.0", "X = 1\n");
    assert_eq!(installed(&build_with_wheels(parent.path(), &[])), "X = 1\n");
    let lock = std::fs::read_to_string(dir.join("requirements.lock")).unwrap();
    assert!(lock.lines().any(|line| line.starts_with("dep==1.0 --hash=sha256:")), "{lock}");
    assert!(!lock.contains("://") && !lock.contains("wheels"), "{lock}");

    write_wheel(parent.path(), "2.0", "X = 2\n");
    assert_eq!(installed(&build_with_wheels(parent.path(), &[])), "X = 1\n");
    write_wheel(parent.path(), "1.0", "X = 'changed'\n");
    let changed = message(&build_with_wheels(parent.path(), &[]));
    assert!(changed.contains("THESE PACKAGES DO NOT MATCH THE HASHES"), "{changed}");

    std::fs::write(dir.join("requirements.txt"), "dep<3\n").unwrap();
    assert_refused(&build_with_wheels(parent.path(), &[]), "x/requirements.lock:2");
    assert_eq!(installed(&build_with_wheels(parent.path(), &["--update"])), "X = 2\n");

    // If requirements.txt itself contains hashes, no lock file is needed. Every package in it then needs a hash.
    let line = |lock: &str| lock.lines().find(|line| line.starts_with("dep==")).unwrap().to_owned();
    let hashed = line(&std::fs::read_to_string(dir.join("requirements.lock")).unwrap());
    std::fs::remove_file(dir.join("requirements.lock")).unwrap();
    std::fs::write(dir.join("requirements.txt"), format!("{hashed}\n")).unwrap();
    assert_eq!(installed(&build_with_wheels(parent.path(), &[])), "X = 2\n");
    assert!(!dir.join("requirements.lock").exists());
}

/// I227: npm installs the locked packages without their scripts.
#[test]
fn npm_installs_the_locked_packages_without_scripts() {
    let parent = new_project("js");
    let (dir, dep) = (parent.path().join("x"), parent.path().join("dep"));
    std::fs::create_dir(&dep).unwrap();
    let pack = |version: &str| {
        let manifest = format!(
            "{{ \"name\": \"dep\", \"version\": \"{version}\", \"main\": \"i.js\", \
             \"scripts\": {{ \"install\": \"touch ../../../ran\" }} }}"
        );
        std::fs::write(dep.join("package.json"), manifest).unwrap();
        std::fs::write(dep.join("i.js"), format!("module.exports = '{version}'\n")).unwrap();
        let packed = Command::new("npm").args(["pack", "--silent", "../dep"]).current_dir(&dir).output().unwrap();
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    };
    let require = |version: &str| {
        let text = format!("{{ \"type\": \"module\", \"dependencies\": {{ \"dep\": \"file:dep-{version}.tgz\" }} }}");
        std::fs::write(dir.join("package.json"), text).unwrap();
    };
    // Every build ends at the bundle, which comes after the packages.
    std::fs::write(dir.join("src/plugin.js"), "import 'dep'; import 'no-such-package';\n").unwrap();
    let build = |more: &[&str]| run_latch(parent.path(), &[&["plugin", "build", "x", "--json"], more].concat());
    let installed = |built: &CommandOutput| {
        let message = message(built);
        assert!(message.contains("no-such-package") && !message.contains("\"dep\""), "{message}");
        let text = std::fs::read_to_string(dir.join("node_modules/dep/package.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["version"].as_str().unwrap().to_owned()
    };
    pack("1.0.0");
    pack("2.0.0");
    require("1.0.0");
    assert_eq!(installed(&build(&[])), "1.0.0");
    assert!(std::fs::read_to_string(dir.join("package-lock.json")).unwrap().contains("\"integrity\""));
    require("2.0.0");
    assert_refused(&build(&[]), "x/package-lock.json");
    assert_eq!(installed(&build(&["--update"])), "2.0.0");
    // Packages that differ from the lock file are installed again.
    std::fs::remove_dir_all(dir.join("node_modules/dep")).unwrap();
    std::fs::remove_file(dir.join("node_modules/.package-lock.json")).unwrap();
    assert_eq!(installed(&build(&[])), "2.0.0");
    assert!(!dir.join("ran").exists(), "an install script has run");
}

/// A module proxy with one version of `example.com/dep`.
const PROXY: &str = "import os, zipfile\n\
    at = 'proxy/example.com/dep/@v/'\n\
    os.makedirs(at, exist_ok=True)\n\
    mod = 'module example.com/dep\\n\\ngo 1.25\\n'\n\
    files = {'list': 'v1.0.0\\n', 'v1.0.0.info': '{\"Version\":\"v1.0.0\"}', 'v1.0.0.mod': mod}\n\
    for name, text in files.items():\n\
    \x20   open(at + name, 'w').write(text)\n\
    with zipfile.ZipFile(at + 'v1.0.0.zip', 'w') as module:\n\
    \x20   module.writestr('example.com/dep@v1.0.0/go.mod', mod)\n\
    \x20   module.writestr('example.com/dep@v1.0.0/dep.go', 'package dep\\n\\nconst X = 1\\n')\n";

/// I227: Go takes modules with the hashes of go.sum, whatever the settings of the user's Go are.
#[test]
fn go_takes_the_modules_of_its_sums_alone() {
    let parent = new_project("go");
    let dir = parent.path().join("x");
    python(parent.path(), PROXY, &[]);
    std::fs::create_dir_all(parent.path().join("config/go")).unwrap();
    std::fs::write(parent.path().join("config/go/env"), "GOSUMDB=off\nGOFLAGS=-mod=mod -modcacherw\n").unwrap();
    let build = |more: &[&str]| {
        let mut build = latch_command(parent.path(), &[&["plugin", "build", "x", "--json"], more].concat());
        build.env("GOPROXY", format!("file://{}/proxy", parent.path().display()));
        build.env("XDG_CONFIG_HOME", parent.path().join("config")).env("GOMODCACHE", parent.path().join("modules"));
        command_output(build.output().unwrap())
    };
    let import = |path: &str| std::fs::write(dir.join("more.go"), format!("package main\n\nimport _ {path:?}\n"));
    let manifest = std::fs::read_to_string(dir.join("go.mod")).unwrap();
    // A project without modules of others needs no sums, and gets none.
    import("example.com/dep").unwrap();
    assert_refused(&build(&[]), "x/go.sum");
    std::fs::write(dir.join("go.mod"), format!("{manifest}\nrequire example.com/dep v1.0.0\n")).unwrap();
    assert_built(&build(&[]));
    let sums = std::fs::read_to_string(dir.join("go.sum")).unwrap();
    assert!(sums.contains("example.com/dep v1.0.0 h1:"), "{sums}");

    std::fs::write(dir.join("go.sum"), sums.replace("v1.0.0 h1:", "v1.0.0 h1:A")).unwrap();
    let changed = message(&build(&[]));
    assert!(changed.contains("checksum mismatch"), "{changed}");
    std::fs::write(dir.join("go.sum"), "").unwrap();
    assert_refused(&build(&[]), "x/go.sum");
    assert_built(&build(&["--update"]));
    assert_eq!(std::fs::read_to_string(dir.join("go.sum")).unwrap(), sums);
}
