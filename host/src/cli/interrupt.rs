//! Ctrl-c: the first one stops safely, the second one ends the process at once.

use std::sync::OnceLock;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How often ctrl-c was pressed since the first question about it.
static PRESSED: OnceLock<watch::Receiver<u32>> = OnceLock::new();

/// From the first call on, ctrl-c no longer ends the process by itself.
fn pressed() -> watch::Receiver<u32> {
    let start = || {
        let (count, pressed) = watch::channel(0);
        match signal(SignalKind::interrupt()) {
            Ok(mut interrupts) => drop(tokio::spawn(async move {
                while interrupts.recv().await.is_some() {
                    count.send_modify(|count| *count += 1);
                }
            })),
            // Ctrl-c ends the process then.
            Err(error) => tracing::debug!("ctrl-c is not listened for: {error}"),
        }
        pressed
    };
    PRESSED.get_or_init(start).clone()
}

/// Catches ctrl-c from now on.
pub(super) fn listen() {
    drop(pressed());
}

/// Completes when ctrl-c has been pressed so often.
pub(super) async fn times(count: u32) {
    if pressed().wait_for(|pressed| *pressed >= count).await.is_err() {
        std::future::pending().await
    }
}

/// Whether it has been pressed, where a command listens for it.
pub(super) fn is_pressed() -> bool {
    PRESSED.get().is_some_and(|pressed| *pressed.borrow() > 0)
}
