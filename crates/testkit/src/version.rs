//! The Kubernetes versions the testbed can be.

use std::fmt;

/// A supported Kubernetes version.
///
/// All are built from one source tree. The older versions are the newest code, linked with an older version number and run
/// with `--emulated-version`, which is how Kubernetes itself tests its compatibility versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KubeVersion {
    /// 1.33
    V1_33,
    /// 1.34
    V1_34,
    /// 1.35
    V1_35,
    /// 1.36
    V1_36,
}

impl KubeVersion {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::V1_33, Self::V1_34, Self::V1_35, Self::V1_36];
    /// The version the testbed's Go module pins.
    pub const NEWEST: Self = Self::V1_36;

    /// The minor version's number.
    pub fn minor(self) -> u8 {
        match self {
            Self::V1_33 => 33,
            Self::V1_34 => 34,
            Self::V1_35 => 35,
            Self::V1_36 => 36,
        }
    }

    /// The `gitVersion` of `/version`.
    pub fn git_version(self) -> &'static str {
        match self {
            Self::V1_33 => "v1.33.9",
            Self::V1_34 => "v1.34.6",
            Self::V1_35 => "v1.35.4",
            Self::V1_36 => "v1.36.3",
        }
    }

    /// The file name of the program of this version.
    pub(crate) fn program(self) -> String {
        format!("kubebox-1.{}", self.minor())
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor())
    }
}
