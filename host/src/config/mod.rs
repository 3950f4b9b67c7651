//! Configuration: `latch.toml`, environment and flags, as one validated [`Config`].
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let cwd = folder.path();
//! std::fs::write(cwd.join("latch.toml"), "lease = \"20s\"")?;
//! let options = latchwork::config::LoadOptions { cwd, config: None, db: None, plan_folder: None, env: &|_| None };
//! let config = latchwork::config::Config::load(&options)?;
//! assert_eq!(config.lease_ms(), 20_000);
//! assert_eq!(config.database(), format!("sqlite://{}/latch.db", cwd.display()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Floors, top first: `load` · `people`, `settings`, `worker` · `notify`, `policy` · `plugin` · `grants`, `verifier` ·
//! `cache`, `types` · `headers`, `keys`, `limits`, `operators`, `trust`, `validator`, `values` · `problem`, `real_path`.

mod cache;
mod grants;
mod headers;
mod keys;
pub mod limits;
mod load;
mod notify;
mod operators;
mod people;
mod plugin;
mod policy;
mod problem;
mod real_path;
mod settings;
mod trust;
mod types;
pub mod validator;
mod values;
mod verifier;
mod worker;

#[cfg(test)]
mod tests;

pub use headers::HeaderTemplate;
pub use load::LoadOptions;
pub use policy::{DEFAULT_TENANT, is_valid_name};
pub use problem::{ConfigErrors, ConfigProblem, SettingSource};
pub(crate) use real_path::RealPath;
pub use settings::Config;
pub use types::*;
pub(crate) use values::plugin_name;

/// Name of the configuration file.
pub const FILE_NAME: &str = "latch.toml";
/// Environment variable with the path of the configuration file. `--config` overrides the variable.
pub const CONFIG_VARIABLE: &str = "LATCH_CONFIG";
/// Environment variable with the database URL. The variable overrides the file.
pub const DATABASE_VARIABLE: &str = "LATCH_DATABASE";

/// Environment variable with which the user accepts a configuration file that was found above the folder of the search
/// or that belongs to another user. Only the value `1` has this effect.
pub const TRUST_VARIABLE: &str = "LATCH_TRUST_CONFIG";

/// Environment variable with the directory for compiled code.
pub const CACHE_VARIABLE: &str = "LATCH_CACHE_DIR";
