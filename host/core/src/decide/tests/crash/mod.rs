//! Tests that kill the process of a job at every point, or at random points.

mod calls;
mod compensation;
mod random;
mod undo;
