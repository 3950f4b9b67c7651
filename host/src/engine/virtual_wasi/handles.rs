//! What a step may hold of its WASI: streams and pollables, and nothing else exists.

#![expect(unreachable_pub, reason = "the generated bindings re-export these types, which only pub ones can be")]

/// Something to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pollable {
    /// Ready at any time.
    Ready,
    /// Ready at this time of the step's clock: nanoseconds since 1970 UTC.
    At(i64),
}

/// Standard input, at its end.
#[derive(Clone, Copy, Debug)]
pub struct Stdin;

/// Where a step may write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// An error of a stream: there is none.
#[derive(Debug)]
pub enum IoError {}

/// A terminal: there is none.
#[derive(Debug)]
pub enum Terminal {}
