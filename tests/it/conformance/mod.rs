//! Conformance suite for every store: the model in memory, SQLite and PostgreSQL must behave identically.

mod actions;
mod audit;
mod batches;
mod claims;
mod costs;
mod groups;
mod inbox;
mod jobs;
mod maps;
mod queue;
mod reusables;
mod waits;

/// Runs each case on each store.
macro_rules! suite {
    ($($module:ident :: $case:ident;)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $case() {
                super::$module::$case(crate::support::store_fixture::StoreFixture::memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$module::$case(crate::support::store_fixture::StoreFixture::sqlite().await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                if let Some(world) = crate::support::store_fixture::StoreFixture::postgres().await {
                    super::$module::$case(world).await;
                }
            })*
        }
    };
}

suite! {
    jobs::submission_is_stored_completely;
    jobs::same_request_attaches_to_the_job;
    jobs::inconsistent_job_is_refused;
    jobs::jobs_are_listed_newest_first;
    jobs::job_list_contains_state_reasons;
    batches::batch_is_written_atomically;
    batches::write_with_a_wrong_log_end_is_refused;
    batches::event_that_does_not_follow_its_predecessor_is_refused;
    batches::stale_attempt_cannot_write_anything;
    batches::attempt_that_released_the_claim_cannot_write;
    batches::refused_batch_leaves_no_trace;
    batches::ledger_row_is_committed_once;
    batches::store_computes_the_deadline_of_a_try;
    batches::payload_is_written_once;
    batches::acquire_needs_a_live_lease;
    batches::acquire_needs_a_lease_of_this_boot;
    batches::cancelled_job_can_acquire_compensations_only;
    batches::recover_lists_unfinished_invocations;
    batches::outline_is_read_without_the_job;
    actions::action_key_is_held_by_one_slot;
    actions::job_waiting_for_an_action_key_is_notified_once;
    actions::every_job_waiting_for_an_action_key_is_notified;
    actions::ended_job_is_not_notified_of_an_action_key;
    actions::action_key_belongs_to_one_tenant;
    audit::ended_job_accepts_audit_events_only;
    audit::receipt_is_revoked_only_by_its_holder;
    claims::attempts_strictly_increase;
    claims::job_can_be_claimed_after_its_lease_expired;
    claims::job_can_be_claimed_after_its_owner_died;
    claims::job_can_be_claimed_after_a_reboot;
    claims::death_of_an_earlier_holder_does_not_release_the_job;
    claims::waiting_parked_and_ended_jobs_are_not_claimed;
    claims::waiting_job_is_claimed_after_its_wake_time;
    claims::due_timers_make_waiting_jobs_pending;
    claims::many_timers_can_fire_together;
    claims::heartbeat_renews_held_leases_and_returns_lost_jobs;
    claims::setting_the_wall_clock_expires_no_lease;
    claims::quiescence_follows_deadline_margin_and_settling;
    claims::quiescence_follows_the_owner_lock;
    claims::quiescence_follows_a_reboot;
    inbox::request_is_kept_until_it_is_done;
    inbox::job_with_requests_can_neither_end_nor_wait;
    inbox::job_that_cannot_be_loaded_parks_with_its_requests;
    inbox::request_wakes_a_waiting_job;
    inbox::ended_job_accepts_late_effects_only;
    inbox::cancel_request_sets_the_flag;
    inbox::parking_concurrent_with_a_request_loses_no_wakeup;
    inbox::retry_reopens_unsuccessful_jobs_only;
    inbox::undo_reopens_ended_jobs_for_compensations_only;
    queue::job_with_highest_priority_is_claimed_first;
    queue::claim_can_exclude_tenants;
    queue::claim_can_exclude_jobs;
    queue::full_queue_refuses_another_job;
    queue::released_job_can_be_claimed_with_its_requests;
    reusables::results_are_indexed_with_their_batch;
    waits::signals_are_accepted_while_awaited_and_duplicates_always;
    waits::gate_decision_is_accepted_only_for_the_gated_call;
    waits::timer_fires_once_and_not_early_in_any_state;
    waits::due_timer_fires_no_other_timer;
    waits::timer_of_an_ended_job_does_not_fire;
    waits::claim_fires_due_timers;
    waits::removed_or_rearmed_timer_does_not_fire;
    waits::timeout_of_a_wait_is_refused_while_requests_are_unread;
    waits::request_acknowledged_while_a_job_settles_is_not_lost;
    maps::effect_is_written_once;
    maps::effects_of_jobs_in_another_database_are_kept;
    maps::batch_and_late_answer_agree_on_one_effect;
    maps::values_are_kept_by_tenant_and_namespace;
    maps::map_is_limited_by_its_quota;
    costs::charges_are_summed_with_the_answers;
    costs::refused_batch_is_not_charged;
    groups::conflict_of_one_job_fails_no_other_job;
    groups::batches_of_one_job_are_written_in_order;
    groups::lingering_batches_are_written_in_order;
}
