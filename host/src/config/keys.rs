//! Values of settings that several tables share.

use latchwork_core::model::manifest::OnIndeterminate;

pub(crate) const ON_INDETERMINATE: [(&str, OnIndeterminate); 2] =
    [("park", OnIndeterminate::Park), ("fail", OnIndeterminate::Fail)];
