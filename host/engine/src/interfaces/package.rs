//! The package of the interfaces that this host serves.

/// Package prefix of the interfaces that this host serves.
pub const PACKAGE: &str = "latchwork:plugin/";
/// Version suffix of the interfaces that this host serves.
pub(crate) const VERSION: &str = "@0.1.0";

/// Returns the full name of an interface that this host serves.
pub fn interface_name(interface: &str) -> String {
    format!("{PACKAGE}{interface}{VERSION}")
}
