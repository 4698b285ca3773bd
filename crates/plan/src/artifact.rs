//! What a change applies.

use fitout_model::{Digest, ObjectId};

use crate::Phase;

/// The very thing that is applied, rendered once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Of all its objects.
    pub digest: Digest,
    /// The revision whose artifact is installed again; none for one that was rendered now.
    pub rolls_back_to: Option<u32>,
    /// Its objects.
    pub objects: Vec<Planned>,
}

/// One object of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Which it is.
    pub id: ObjectId,
    /// When it is applied.
    pub phase: Phase,
    /// Of what is applied.
    pub digest: Digest,
}
