//! Waiting in tests without an asynchronous runtime.

use std::time::Duration;

/// Runs a future to its end in this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Waits until `is` returns true. Panics after a minute, with `what` in the message.
pub(crate) fn wait_until(what: &str, is: impl Fn() -> bool) {
    for _ in 0..1_200 {
        if is() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("timed out while waiting: {what}");
}
