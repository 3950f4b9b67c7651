//! The only module that calls the host. A component calls the real imports. A native build calls the test
//! stand-ins.

#[cfg(target_arch = "wasm32")]
pub(crate) mod files;
#[cfg(target_arch = "wasm32")]
mod guest;
#[cfg(target_arch = "wasm32")]
pub(crate) mod net;
#[cfg(target_arch = "wasm32")]
pub(crate) use guest::*;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::doubles::*;
