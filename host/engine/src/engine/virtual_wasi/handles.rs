//! Types of the virtual WASI handles that a step may hold: streams and pollables.

#![expect(unreachable_pub, reason = "the generated bindings re-export these types, which only pub ones can be")]

/// A condition to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pollable {
    /// Always ready.
    Ready,
    /// Ready when the step's clock reaches this time, in nanoseconds since 1970 UTC.
    At(i64),
}

/// Standard input, which is always at its end.
#[derive(Clone, Copy, Debug)]
pub struct Stdin;

/// Output stream of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Error of a stream. No stream operation returns this error.
#[derive(Debug)]
pub enum IoError {}

/// Terminal. A step never has one.
#[derive(Debug)]
pub enum Terminal {}
