//! Reads of clocks and random numbers that a language's runtime makes by itself, in every program.

/// Returns true for a read that the runtime, the standard library or the SDK of Go makes for itself, and not for a
/// function of the plugin. Also returns true if the read only gives a log record its time.
pub fn is_of_the_runtime(functions: &[String]) -> bool {
    let is_go = functions.iter().any(|name| begins(name, &GO_FUNCTIONS));
    // Functions of a plugin in Go belong to the package `main`.
    let is_for_plugin = functions.iter().any(|name| name.starts_with("main.") && name != "main.main");
    // The first function outside of the packages that read clocks.
    let reader = functions.iter().find(|name| name.contains('.') && !begins(name, &["runtime.", "time."]));
    let is_of_the_sdk = reader.is_some_and(|name| TOOL_CALLS.contains(&name.as_str()));
    // The garbage collector runs while a function of the plugin allocates memory.
    let is_of_the_collector = functions.iter().any(|name| name.starts_with(COLLECTOR));
    let is_of_log = functions.iter().any(|name| begins(name, &LOG_FUNCTIONS));
    is_go && (!is_for_plugin || is_of_the_sdk || is_of_the_collector || is_of_log)
}

/// Returns true if [`is_of_the_runtime`] returns true, or if the runtime of Go reads for itself during a function of
/// the plugin. The scheduler and the garbage collector of Go read the clock during any function. Such a read does not
/// come from a function whose purpose is to read a clock or random numbers.
pub fn is_forced_by_the_runtime(functions: &[String]) -> bool {
    let is_go = functions.iter().any(|name| begins(name, &GO_FUNCTIONS));
    let reader = functions.iter().find(|name| name.contains('.') && !name.starts_with("runtime."));
    is_go && (is_of_the_runtime(functions) || !reader.is_some_and(|name| begins(name, &READERS)))
}

fn begins(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| name.starts_with(beginning))
}

/// Beginnings of the names of functions of Go that read a clock or random numbers for their caller.
const READERS: [&str; 7] = ["time.now", "time.Now", "time.runtimeN", "time.Since", "time.Until", "crypto", "syscall."];

/// Functions of the SDK of Go that call tools. After a call, which advances the clock, such a function reads the clock.
const TOOL_CALLS: [&str; 2] = ["latchwork_internal_host.Call", "latchwork_internal_host.CallAll"];

/// Beginnings of the names of functions that every program in Go has. The functions of the SDK are among them, because
/// the SDK requests the context of each run.
const GO_FUNCTIONS: [&str; 3] = ["runtime.", "latchwork.", "latchwork_internal_host."];

/// Beginning of the names of functions of the garbage collector of Go.
const COLLECTOR: &str = "runtime.gc";

/// Beginnings of the names of functions of Go that write log records. In the names of a component, `/` is `_`.
const LOG_FUNCTIONS: [&str; 2] = ["log.", "log_slog."];

#[cfg(test)]
mod tests {
    use super::*;

    /// I215, I240: a read of a runtime is distinguished from a read of the plugin, in every language.
    #[test]
    fn reads_of_a_runtime_are_distinguished_from_reads_of_the_plugin() {
        let of = |names: &[&str]| is_of_the_runtime(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert!(of(&["function 20", "latchwork_internal_host.GetContext", "latchwork.serveSteps.func1"]));
        assert!(of(&["runtime.nanotime1", "runtime.findRunnable", "runtime.schedule"]));
        assert!(of(&[
            "look",
            "runtime.clock_time_get",
            "time.now",
            "time.Now",
            "rand.init",
            "runtime.doInit1",
            "main.main"
        ]));
        assert!(of(&[
            "runtime.walltime1",
            "time.now",
            "time.Now",
            "log.(*Logger).output",
            "log.Println",
            "main.stamp"
        ]));
        assert!(of(&["runtime.walltime1", "time.now", "log_slog.(*Logger).log", "log_slog.Info", "main.stamp"]));
        for call in ["latchwork_internal_host.Call", "latchwork_internal_host.CallAll"] {
            assert!(of(&["runtime.walltime1", "time.now", "time.Now", call, "main.build"]), "{call}");
        }
        let collector =
            ["time.now", "runtime.gcMarkTermination", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.hash"];
        assert!(of(&collector));
        assert!(!of(&["time.now", "time.Now", "main.stamp", "latchwork_internal_host.Call", "main.build"]));
        assert!(!of(&["look", "runtime.clock_time_get", "time.now", "time.Now", "main.init", "runtime.doInit1"]));
        assert!(!of(&["function 20", "latchwork_internal_host.now", "latchwork.Now", "main.stamp"]));
        assert!(!of(&["runtime.walltime", "time.Now", "main.stamp"]));
        assert!(!of(&["latchwork_guest::clock::now", "plugin::stamp"]));
        assert!(!of(&["latch_now", "stamp", "exports_run"]));
        assert!(!of(&["function 7", "function 9"]) && !of(&[]), "without names, nothing is excused");
    }

    /// I240: the scheduler and the garbage collector of Go read for the runtime, also below a function of the plugin.
    #[test]
    fn scheduler_reads_for_the_runtime_below_a_function_of_the_plugin() {
        let of =
            |names: &[&str]| is_forced_by_the_runtime(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert!(of(&[
            "look",
            "runtime.nanotime1",
            "runtime.schedule",
            "runtime.gopark",
            "main.wait",
            "latchwork.served"
        ]));
        assert!(of(&[
            "runtime.nanotime1",
            "runtime.gcStart",
            "runtime.mallocgc",
            "encoding/json.Marshal",
            "main.keep"
        ]));
        assert!(of(&["runtime.nanotime1", "runtime.nanotime", "time.Sleep", "main.wait"]));
        assert!(!of(&["look", "runtime.walltime1", "time.now", "time.Now", "main.stamp"]));
        assert!(!of(&["runtime.nanotime1", "time.runtimeNano", "time.Since", "main.stamp"]));
        assert!(!of(&["random_get", "crypto/internal/sysrand.Read", "crypto/rand.Read", "main.stamp"]));
        assert!(!of(&["latch_now", "stamp"]) && !of(&[]));
    }
}
