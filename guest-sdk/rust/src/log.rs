//! Log records with the trace context of the step. A replay does not compare log records.
//!
//! ```
//! use latchwork_guest::log;
//!
//! log::info!("{} publications found", 3);
//! ```

use std::sync::Once;

use crate::host;

pub use crate::data::Level;

/// Writes one record. The host cuts records longer than 8 KiB.
pub fn write(level: Level, message: &str) {
    host::log(level, message);
}

/// Installs a panic hook that logs the panic message. The trap of a panic has no message of its own.
pub(crate) fn install_panic_hook() {
    static HOOK: Once = Once::new();
    // Native tests keep their own panic hook.
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
    /// Writes a record of level trace. Takes the arguments of `format!`.
    trace __log_trace Trace;
    /// Writes a record of level debug. Takes the arguments of `format!`.
    debug __log_debug Debug;
    /// Writes a record of level info. Takes the arguments of `format!`.
    info __log_info Info;
    /// Writes a record of level warn. Takes the arguments of `format!`.
    warn __log_warn Warn;
    /// Writes a record of level error. Takes the arguments of `format!`.
    error __log_error Error;
}
