//! Transactions: the locks that a group takes, its commit marker, and the work that runs in it.

pub(crate) mod commit_marker;
pub(crate) mod group_locks;
pub(crate) mod tx;
pub(crate) mod work;
