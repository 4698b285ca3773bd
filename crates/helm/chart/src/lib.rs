//! Helm charts: loading from bytes, values, dependencies, rendering, hooks, the order of kinds.
//!
//! What Helm 4.3.1 does is what is right here, down to the words in which it refuses. Helm's own packages are asked in
//! `tests/live_oracle.rs`, and the rows under `tests/cases` are their answers.
//!
//! Known differences:
//!
//! - Where Helm leaves an order to chance (of subcharts that nobody declares), ours is that of their names.
//! - A chart that declares dependencies, is declared by nobody and is inside of a chart with two aliases is there twice;
//!   in Helm the two are one, and what is done to one is done to both.
//! - A chart of Helm's unfinished `apiVersion: v3` is refused.
//! - A name that is no UTF-8 is read with U+FFFD in it.

mod chart;
pub mod dependencies;
mod error;
mod images;
mod lint;
mod load;
pub mod manifest;
mod metadata;
pub mod render;
pub mod schema;
mod template;
pub mod values;

pub use chart::{Chart, Crd, File};
pub use error::Error;
pub use images::{Images, images, object_images};
pub use lint::{ConditionUpdate, Severity, lint};
pub use load::Rules;
pub use metadata::{Dependency, Import, Lock, Maintainer, Metadata};
pub use template::{Rendered, Shown, fits, release_name, template};

/// What Helm would say on its error output, and go on: a line each.
pub type Warnings = Vec<String>;
