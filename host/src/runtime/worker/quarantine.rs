//! Jobs that this worker cannot advance now, although another worker may be able to. This worker does not claim such a
//! job again until the pause of the job has ended. The pause grows with each failure.

use std::collections::BTreeMap;

use latchwork_core::model::ids::JobId;

/// Length of the first pause of a job, in microseconds.
const FIRST_US: u64 = 30_000_000;
/// Maximum length of a pause, in microseconds.
const LONGEST_US: u64 = 3_600_000_000;
/// Maximum number of remembered jobs. If the quarantine is full, the entry that expires first is evicted.
const JOBS_MAX: usize = 1_000;

/// Paused jobs by job id.
#[derive(Default)]
pub(crate) struct Quarantine(BTreeMap<JobId, QuarantineEntry>);

struct QuarantineEntry {
    length_us: u64,
    /// End of the pause on the boot-time clock, in microseconds.
    until_us: u64,
}

/// Result of adding a job to the quarantine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QuarantineUpdate {
    /// True if the job was not remembered before and no other entry was evicted.
    pub(crate) is_new: bool,
    /// True if another entry was evicted. The job of that entry may be claimed again immediately.
    pub(crate) has_evicted: bool,
}

impl Quarantine {
    /// Pauses the job from `now_us` on. Each pause of the same job is twice as long as its previous pause, up to one
    /// hour.
    pub(crate) fn add(&mut self, job_id: JobId, now_us: u64) -> QuarantineUpdate {
        let before = self.0.get(&job_id).map(|pause| pause.length_us);
        if before.is_none() && self.0.len() >= JOBS_MAX {
            // Entries whose pause ended more than an hour ago are dropped first. Another worker has probably taken
            // their jobs.
            self.0.retain(|_, pause| now_us < pause.until_us + LONGEST_US);
        }
        let is_full = before.is_none() && self.0.len() >= JOBS_MAX;
        if is_full {
            let due_first = self.0.iter().min_by_key(|(_, pause)| pause.until_us).map(|(job_id, _)| job_id.clone());
            due_first.map(|due_first| self.0.remove(&due_first));
        }
        let length_us = before.map_or(FIRST_US, |length_us| (length_us * 2).min(LONGEST_US));
        self.0.insert(job_id, QuarantineEntry { length_us, until_us: now_us + length_us });
        QuarantineUpdate { is_new: before.is_none() && !is_full, has_evicted: is_full }
    }

    /// Removes the job after this worker has advanced it.
    pub(crate) fn remove(&mut self, job_id: &JobId) {
        self.0.remove(job_id);
    }

    /// Returns the jobs that are paused at `now_us`.
    pub(crate) fn active_at(&self, now_us: u64) -> Vec<JobId> {
        self.0.iter().filter(|(_, pause)| now_us < pause.until_us).map(|(job_id, _)| job_id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarantine_pause_doubles_up_to_one_hour() {
        let (mut passed_over, job) = (Quarantine::default(), JobId::from("job_a"));
        let mut now_us = 7;
        for (nth, minutes) in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0].into_iter().enumerate() {
            assert_eq!(passed_over.add(job.clone(), now_us), QuarantineUpdate { is_new: nth == 0, has_evicted: false });
            let length_us = (minutes * 60_000_000.0) as u64;
            let passed = passed_over.active_at(now_us + length_us - 1);
            assert_eq!(passed, std::slice::from_ref(&job), "{minutes} minutes");
            now_us += length_us;
            assert!(passed_over.active_at(now_us).is_empty(), "{minutes} minutes");
        }
        passed_over.remove(&job);
        assert_eq!(passed_over.add(job.clone(), now_us), QuarantineUpdate { is_new: true, has_evicted: false });
        assert!(passed_over.active_at(now_us + FIRST_US).is_empty(), "starts again with the first pause");
    }

    #[test]
    fn quarantine_evicts_beyond_its_capacity() {
        let mut passed_over = Quarantine::default();
        let job = |n: usize| JobId::from(format!("job_{n:04}"));
        for n in 0..JOBS_MAX {
            assert_eq!(passed_over.add(job(n), n as u64), QuarantineUpdate { is_new: true, has_evicted: false });
        }
        let now_us = JOBS_MAX as u64;
        assert_eq!(passed_over.add(job(JOBS_MAX), now_us), QuarantineUpdate { is_new: false, has_evicted: true });
        let left = passed_over.active_at(now_us);
        assert_eq!((left.len(), left.contains(&job(0)), left.contains(&job(JOBS_MAX))), (JOBS_MAX, false, true));
        assert_eq!(
            passed_over.add(job(1), now_us),
            QuarantineUpdate { is_new: false, has_evicted: false },
            "already remembered"
        );
        let later_us = now_us + 2 * FIRST_US + LONGEST_US;
        assert_eq!(
            passed_over.add(job(0), later_us),
            QuarantineUpdate { is_new: true, has_evicted: false },
            "there is room again"
        );
        assert_eq!(passed_over.0.len(), 1);
    }
}
