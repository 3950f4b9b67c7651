//! Jobs whose process is killed at every point, and at random.

mod calls;
mod compensation;
mod random;
mod undo;
