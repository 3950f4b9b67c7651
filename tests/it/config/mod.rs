//! The configuration file `latch.toml`.

mod settings;
