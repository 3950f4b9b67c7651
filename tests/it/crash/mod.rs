//! Processes that die or are suspended, at every point and at random.

mod compensation;
mod every_point;
mod loops;
mod random_kills;
mod recovery;
mod request_body_kill;
mod store;
mod suspended_process;
