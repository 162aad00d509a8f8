//! Protocol versions of requests.

/// The version, or the default if it is empty.
pub(crate) fn version_or(version: &str, default: &str) -> String {
    if version.is_empty() {
        default.to_owned()
    } else {
        version.to_owned()
    }
}
