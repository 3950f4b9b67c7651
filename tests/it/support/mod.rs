//! Helpers that tests of several folders share. No file of this folder contains a test.

pub(crate) mod checkout;
pub(crate) mod database;
pub(crate) mod evidence;
pub(crate) mod kills;
pub(crate) mod log_equivalence;
pub(crate) mod plans;
pub(crate) mod plugins;
pub(crate) mod program;
pub(crate) mod running_worker;
pub(crate) mod seed;
pub(crate) mod servers;
pub(crate) mod shims;
pub(crate) mod store_fixture;
pub(crate) mod suspension;
pub(crate) mod terminal;
pub(crate) mod test_env;
pub(crate) mod waiting;
