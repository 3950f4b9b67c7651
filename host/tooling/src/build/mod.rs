//! `latch plugin build`: builds a component from source and obtains the toolchain that its language needs.
//!
//! A plugin's folder contains a recipe, `latch-plugin.toml`:
//!
//! ```toml
//! [plugin]
//! name = "mail"      # the component is build/mail.wasm
//! kind = "tool"      # or "step"
//! lang = "rust"      # or "js", "python", "c", "go": these have more keys, see `recipe`
//! ```
//!
//! Rust sources in the same folder always produce the same component, byte for byte. The build ignores compiler
//! settings in the environment, because these settings are meant for other builds. The component contains no paths of
//! this machine. Two builds in different folders may produce different bytes, because cargo's name for a dependency
//! outside the workspace depends on the folder.
//!
//! JavaScript and Python components contain a snapshot of a running engine, which differs with each build. Keep such a
//! component and pin it by its digest instead of building it again.
//!
//! # Lock files
//!
//! Versions and hashes of packages come from a lock file beside the plugin's manifest: `Cargo.lock`,
//! `package-lock.json`, `requirements.lock` or `go.sum`. The first build writes the lock file. A later build refuses a
//! lock file that does not match the manifest, unless [`BuildOptions::update`] is set.
//!
//! # Floors
//!
//! Floors, top first: `plugin_build`, `programs` · `init`, and one file a language (`cargo`, `js`, `python`, `c`, `go`)
//! · `npm_packages`, `pip_packages` · `encode`, `new`, `tools`, `wasm_target` · `installer`, `layout`, `publish`,
//! `world` · `sdk` · `debug_sections`, `disk_space`, `recipe`, `run` · `options` · `error` · `install_advice`,
//! `real_imports`, `recipe_exceptions`, `recipe_problem`, `source_lines`.

mod c;
mod cargo;
mod debug_sections;
mod disk_space;
mod encode;
mod error;
mod go;
mod init;
mod install_advice;
mod installer;
mod js;
mod layout;
mod new;
mod npm_packages;
mod options;
mod pip_packages;
mod plugin_build;
mod programs;
mod publish;
mod python;
mod real_imports;
mod recipe;
mod recipe_exceptions;
mod recipe_problem;
mod run;
mod sdk;
mod source_lines;
mod tools;
mod wasm_target;
mod world;

pub use error::BuildError;
pub use init::{CreatedProject, InitError, NewProject, suggested_language};
pub use new::{NewError, NewPlugin};
pub use options::BuildOptions;
pub use plugin_build::{build, component_of, component_path, rebuild};
pub use programs::{BuildKind, Program, ProgramState, programs};
pub use publish::BuiltPlugin;
pub use recipe::{JsEngine, Lang, LanguageSettings, RECIPE, Recipe};
pub use recipe_exceptions::RuleException;
pub use recipe_problem::RecipeProblem;
pub use wasm_target::Toolchain;
