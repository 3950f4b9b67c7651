//! Text for people: spans that are safe on a terminal, each with an optional tone.
//!
//! Text of plugins, plans and tools is escaped when `From` converts it into a span. Styles are added after the
//! escaping, when a line is written. Only this program can therefore send escape sequences to a terminal.
//!
//! Floors, top first: `block` · `table` · `wrap` · `tone`, `visible`.

mod block;
mod table;
mod tone;
mod visible;
mod wrap;

#[cfg(test)]
mod tests;

pub use block::{Text, TextTarget};
pub use tone::Tone;

pub(crate) use block::table;
pub(crate) use visible::visible;
