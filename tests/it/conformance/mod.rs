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
pub(crate) mod world;

/// Runs each case on each store.
macro_rules! suite {
    ($($module:ident :: $case:ident;)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $case() {
                super::$module::$case(super::world::StoreFixture::memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$module::$case(super::world::StoreFixture::sqlite().await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                if let Some(world) = super::world::StoreFixture::postgres().await {
                    super::$module::$case(world).await;
                }
            })*
        }
    };
}

suite! {
    jobs::a_submission_is_stored_whole;
    jobs::the_same_request_attaches;
    jobs::a_job_that_contradicts_itself_is_refused;
    jobs::jobs_are_listed_newest_first;
    jobs::a_list_says_why;
    batches::a_batch_is_written_whole;
    batches::the_log_must_end_where_the_writer_thinks;
    batches::each_event_follows_the_one_before;
    batches::a_stale_attempt_writes_nothing_of_any_kind;
    batches::an_attempt_that_gave_up_the_claim_writes_nothing;
    batches::a_refused_batch_leaves_no_trace;
    batches::a_row_is_committed_once;
    batches::the_store_computes_the_deadline;
    batches::payloads_are_written_once;
    batches::acquire_needs_a_live_lease;
    batches::acquire_needs_a_lease_of_this_boot;
    batches::acquire_is_refused_in_a_cancelled_job_but_for_compensation;
    batches::unfinished_invocations_are_listed;
    batches::an_outline_is_read_by_itself;
    actions::action_keys_are_held_by_one_slot;
    actions::who_waits_for_an_action_key_is_told;
    actions::all_who_wait_for_an_action_key_are_told;
    actions::who_is_over_is_told_of_no_action_key;
    actions::an_action_key_is_of_one_tenant;
    audit::a_job_that_is_over_takes_words_alone;
    audit::a_receipt_is_taken_back_by_its_holder_alone;
    claims::attempts_strictly_increase;
    claims::a_held_job_is_claimed_when_its_lease_is_over;
    claims::a_held_job_is_claimed_when_its_owner_is_gone;
    claims::a_held_job_is_claimed_after_a_reboot;
    claims::whoever_held_a_job_before_says_nothing_of_its_holder;
    claims::waiting_and_parked_jobs_are_left_alone;
    claims::a_waiting_job_is_claimed_when_its_time_has_come;
    claims::a_waiting_job_is_pending_when_its_time_has_come;
    claims::many_waits_end_at_once;
    claims::a_heartbeat_prolongs_and_tells_what_is_lost;
    claims::setting_the_wall_clock_ends_no_lease;
    claims::quiescence_follows_deadline_margin_and_settling;
    claims::quiescence_follows_the_owners_lock;
    claims::quiescence_follows_a_reboot;
    inbox::a_request_is_kept_until_it_is_done;
    inbox::a_job_with_requests_neither_ends_nor_waits;
    inbox::a_job_that_nobody_could_load_parks_with_its_requests;
    inbox::a_request_wakes_a_job_that_waits;
    inbox::a_job_that_is_over_takes_evidence_only;
    inbox::cancel_sets_the_flag;
    inbox::no_wake_up_is_lost;
    inbox::a_retry_reopens_what_failed_and_nothing_else;
    inbox::an_undo_reopens_what_is_over_for_compensations_alone;
    queue::the_most_urgent_job_is_claimed_first;
    queue::tenants_can_be_passed_over;
    queue::jobs_can_be_passed_over;
    queue::a_full_queue_refuses_one_more;
    queue::a_job_is_given_back_with_what_was_asked_of_it;
    reusables::results_are_indexed_with_their_batch;
    waits::a_signal_is_taken_while_it_is_wanted;
    waits::a_decision_is_taken_for_the_call_that_was_shown;
    waits::a_timer_fires_once_and_not_early_in_any_state;
    waits::a_timer_that_is_due_fires_no_other;
    waits::a_timer_of_a_job_that_is_over_tells_nobody;
    waits::a_claim_fires_what_is_due;
    waits::a_timer_that_is_taken_away_or_armed_anew_does_not_fire;
    waits::an_end_by_time_waits_for_every_request;
    waits::what_is_acknowledged_while_a_job_comes_to_rest_is_not_lost;
    maps::effects_are_written_once;
    maps::effects_of_foreign_jobs_are_kept;
    maps::a_batch_and_a_late_answer_agree_on_one_effect;
    maps::values_are_kept_by_namespace;
    costs::charges_are_summed_with_the_answers;
    costs::a_refused_batch_is_not_charged;
    groups::one_jobs_conflict_fails_nobody_else;
    groups::batches_of_one_job_follow_each_other;
    groups::lingering_batches_are_written_in_order;
}
