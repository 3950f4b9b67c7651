//! Verifies an evidence file. Lines and chain are checked first. If both are intact, every value that can be computed
//! from the records is compared with the other records.

use super::check;
use super::read::{self, Evidence};
use super::report::{NotChecked, ProblemKind, SignatureReport, VerifyReport};
use super::trust::{IsSignature, Trust, TrustedKeys};
use crate::model::person::{PublicKey, SIGNATURE_BYTES};
use crate::state::{Durable, Job};

/// Result of [`verify`].
#[derive(Clone, Debug)]
pub struct Verified {
    /// The findings.
    pub report: VerifyReport,
    /// The records of the file.
    pub evidence: Evidence,
    /// Durable state of the job, rebuilt from the file. `None` if the file is too damaged.
    pub durable: Option<Durable>,
}

/// Verifies a file. `is_signature` returns true if the signature of a message is valid for a key.
///
/// # Errors
/// Returns the reason if the bytes are not an evidence file or have another format version.
pub fn verify(bytes: &[u8], trust: Option<&Trust>, is_signature: &IsSignature<'_>) -> Result<Verified, String> {
    verify_with(bytes, TrustedKeys { signers: trust, people: None }, is_signature)
}

/// Verifies a file as [`verify`] does, and checks the keys of people who signed decisions.
///
/// # Errors
/// Returns the reason if the bytes are not an evidence file or have another format version.
pub fn verify_with(bytes: &[u8], keys: TrustedKeys<'_>, is_signature: &IsSignature<'_>) -> Result<Verified, String> {
    let (evidence, mut report) = read::read(bytes)?;
    count(&evidence, &mut report);
    signature(&evidence, &mut report, keys.signers, is_signature);
    let broken = [ProblemKind::DamagedLine, ProblemKind::MissingLines, ProblemKind::Chain];
    let mut durable = None;
    if report.problems.iter().any(|problem| broken.contains(&problem.kind)) {
        report.not_checked.push(NotChecked::new(
            "damaged",
            "state machine, ledger, effects and payloads were not compared: lines or events are damaged or missing",
        ));
    } else {
        let events = evidence.events();
        match Job::fold(&events) {
            Ok(job) => {
                let whole = evidence.durable(job);
                check::check_with_fold(&evidence, &whole, &mut report);
                durable = Some(whole);
            }
            Err(error) => {
                let at = evidence.line_of(check::seq_of(&error));
                report.add_problem(at, ProblemKind::Illegal, error.to_string(), "", "");
                report.not_checked.push(NotChecked::new(
                    "illegal",
                    "the state after the illegal event, and what follows from it, was not compared",
                ));
            }
        }
        check::check_without_fold(&evidence, &mut report);
        check::decisions::check(&evidence, keys.people, is_signature, &mut report);
    }
    report.problems.sort_by_key(|problem| problem.line);
    not_checked(&mut report);
    Ok(Verified { report, evidence, durable })
}

fn count(evidence: &Evidence, report: &mut VerifyReport) {
    report.job_id = evidence.header().map(|header| header.job.job_id.clone());
    report.state = evidence.header().map(|header| header.job.state);
    report.events = evidence.events.len() as u64;
    report.ledger_rows = evidence.rows.len() as u64;
    report.effects = evidence.effects.len() as u64;
    report.payloads = evidence.payloads.len() as u64;
    report.withheld = evidence.withheld().len() as u64;
}

fn signature(evidence: &Evidence, report: &mut VerifyReport, trust: Option<&Trust>, is_signature: &IsSignature<'_>) {
    let announced = evidence.header().and_then(|header| header.signer.clone());
    let Some((at, signed)) = &evidence.signature else {
        if let Some(key) = announced {
            let message = "the header names a signer, but the signature is missing";
            report.add_problem(report.lines, ProblemKind::Signature, message, key, "no signature");
        } else if trust.is_some() && evidence.header.is_some() {
            report.add_problem(1, ProblemKind::Trust, "the file is not signed", "a signature of a trusted key", "none");
        }
        return;
    };
    let record = &signed.record;
    let key = PublicKey::parse(&record.public_key).filter(|_| record.algorithm == "ed25519");
    let bytes = hex::decode(&record.signature).ok().and_then(|bytes| <[u8; SIGNATURE_BYTES]>::try_from(bytes).ok());
    let valid = match (&key, &bytes) {
        (Some(key), Some(bytes)) => is_signature(key, &signed.message, bytes),
        _ => false,
    };
    let name = key.and_then(|key| trust?.name(&key).cloned());
    let trusted = valid && name.is_some();
    report.signature =
        SignatureReport { signed: true, valid, trusted, key: Some(record.public_key.clone()), name: name.clone() };
    if announced.as_ref() != Some(&record.public_key) {
        let expected = announced.unwrap_or_else(|| "no signer".to_owned());
        report.add_problem(
            *at,
            ProblemKind::Signature,
            "the header names another signer",
            expected,
            &record.public_key,
        );
    }
    if !valid {
        let message = "the signature does not match this file and this key";
        report.add_problem(*at, ProblemKind::Signature, message, "a valid signature", &record.public_key);
    } else if trust.is_some() && name.is_none() {
        let message = "the trust file does not name the key that signed";
        report.add_problem(*at, ProblemKind::Trust, message, "a trusted key", &record.public_key);
    }
}

fn not_checked(report: &mut VerifyReport) {
    let signature = &report.signature;
    let reported = match (signature.signed, signature.trusted) {
        (_, true) => None,
        (false, _) => Some((
            "unsigned",
            "the file is not signed: it is at best internally consistent, and its writer could have written any \
             other content"
                .to_owned(),
        )),
        (true, false) => Some((
            "untrusted_key",
            format!(
                "the signature shows that the holder of {} wrote the file; the owner of this key was not checked (use \
                 --trust)",
                signature.key.as_deref().unwrap_or_default()
            ),
        )),
    };
    report.not_checked.extend(reported.map(|(code, message)| NotChecked::new(code, message)));
    if report.withheld > 0 {
        let message =
            format!("{} payloads are withheld: their hashes are protected, their content is unknown", report.withheld);
        report.not_checked.push(NotChecked::new("withheld", message));
    }
}
