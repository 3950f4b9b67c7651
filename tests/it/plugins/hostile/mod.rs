//! Misbehaving plugins: each fault has its own code, and the host continues.

mod captured_log;
mod http_server;
mod registry;
mod step;
mod tool;

use std::sync::Arc;

use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::{LoadError, Plugin};

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::engine::{engine, settings};

fn load(name: &str, grants: Grants, limits: LimitsConfig) -> Result<Arc<Plugin>, LoadError> {
    engine().load(&std::fs::read(guest(name)).unwrap(), settings(name, grants, limits))
}
