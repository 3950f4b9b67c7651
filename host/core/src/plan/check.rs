//! Checking.
/// A.
pub struct Catalog;
/// B.
pub struct Violation;
/// C.
pub fn check() {}
