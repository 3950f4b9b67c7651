//! The interfaces of `wit/`, embedded in this program.

macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../../wit/", $path)))),*]
    };
}

/// Name and text of each WIT file of the package `latchwork:plugin`.
pub const WIT: &[(&str, &str)] = files!(
    "clock.wit" "config.wit" "context.wit" "events.wit" "invoke.wit" "kv.wit" "log.wit"
    "plugin.wit" "rng.wit" "run.wit" "secrets.wit" "tools.wit" "types.wit" "world.wit"
);
