//! Announces compilations to a listener, because compiling a large component takes seconds.

use std::sync::OnceLock;

/// A component that is about to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilationStart<'a> {
    /// Name of the plugin.
    pub plugin: &'a str,
    /// Size of the component, in bytes.
    pub bytes: usize,
    /// Number of other components of the configuration that are still to be compiled after this component.
    pub remaining: usize,
}

type Listener = Box<dyn Fn(&CompilationStart<'_>) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Registers the listener for all compilations of this process. Later calls have no effect.
pub fn on_compile(listener: impl Fn(&CompilationStart<'_>) + Send + Sync + 'static) {
    // A second command in the same process also registers a listener. That listener is ignored, because it would only
    // announce the same compilations.
    let _ = LISTENER.set(Box::new(listener));
}

pub(super) fn announce(compiling: &CompilationStart<'_>) {
    if let Some(listener) = LISTENER.get() {
        listener(compiling);
    }
}
