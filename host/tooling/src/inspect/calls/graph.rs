//! The calls of a component.

use crate::inspect::calls::reachability::Reachability;
use crate::inspect::calls::{link, search};

/// The calls of a component.
pub struct CallGraph<'b> {
    linked: Result<link::LinkedComponent<'b>, &'static str>,
}

impl<'b> CallGraph<'b> {
    /// Links a component statically. For a component that cannot be read, every search returns
    /// [`Reachability::Unknown`].
    pub fn link(bytes: &'b [u8]) -> Self {
        Self { linked: link::link(bytes) }
    }

    /// Searches for a path to each of these imports. An import is an interface, or one function of the
    /// interface.
    pub fn find_paths(&self, imports: &[(&str, Option<&str>)]) -> Vec<Reachability> {
        match &self.linked {
            Ok(linked) => search::search(linked, None, imports),
            Err(why) => imports.iter().map(|_| Reachability::Unknown(why)).collect(),
        }
    }

    /// Searches for a path from the functions of an exported interface to each of these imports.
    pub fn find_paths_from(&self, interface: &str, imports: &[(&str, Option<&str>)]) -> Vec<Reachability> {
        match &self.linked {
            Ok(linked) => search::search(linked, Some(interface), imports),
            Err(why) => imports.iter().map(|_| Reachability::Unknown(why)).collect(),
        }
    }
}
