//! The kernel driven by a small worker of its own over a world that counts, cut off anywhere.

mod budget;
mod crash;
mod gates;
mod sim;
