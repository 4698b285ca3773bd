//! Helm's release record: what it holds, how it is stored, and the rules of a release's history.
//!
//! Helm keeps one Secret for each revision of a release. This crate reads and writes those Secrets so that Helm sees
//! what Fitout did and Fitout sees what Helm did. The format is Helm 4.3's; what other versions of Helm wrote is read
//! as well, and a field that is not known here is kept.
//!
//! ```
//! use fitout_helm_release::{Release, Stamp, Status, from_secret, secret};
//!
//! let mut release = Release { name: "web".into(), namespace: "shop".into(), revision: 1, ..Release::default() };
//! release.info.status = Status::Deployed;
//! let object = secret(&release, Stamp::Created(time::OffsetDateTime::UNIX_EPOCH))?;
//! assert_eq!(object["metadata"]["name"], "sh.helm.release.v1.web.v1");
//! assert_eq!(from_secret(&object)?, release);
//! # Ok::<(), fitout_helm_release::Error>(())
//! ```
//!
//! It is pure: it talks to nobody, and the time comes in as a value.

mod encoding;
mod error;
mod fitting;
pub mod history;
mod moment;
mod packed;
mod record;
mod secret;
mod shared;
mod words;

pub use encoding::{decode, encode};
pub use error::Error;
pub use fitting::fitting_secret;
pub use record::{Chart, Hook, HookRun, Info, Metadata, Release};
pub use secret::{OWNER, SECRET_TYPE, Stamp, from_secret, secret, secret_name};
pub use shared::SharedChart;
pub use words::{ApplyMethod, HookDeletePolicy, HookEvent, HookLogPolicy, HookPhase, Status};
