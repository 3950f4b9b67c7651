//! Tests of the sources themselves.

mod bindings;
mod floors;
mod register;
mod release_build;
mod rust_version;
mod text_files;
mod tidy;
mod words;
