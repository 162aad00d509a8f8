//! Client of [Sidecheck](https://github.com/sidecheck/sidecheck), the validation sidecar of the
//! Model Context Protocol.
//!
//! ```no_run
//! use serde_json::json;
//! use sidecheck::{Client, ClientOptions, Options, Schema};
//!
//! # async fn run() -> Result<(), sidecheck::Error> {
//! let client = Client::new("127.0.0.1:50151", ClientOptions::default())?;
//! let schema = Schema::new(json!({"type": "object", "required": ["city"]}));
//! let verdict = client.validate(schema, json!({}), &Options::default()).await?;
//! println!("{} {}", verdict.valid, verdict.violations[0].message);
//! # Ok(())
//! # }
//! ```
//!
//! An invalid payload is no error: the call returns a [`Verdict`] that lists the violations.
//! An [`Error`] means that no verdict was possible.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod address;
mod client;
mod codec;
mod connection;
mod conversion;
mod decoding;
mod enumeration;
mod error;
mod inference;
mod json;
#[cfg(feature = "rmcp")]
pub mod mcp;
mod options;
mod peer;
mod portability;
mod protocol;
mod registration;
mod registry;
mod rpc;
mod status;
mod stream;
pub mod stubs;
mod target;
mod text;
#[cfg(feature = "tls")]
mod tls;
mod token;
mod validation;
mod values;
mod verdict;
mod version;
mod watching;

pub use client::Client;
pub use conversion::{
    Conversion, ConversionMode, ConversionOptions, ConvertedCall, ConvertedResult, ConvertedTool,
    ConvertedTools, ModelApi, ServerPrefix, ToolConversion, ToolResultToConvert, ToolToConvert,
};
pub use error::{Error, ErrorKind};
pub use inference::{InferOptions, Inference, OnUnsupported};
pub use json::Json;
pub use options::{ClientOptions, OnUnavailable};
pub use portability::Portability;
pub use protocol::{
    CheckItem, CheckOptions, CheckResult, CheckedNames, CheckedTools, Disposition, NameCollision,
    NormalizedResult, Protocol, ProtocolContext, ProtocolMessage, RepeatedViolation, ResultProfile,
    Returned, Rule, Sender, Session, SessionOptions, SessionSummary, ToolNameOutcome, ToolOutcome,
    ToolResult,
};
pub use registration::{ChangePolicy, CompatibilityPolicy, RegisterOptions};
pub use registry::{Document, Tool};
pub use stream::{StreamOptions, StreamOutcome, StreamOutcomes, StreamSender};
pub use target::{RegisteredTool, Schema, Target, ToolDefinition, ToolSet};
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use token::Token;
pub use tonic::Code;
pub use validation::{Coercion, Detail, Item, OnUnknownTool, Options, Subject, UnknownArguments};
pub use values::comparison::{
    ChangeEffect, ChangeLevel, Comparison, DefinitionChange, DefinitionPart, SchemaComparison,
    SchemaReading, SchemaRelation, SchemaVerdict, ToolComparison, ToolStatus, Witness,
};
pub use values::error_reasons;
pub use values::inference::{AdaptedTool, Diagnostic, InferredTool, InferredTools};
pub use values::info::{EngineInfo, Limits, ServerInfo};
pub use values::losses::{Effect, Loss, LossAction};
pub use values::portability::{PortabilityProof, PortableForm, ProofOutcome};
pub use values::registry::{Action, Deletion, Registration, RegistrationOutcome};
pub use values::verdict::{Change, Repair, Severity, Verdict, Violation};
pub use verdict::InvalidPayload;
pub use watching::{Checkpoint, ToolsChange, WatchEvent, WatchOptions};

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "rmcp", feature = "tls"))]
#[doc = include_str!("../README.md")]
mod readme {}
