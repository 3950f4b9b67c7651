//! Announcements of compilations: they take seconds for large components.

use std::sync::OnceLock;

/// A component that is about to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiling<'a> {
    /// The name of its plugin.
    pub plugin: &'a str,
    /// Size of the component.
    pub bytes: usize,
    /// How many others of the configuration are compiled after it.
    pub left: usize,
}

type Listener = Box<dyn Fn(&Compiling<'_>) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Has every compilation of this process announced. The first listener stays.
pub fn on_compile(listener: impl Fn(&Compiling<'_>) + Send + Sync + 'static) {
    // A second one comes from a second command line in one process, which announces the same.
    let _ = LISTENER.set(Box::new(listener));
}

pub(super) fn announce(compiling: &Compiling<'_>) {
    if let Some(listener) = LISTENER.get() {
        listener(compiling);
    }
}
