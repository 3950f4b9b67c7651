//! Ctrl-c: the first press stops safely, the second press ends the process immediately.

use std::sync::OnceLock;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Number of times ctrl-c was pressed since the first call of [`pressed`].
static PRESSED: OnceLock<watch::Receiver<u32>> = OnceLock::new();

/// Returns the counter of ctrl-c presses. After the first call, ctrl-c no longer ends the process by itself.
fn pressed() -> watch::Receiver<u32> {
    let start = || {
        let (count, pressed) = watch::channel(0);
        match signal(SignalKind::interrupt()) {
            Ok(mut interrupts) => drop(tokio::spawn(async move {
                while interrupts.recv().await.is_some() {
                    count.send_modify(|count| *count += 1);
                }
            })),
            // If the handler cannot be installed, ctrl-c still ends the process.
            Err(error) => tracing::debug!("ctrl-c cannot be caught: {error}"),
        }
        pressed
    };
    PRESSED.get_or_init(start).clone()
}

/// Starts catching ctrl-c.
pub(crate) fn listen() {
    drop(pressed());
}

/// Completes when ctrl-c has been pressed `count` times.
pub(crate) async fn pressed_times(count: u32) {
    if pressed().wait_for(|pressed| *pressed >= count).await.is_err() {
        std::future::pending().await
    }
}

/// Returns true if ctrl-c was pressed since a command started to listen for it.
pub(crate) fn is_pressed() -> bool {
    PRESSED.get().is_some_and(|pressed| *pressed.borrow() > 0)
}
