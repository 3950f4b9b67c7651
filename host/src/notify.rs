//! `[notify] webhook`: posts a document when a job waits for a person and when a job has ended.
//!
//! A notice is queued in this process after its event is durable. A notice never delays the job. If a post fails
//! temporarily, the post is repeated with growing pauses, up to 12 posts in all. A notice may therefore arrive more
//! than once, always with the same `event_id`.
//!
//! Notices that are still queued when the process ends are lost. Complete information is only in the jobs themselves
//! and in `latch job list --open`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request, StatusCode};
use tokio::sync::{Notify as Told, mpsc};

use latchwork_core::model::retry::RetrySpec;
use latchwork_core::response::notice::{Notice, NoticeKind};
use latchwork_core::rules::retry;
use latchwork_engine::capability::call_window::CallWindow;
use latchwork_engine::capability::{Secrets, connect};
use latchwork_engine::os::Machine;

use crate::config::NotifyConfig;

/// Maximum number of posts of one notice, including the first.
const POSTS_MAX: u32 = 12;
/// Pauses between posts: up to half a second at first, growing up to a minute.
const PAUSES: RetrySpec = RetrySpec { max: None, base_ms: Some(500), cap_ms: Some(60_000) };
/// Maximum number of queued notices. If the queue is full, new notices are dropped.
const QUEUE_MAX: usize = 4_096;

/// Posts notices of the configured events to the webhook.
pub struct Notifier {
    events: BTreeSet<NoticeKind>,
    /// Flags that are appended to the suggested next command.
    flags: String,
    queue: mpsc::Sender<Notice>,
    left: Arc<PendingNotices>,
}

/// Number of notices that are queued or being posted.
#[derive(Default)]
struct PendingNotices {
    count: AtomicUsize,
    decreased: Told,
}

/// Result of a post.
#[derive(Debug, PartialEq, Eq)]
enum PostResult {
    Taken,
    /// The post failed temporarily and is repeated.
    Again(String),
    /// The post failed permanently and is not repeated.
    Never(String),
}

impl Notifier {
    /// Starts a task that posts queued notices. The task ends after the notifier is dropped.
    pub fn start(config: NotifyConfig, secrets: Arc<dyn Secrets>, machine: Machine) -> Arc<Notifier> {
        let (queue, mut waiting) = mpsc::channel::<Notice>(QUEUE_MAX);
        let left = Arc::new(PendingNotices::default());
        let (events, flags) = (config.events.clone(), config.flags.clone());
        let pending = left.clone();
        tokio::spawn(async move {
            // Post in order, one notice at a time, so that the receiver gets the notice of a gate before the notice of
            // the park.
            while let Some(notice) = waiting.recv().await {
                deliver(&config, &*secrets, &machine, &notice).await;
                pending.count.fetch_sub(1, Ordering::AcqRel);
                pending.decreased.notify_waiters();
            }
        });
        Arc::new(Notifier { events, flags, queue, left })
    }

    /// Queues the notices whose events are configured. Never waits.
    pub(crate) fn enqueue(&self, notices: Vec<Notice>) {
        for mut notice in notices.into_iter().filter(|notice| self.events.contains(&notice.kind)) {
            notice.next_action += &self.flags;
            self.left.count.fetch_add(1, Ordering::AcqRel);
            if let Err(error) = self.queue.try_send(notice) {
                self.left.count.fetch_sub(1, Ordering::AcqRel);
                tracing::warn!("notice dropped: {error}");
            }
        }
    }

    /// Waits until all notices are posted or abandoned, at most for `within`. Returns the number of remaining
    /// notices.
    pub async fn wait_until_delivered(&self, within: Duration) -> usize {
        let empty = async {
            loop {
                let fewer = self.left.decreased.notified();
                tokio::pin!(fewer);
                // Register for the notification before reading the count. Otherwise a change in between would be
                // missed.
                fewer.as_mut().enable();
                if self.left.count.load(Ordering::Acquire) == 0 {
                    return;
                }
                fewer.await;
            }
        };
        // After a timeout the caller gets the number of remaining notices.
        let _ = tokio::time::timeout(within, empty).await;
        self.left.count.load(Ordering::Acquire)
    }
}

async fn deliver(config: &NotifyConfig, secrets: &dyn Secrets, machine: &Machine, notice: &Notice) {
    let (event_id, job_id, host) = (&notice.event_id, &notice.job_id, &config.origin.host);
    for n in 0..POSTS_MAX {
        match post(config, secrets, machine, notice).await {
            PostResult::Taken => {
                tracing::debug!(%job_id, event_id, host, "webhook accepted a notice");
                return;
            }
            PostResult::Never(why) => {
                tracing::warn!(%job_id, event_id, host, "webhook refused a notice permanently: {why}");
                return;
            }
            PostResult::Again(why) => {
                tracing::warn!(%job_id, event_id, host, "webhook did not accept a notice; retrying: {why}")
            }
        }
        let random = u32::from_le_bytes(machine.random_bytes());
        let pause_ms = retry::backoff_ms(n, Some(&PAUSES), None, random);
        tokio::time::sleep(Duration::from_millis(u64::from(pause_ms))).await;
    }
    tracing::warn!(%job_id, event_id, host, "notice abandoned after {POSTS_MAX} posts");
}

async fn post(config: &NotifyConfig, secrets: &dyn Secrets, machine: &Machine, notice: &Notice) -> PostResult {
    let request = match request(config, secrets, notice) {
        Ok(request) => request,
        // A missing secret is a temporary failure, because the secret may be added before the next post.
        Err(why) => return PostResult::Again(why),
    };
    let watch = CallWindow::with_timeout_ms(machine.clone(), config.timeout_ms);
    match connect::post(request, &config.origin, &watch).await {
        Ok(status) => classify(status),
        Err(error) => PostResult::Again(error.to_string()),
    }
}

fn classify(status: StatusCode) -> PostResult {
    let passing = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
    let why = || format!("it answered {}", status.as_u16());
    match status {
        _ if status.is_success() => PostResult::Taken,
        _ if status.is_server_error() || passing.contains(&status) => PostResult::Again(why()),
        _ => PostResult::Never(why()),
    }
}

fn request(config: &NotifyConfig, secrets: &dyn Secrets, notice: &Notice) -> Result<Request<Full<Bytes>>, String> {
    let body = serde_json::to_vec(notice).expect("a notice is plain data");
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = config.webhook.clone();
    let headers = request.headers_mut();
    let host = config.webhook.authority().map(|authority| authority.as_str()).unwrap_or_default();
    headers.insert(
        HOST,
        HeaderValue::from_str(host).map_err(|_| "the host of the webhook is not valid in a header".to_owned())?,
    );
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("latchwork/", env!("CARGO_PKG_VERSION"))));
    for template in &config.headers {
        let (name, value) = template.render(secrets)?;
        headers.insert(name, value);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_failures_are_posted_again() {
        assert_eq!(classify(StatusCode::NO_CONTENT), PostResult::Taken);
        for again in [500, 503, 408, 429] {
            assert!(matches!(classify(StatusCode::from_u16(again).unwrap()), PostResult::Again(_)), "{again}");
        }
        for never in [301, 400, 401, 404] {
            assert!(matches!(classify(StatusCode::from_u16(never).unwrap()), PostResult::Never(_)), "{never}");
        }
    }
}
