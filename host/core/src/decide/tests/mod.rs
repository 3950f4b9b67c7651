//! The kernel driven by a small worker of its own over a world that counts, cut off anywhere.

mod crash;
mod gates;
mod retries;
mod sim;
mod waits;
