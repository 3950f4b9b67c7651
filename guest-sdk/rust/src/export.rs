//! Macros that turn a crate into a plugin.

/// Makes this crate a step plugin. Invoke the macro once, in the root of the crate.
///
/// ```
/// # use latchwork_guest::{Error, step};
/// # fn count(text: String, _: &step::Context) -> Result<usize, Error> { Ok(text.split_whitespace().count()) }
/// latchwork_guest::export_step! {
///     version: "1.0.0",
///     operators: [step::operator("Text.Count", count).describe("Counts words.")],
/// }
/// # fn main() {}
/// ```
///
/// `version: env!("CARGO_PKG_VERSION")` uses the version of the crate.
#[macro_export]
macro_rules! export_step {
    (version: $version:expr, operators: [$($operator:expr),+ $(,)?] $(,)?) => {
        #[doc(hidden)]
        struct __LatchworkPlugin;

        const _: () = {
            use $crate::bindings::{export_plugin, export_run, types};

            fn operators() -> ::std::vec::Vec<$crate::step::Operator> {
                ::std::vec![$($operator),+]
            }
            // On native targets this constant is the only use of the handlers. Without it the compiler
            // reports them as dead code.
            const _: fn() -> ::std::vec::Vec<$crate::step::Operator> = operators;

            impl export_plugin::exports::latchwork::plugin::plugin::Guest for __LatchworkPlugin {
                fn describe() -> export_plugin::exports::latchwork::plugin::plugin::Manifest {
                    $crate::__private::describe($version, &operators())
                }
            }

            impl export_run::exports::latchwork::plugin::run::Guest for __LatchworkPlugin {
                fn run(
                    operator: ::std::string::String,
                    input: ::std::string::String,
                ) -> ::core::result::Result<::std::string::String, types::Error> {
                    $crate::__private::run(operators(), &operator, &input)
                }
            }
        };

        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_plugin::export!(__LatchworkPlugin with_types_in $crate::bindings::export_plugin);
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_run::export!(__LatchworkPlugin with_types_in $crate::bindings::export_run);
    };
}

/// Makes this crate a tool plugin. Invoke the macro once, in the root of the crate.
///
/// `exports` lists the optional exports that operators have handlers for: `reconcile`, `verify` and `compensate`. These
/// exports show the host what the tool supports. The macro adds a test that fails under `cargo test` if `exports` and
/// the handlers disagree.
///
/// ```
/// # use latchwork_guest::{Error, tool};
/// # fn tell(_: (), _: &tool::Context) -> Result<tool::Output<u32>, Error> { Ok(tool::Output::new(1)) }
/// latchwork_guest::export_tool! {
///     version: "1.0.0",
///     operators: [tool::operator("Number.Tell", tell).reconcile(|_, _| Ok(tool::Verdict::DidNotHappen))],
///     exports: [reconcile],
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_tool {
    (version: $version:expr, operators: [$($operator:expr),+ $(,)?] $(, exports: [$($export:ident),* $(,)?])? $(,)?) => {
        #[doc(hidden)]
        struct __LatchworkPlugin;

        #[doc(hidden)]
        fn __latchwork_operators() -> ::std::vec::Vec<$crate::tool::Erased> {
            ::std::vec![$($crate::tool::Erased::from($operator)),+]
        }

        const _: () = {
            use $crate::bindings::{export_invoke, export_plugin, types};

            // On native targets this constant is the only use of the handlers. Without it the compiler
            // reports them as dead code.
            const _: fn() -> ::std::vec::Vec<$crate::tool::Erased> = __latchwork_operators;

            impl export_plugin::exports::latchwork::plugin::plugin::Guest for __LatchworkPlugin {
                fn describe() -> export_plugin::exports::latchwork::plugin::plugin::Manifest {
                    $crate::__private::describe($version, &__latchwork_operators())
                }
            }

            impl export_invoke::exports::latchwork::plugin::invoke::Guest for __LatchworkPlugin {
                fn invoke(
                    operator: ::std::string::String,
                    args: ::std::string::String,
                ) -> ::core::result::Result<types::ToolOutput, types::Error> {
                    $crate::__private::invoke(&__latchwork_operators(), &operator, &args)
                }
            }
        };

        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_plugin::export!(__LatchworkPlugin with_types_in $crate::bindings::export_plugin);
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_invoke::export!(__LatchworkPlugin with_types_in $crate::bindings::export_invoke);

        $($($crate::__export_optional!($export);)*)?

        #[cfg(test)]
        #[test]
        fn latchwork_exports_match_their_handlers() {
            let exported: &[&str] = &[$($(stringify!($export)),*)?];
            let found = $crate::__private::mismatched_exports(&__latchwork_operators(), exported);
            assert!(found.is_empty(), "{}", found.join("; "));
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_optional {
    (reconcile) => {
        const _: () = {
            use $crate::bindings::export_reconcile::exports::latchwork::plugin::reconcile as wit;
            impl wit::Guest for __LatchworkPlugin {
                fn reconcile(
                    operator: ::std::string::String,
                    external_key: ::std::string::String,
                    args: ::std::string::String,
                ) -> ::core::result::Result<wit::Verdict, wit::Error> {
                    $crate::__private::reconcile(&__latchwork_operators(), &operator, &external_key, &args)
                }
            }
        };
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_reconcile::export!(__LatchworkPlugin with_types_in $crate::bindings::export_reconcile);
    };
    (verify) => {
        const _: () = {
            use $crate::bindings::export_verify::exports::latchwork::plugin::verify as wit;
            impl wit::Guest for __LatchworkPlugin {
                fn verify(
                    operator: ::std::string::String,
                    change: wit::StateChange,
                ) -> ::core::result::Result<wit::Finding, wit::Error> {
                    $crate::__private::verify(&__latchwork_operators(), &operator, change)
                }
            }
        };
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_verify::export!(__LatchworkPlugin with_types_in $crate::bindings::export_verify);
    };
    (compensate) => {
        const _: () = {
            use $crate::bindings::export_compensate::exports::latchwork::plugin::compensate as wit;
            impl wit::Guest for __LatchworkPlugin {
                fn compensate(
                    operator: ::std::string::String,
                    external_key: ::std::string::String,
                    args: ::std::string::String,
                    result: ::std::string::String,
                ) -> ::core::result::Result<wit::ToolOutput, wit::Error> {
                    $crate::__private::compensate(&__latchwork_operators(), &operator, &external_key, &args, &result)
                }
            }
        };
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export_compensate::export!(
            __LatchworkPlugin with_types_in $crate::bindings::export_compensate
        );
    };
}
