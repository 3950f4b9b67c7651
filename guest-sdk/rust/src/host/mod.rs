//! The one place that speaks to the host: real in a component, a stand-in on the host itself.

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
