//! Tests of the sources themselves.

mod bindings;
mod floors;
mod tidy;
mod words;
