//! Messages and clients generated from the API, for what has no method of its own here.
//!
//! A generated client takes the connection of a [`Client`](crate::Client), without its
//! deadline, retries and errors: see [`Client::channel`](crate::Client::channel).

#![allow(missing_docs, rustdoc::all, clippy::all, clippy::pedantic)]

/// Packages of Google.
pub mod google {
    /// Statuses and their details.
    pub mod rpc {
        include!("gen/google.rpc.rs");
    }
}

/// Packages of Sidecheck.
pub mod sidecheck {
    /// Version 1 of the API.
    pub mod v1 {
        include!("gen/sidecheck.v1.rs");
        include!("gen/sidecheck.v1.tonic.rs");
    }
}
