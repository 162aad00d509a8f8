//! Values of the API, generated from its .proto files.

pub(crate) mod comparison;
pub(crate) mod conversion_options;
pub mod error_reasons;
pub(crate) mod inference;
pub(crate) mod inference_options;
pub(crate) mod info;
pub(crate) mod losses;
pub(crate) mod methods;
pub(crate) mod portability;
pub(crate) mod registration_options;
pub(crate) mod registry;
pub(crate) mod validation_options;
pub(crate) mod verdict;
