//! Tests of the sources themselves.

mod bindings;
mod bounds;
mod floors;
mod injected;
mod names;
mod register;
mod release_build;
mod rust_version;
mod scan;
mod sentences;
mod statics;
mod text_files;
mod tidy;
mod words;
