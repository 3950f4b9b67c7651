//! C plugins: compiled by clang or zig, then wrapped as a component.

use std::path::{Path, PathBuf};
use std::process::Command;

use latchwork_core::model::manifest::PluginKind;

use crate::build::cargo::TargetFolder;
use crate::build::debug_sections::without_debug_sections;
use crate::build::error::BuildError;
use crate::build::install_advice::C_COMPILER;
use crate::build::options::BuildOptions;
use crate::build::recipe::Recipe;
use crate::build::run::{command, output_of, run};
use crate::build::{encode, layout, tools};

pub(super) const ZIG: &str = include_str!("pip/ziglang.txt");
/// SDK sources that are compiled into every plugin.
const SDK_SOURCES: [&str; 3] = ["component.c", "wasi.c", "bindings/latch.c"];
/// Variable with the time of the build for `__DATE__` and `__TIME__`, in seconds since 1970.
const BUILD_TIME: &str = "SOURCE_DATE_EPOCH";
/// Build time of the second build, which a check compares with the usual build: 2001-09-09 01:46:40 UTC.
const OTHER_BUILD_TIME: &str = "1000000000";

/// Flags with which the linker writes the names of functions. Zig writes these names only together with debug
/// information. The build removes the debug information afterwards.
const KEEP_NAMES: [&str; 1] = ["-g"];

/// Builds the plugin in `dir` and returns the path of the component.
pub(super) fn build(
    dir: &Path,
    recipe: &Recipe,
    folder: TargetFolder,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, BuildError> {
    let layout = layout::prepare(dir, recipe)?;
    let main = layout.main_file()?;
    let sdk = layout.sdk_dir("latchwork.h")?;
    let sources = sources(main.parent().unwrap_or(dir))?;
    let core = layout.obj.join("core.wasm");
    let (name, mut compiler) = compiler(dir, options, progress)?;
    if folder == TargetFolder::Separate {
        // Gives this build a separate cache. From a shared cache, zig would reuse the object of an unchanged file, and
        // the object contains the time of the earlier compilation.
        compiler.env("ZIG_LOCAL_CACHE_DIR", layout.obj.join("zig-cache"));
        // A build time that the author has set applies to every build, so it is not replaced.
        if std::env::var_os(BUILD_TIME).is_none() {
            compiler.env(BUILD_TIME, OTHER_BUILD_TIME);
        }
    }
    compiler.args(["--target=wasm32-wasi", "-mexec-model=reactor", "-std=gnu17", "-Os", "-Wall", "-Wextra"]);
    compiler.arg("-Wno-unused-function").args(KEEP_NAMES);
    if folder == TargetFolder::Separate {
        // Another release of the compiler can place and optimize variables otherwise. The memory of a variable without a
        // value then has other bytes.
        compiler.args(["-O1", "-fno-inline", "-ftrivial-auto-var-init=pattern"]);
    }
    compiler.arg(format!("-DLATCH_VERSION={:?}", recipe.settings.version));
    if recipe.kind == PluginKind::Tool {
        compiler.arg("-DLATCH_TOOL");
    }
    // zig defines `NDEBUG` in optimized code, and `NDEBUG` disables assertions.
    compiler.arg("-UNDEBUG");
    // Keeps the paths of this machine out of the messages of `assert`.
    compiler.arg(format!("-ffile-prefix-map={}=.", dir.display()));
    compiler.arg(format!("-ffile-prefix-map={}=latchwork", sdk.display()));
    compiler.arg("-I").arg(&sdk).arg("-o").arg(&core).args(sources).args(SDK_SOURCES.map(|file| sdk.join(file)));
    run(&format!("compiling with {name}"), C_COMPILER, &mut compiler, progress)?;
    let module = std::fs::read(&core).map_err(|error| BuildError::io("read", &core, error))?;
    let module = without_debug_sections(module);
    encode::encode_component(module, None, recipe, &layout.obj)
}

/// Returns every C source file in `folder` except tests, sorted by name.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let entries = std::fs::read_dir(folder).map_err(|error| BuildError::io("read", folder, error))?;
    let is_source = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".c") && !name.starts_with("test_")
    };
    let mut sources: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_source).collect();
    sources.sort();
    Ok(sources)
}

/// Returns true if the installed clang can compile for WASI. Compiling for WASI needs a linker, the C library for WASI
/// and the compiler's runtime library for WASI.
pub(super) fn has_wasi_clang(dir: &Path) -> bool {
    // Location of the C library for this target on Debian and similar systems.
    let libc = Path::new("/usr/include/wasm32-wasi/stdio.h").is_file();
    let linker = || output_of(command("wasm-ld", dir).arg("--version")).is_some();
    let builtins =
        || output_of(command("clang", dir).args(["--target=wasm32-wasi", "-print-libgcc-file-name"])).is_some();
    libc && linker() && builtins()
}

/// Returns the installed clang if it can compile for WASI, otherwise a pinned zig.
fn compiler(
    dir: &Path,
    options: &BuildOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<(&'static str, Command), BuildError> {
    if has_wasi_clang(dir) {
        return Ok(("clang", command("clang", dir)));
    }
    let site = tools::pip(ZIG, options, progress)?;
    let mut zig = tools::python_program(&site, "import runpy; runpy.run_module('ziglang', run_name='__main__')", dir);
    let cache = options.tools_dir.join("zig-cache");
    zig.env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache).arg("cc");
    Ok(("zig", zig))
}
