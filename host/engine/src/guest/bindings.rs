//! Rust types and traits generated from `wit/`. Steps and tools share these types and traits.
//!
//! The world below imports and exports all interfaces. The world is used only to generate bindings.
//! `interfaces/imports.rs` decides which imports a component may have. The linker of each plugin kind provides only the
//! interfaces of that kind.

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "
        package latchwork:host;
        world everything {
            import latchwork:plugin/types@0.1.0;
            import latchwork:plugin/context@0.1.0;
            import latchwork:plugin/clock@0.1.0;
            import latchwork:plugin/rng@0.1.0;
            import latchwork:plugin/tools@0.1.0;
            import latchwork:plugin/events@0.1.0;
            import latchwork:plugin/log@0.1.0;
            import latchwork:plugin/invocation@0.1.0;
            import latchwork:plugin/kv@0.1.0;
            import latchwork:plugin/secrets@0.1.0;
            import latchwork:plugin/config@0.1.0;
            export latchwork:plugin/plugin@0.1.0;
            export latchwork:plugin/run@0.1.0;
            export latchwork:plugin/invoke@0.1.0;
            export latchwork:plugin/reconcile@0.1.0;
            export latchwork:plugin/verify@0.1.0;
            export latchwork:plugin/compensate@0.1.0;
        }
    ",
    imports: {
        "latchwork:plugin/tools.call": async | trappable,
        "latchwork:plugin/tools.call-all": async | trappable,
        "latchwork:plugin/events.emit": async | trappable,
        "latchwork:plugin/kv.get": async | trappable,
        "latchwork:plugin/kv.set": async | trappable,
        "latchwork:plugin/kv.delete": async | trappable,
        default: trappable,
    },
    exports: { default: async },
});

pub(crate) use crate::guest::bindings::latchwork::plugin as import;
pub(crate) use exports::latchwork::plugin as export;
