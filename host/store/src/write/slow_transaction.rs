//! A message about a transaction that the database does not complete.

use std::pin::pin;
use std::time::Duration;

use crate::sql::dialect::Dialect;

/// Time without an answer after which the first message is written.
const FIRST_AFTER: Duration = Duration::from_secs(10);
/// Maximum time between two messages.
const INTERVAL_MAX: Duration = Duration::from_secs(300);

/// Waits for a transaction. Writes a message after ten seconds without an answer, and further messages at growing intervals.
pub(crate) async fn reporting_waits<T>(dialect: Dialect, transaction: impl Future<Output = T>) -> T {
    let mut transaction = pin!(transaction);
    let (mut waited, mut interval) = (Duration::ZERO, FIRST_AFTER);
    loop {
        match tokio::time::timeout(interval, &mut transaction).await {
            Ok(done) => return done,
            Err(_) => {
                waited += interval;
                let seconds = waited.as_secs();
                tracing::warn!("the database has not completed a transaction for {seconds} s: {}", reason(dialect));
            }
        }
        interval = (2 * interval).min(INTERVAL_MAX);
    }
}

/// Returns what can hold up a transaction, and how to find it out.
fn reason(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "its disk is slow, or another process holds the lock of the file",
        Dialect::Postgres => {
            "if synchronous_standby_names is set on the server, commits wait for a standby; \
             SELECT application_name, sync_state FROM pg_stat_replication lists those that are connected"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_changes_no_result() {
        let slow = async {
            tokio::time::sleep(100 * FIRST_AFTER).await;
            7
        };
        assert_eq!(reporting_waits(Dialect::Postgres, slow).await, 7);
    }
}
