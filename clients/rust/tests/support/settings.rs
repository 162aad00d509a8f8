//! The servers that `tests/conformance` starts.

use std::fs;

use serde_json::Value;

/// The file that names the servers; none if the test is to be skipped.
pub fn settings() -> Option<Value> {
    let Some(path) = std::env::var_os("SIDECHECK_CONFORMANCE") else {
        let required = std::env::var("SIDECHECK_REQUIRE_ALL").is_ok_and(|value| value == "1");
        let reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance";
        assert!(!required, "{reason}");
        eprintln!("skipped: {reason}");
        return None;
    };
    let text = fs::read_to_string(path).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}
