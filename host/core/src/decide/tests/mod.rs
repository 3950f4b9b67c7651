//! The kernel driven by a small worker of its own over a world that counts, cut off anywhere.

mod actions;
mod crash;
mod evidence;
mod gates;
mod reopen;
mod reuse;
mod retries;
mod sim;
mod waits;
