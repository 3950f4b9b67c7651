//! Log records with the step's trace context. Never part of replay comparison.
//!
//! ```
//! use latchwork_guest::log;
//!
//! log::info!("{} publications found", 3);
//! ```

use std::sync::Once;

use crate::host;

/// How much a record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every detail.
    Trace,
    /// For finding mistakes.
    Debug,
    /// What happened.
    Info,
    /// What should not have, and was coped with.
    Warn,
    /// What failed.
    Error,
}

/// Write one record; the host cuts it after 8 KiB.
pub fn write(level: Level, message: &str) {
    host::log(level, message);
}

/// Write what a panic says before it traps: a trap carries no message of its own.
pub(crate) fn panics() {
    static HOOK: Once = Once::new();
    // On the host, tests keep their own hook.
    if cfg!(target_arch = "wasm32") {
        HOOK.call_once(|| std::panic::set_hook(Box::new(|info| write(Level::Error, &info.to_string()))));
    }
}

macro_rules! levels {
    ($d:tt $($(#[$doc:meta])* $name:ident $hidden:ident $level:ident;)*) => {
        $(
            $(#[$doc])*
            #[doc(hidden)]
            #[macro_export]
            macro_rules! $hidden {
                ($d($d arg:tt)+) => { $crate::log::write($crate::log::Level::$level, &::std::format!($d($d arg)+)) };
            }
            #[doc(inline)]
            pub use $hidden as $name;
        )*
    };
}
levels! { $
    /// Write a record of level trace, in the manner of `format!`.
    trace __log_trace Trace;
    /// Write a record of level debug, in the manner of `format!`.
    debug __log_debug Debug;
    /// Write a record of level info, in the manner of `format!`.
    info __log_info Info;
    /// Write a record of level warn, in the manner of `format!`.
    warn __log_warn Warn;
    /// Write a record of level error, in the manner of `format!`.
    error __log_error Error;
}
