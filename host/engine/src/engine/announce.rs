//! Announces compilations to a listener, because compiling a large component takes seconds.

use std::fmt;
use std::sync::Arc;

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

type ListenerFn = dyn Fn(&CompilationStart<'_>) + Send + Sync;

/// Listener for the compilations of one engine. The default listener does nothing.
#[derive(Clone, Default)]
pub struct CompilationListener(Option<Arc<ListenerFn>>);

impl CompilationListener {
    /// Creates a listener from a function. The function is called on the thread that compiles, before each compilation.
    pub fn new(listener: impl Fn(&CompilationStart<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(super) fn announce(&self, compiling: &CompilationStart<'_>) {
        if let Some(listener) = &self.0 {
            listener(compiling);
        }
    }
}

impl fmt::Debug for CompilationListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "CompilationListener(function)" } else { "CompilationListener(none)" })
    }
}
