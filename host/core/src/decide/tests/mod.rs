//! The kernel driven by a small worker of its own over a world that counts, cut off anywhere.

mod crash;
mod gates;
mod sim;
mod retries;
mod waits;
