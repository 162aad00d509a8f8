//! The policy for validations that no server answers.

use crate::connection::Connection;
use crate::error::Error;
use crate::options::OnUnavailable;
use crate::values::verdict::{Severity, Verdict, Violation};

impl Connection {
    /// Applies the policy for unavailable servers to the result of a validation.
    pub(crate) fn settle<T>(
        &self,
        result: Result<T, Error>,
        fallback: impl FnOnce(Verdict) -> T,
    ) -> Result<T, Error> {
        let error = match result {
            Err(error) if error.is_unavailable() => error,
            result => return result,
        };
        let allowed = match self.on_unavailable() {
            OnUnavailable::Error => return Err(error),
            OnUnavailable::Allow => true,
            OnUnavailable::Deny => false,
        };
        let text = "This could not be validated and was rejected. Try again later.";
        Ok(fallback(Verdict {
            valid: allowed,
            violations: vec![Violation {
                code: "SIDECHECK_UNAVAILABLE".to_owned(),
                severity: if allowed {
                    Severity::Warning
                } else {
                    Severity::Error
                },
                message: format!("not validated: {error}"),
                ..Violation::default()
            }],
            tool_error_text: if allowed {
                String::new()
            } else {
                text.to_owned()
            },
            enforced: true,
            ..Verdict::default()
        }))
    }
}
