//! The kernel driven by a small worker of its own over a world that counts, cut off anywhere.

mod actions;
mod crash;
mod fork;
mod gates;
mod modes;
mod reopen;
mod reuse;
mod sim;
