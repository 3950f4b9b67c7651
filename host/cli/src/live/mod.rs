//! Live view: shows the durable events and the current activity of a job.
//!
//! On a terminal, completed actions and problems are permanent lines. The current activity is redrawn below them.
//! Without a terminal, every start and every end is printed as a line.
//!
//! Floors, top first: `followed_job` · `screen` · `view` · `event_lines` · `line`, `observer`.

mod event_lines;
mod followed_job;
mod line;
mod observer;
mod screen;
mod view;

pub(crate) use followed_job::{FOLLOW_MS, FollowedJob, recorded_events};
pub(crate) use observer::LiveObserver;
pub(crate) use screen::Screen;
