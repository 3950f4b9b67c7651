//! Text for people: spans that are safe on a terminal, each with an optional tone.
//!
//! Text of plugins, plans and tools is escaped when `From` converts it into a span. Styles are added when a
//! line is written and never pass through the escaper. Every escape sequence on a terminal is therefore one
//! of this program.
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
