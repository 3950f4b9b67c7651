//! Selection of the payloads that are withheld from a file.

/// Labels to withhold. `answer/s6/1` names one payload. `answer/s6` and `input` name all payloads whose labels begin
/// with `answer/s6/` or `input/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Withhold {
    /// Withhold no payload.
    #[default]
    Nothing,
    /// Withhold the payloads of these labels and of all labels below them.
    Labels(Vec<String>),
    /// Withhold every payload.
    Everything,
}

/// A requested label that no payload of the job has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the job has no payload {label}; its payloads are: {}", .known.join(", "))]
pub struct UnknownLabel {
    /// The requested label.
    pub label: String,
    /// All labels of the job.
    pub known: Vec<String>,
}

impl Withhold {
    /// Returns true if the payload with this label is withheld.
    pub fn covers(&self, label: &str) -> bool {
        match self {
            Withhold::Nothing => false,
            Withhold::Everything => true,
            Withhold::Labels(labels) => labels.iter().any(|wanted| is_or_is_below(label, wanted)),
        }
    }

    /// Checks that every requested label exists.
    ///
    /// # Errors
    /// Returns the first label that does not exist. If this label were accepted, nothing would be withheld, contrary to
    /// the user's request.
    pub(super) fn check(&self, known: &[&str]) -> Result<(), UnknownLabel> {
        let Withhold::Labels(labels) = self else { return Ok(()) };
        match labels.iter().find(|wanted| !known.iter().any(|label| is_or_is_below(label, wanted))) {
            None => Ok(()),
            Some(label) => Err(UnknownLabel {
                label: label.clone(),
                known: known.iter().map(|label| (*label).to_owned()).collect(),
            }),
        }
    }
}

fn is_or_is_below(label: &str, wanted: &str) -> bool {
    let wanted = wanted.strip_suffix('/').unwrap_or(wanted);
    label.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_covers_only_itself_and_labels_below() {
        let withhold = Withhold::Labels(vec!["answer/s1".into(), "input/".into()]);
        for label in ["answer/s1/1", "answer/s1/0/2", "input/s2", "input"] {
            assert!(withhold.covers(label), "{label}");
        }
        for label in ["answer/s12/1", "answer", "output/s1", "inputs/s2"] {
            assert!(!withhold.covers(label), "{label}");
        }
        assert!(withhold.check(&["answer/s1/1", "input/s1"]).is_ok());
        assert_eq!(withhold.check(&["answer/s1/1"]).unwrap_err().label, "input/");
    }
}
