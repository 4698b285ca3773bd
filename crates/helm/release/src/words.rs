//! The words that a record is made of.
//!
//! Each set is open: a word that a later Helm adds is read, kept and written again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enum over a set of words, with a variant for words that are not in it.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$meaning])* $variant,)+
            /// A word that is not known here.
            Other(String),
        }

        impl $name {
            /// The word as Helm writes it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// How far a revision has come.
    #[derive(Default)]
    Status {
        /// Nobody can tell.
        #[default]
        Unknown = "unknown",
        /// It is what the cluster has.
        Deployed = "deployed",
        /// It was removed, and its record was kept.
        Uninstalled = "uninstalled",
        /// A later revision took its place.
        Superseded = "superseded",
        /// It could not be brought to the cluster.
        Failed = "failed",
        /// It is being removed.
        Uninstalling = "uninstalling",
        /// The first revision is on its way.
        PendingInstall = "pending-install",
        /// A later revision is on its way.
        PendingUpgrade = "pending-upgrade",
        /// An earlier state is on its way back.
        PendingRollback = "pending-rollback",
    }
}

impl Status {
    /// Somebody is at work on the release, or was and never came back: Helm refuses to upgrade it meanwhile.
    pub fn is_pending(&self) -> bool {
        matches!(self, Self::PendingInstall | Self::PendingUpgrade | Self::PendingRollback)
    }
}

words! {
    /// Who merges an object's fields, the server or the client. A record without it means the client.
    ApplyMethod {
        /// The client, with the last manifest at hand.
        ClientSide = "csa",
        /// The API server, which knows who owns each field.
        ServerSide = "ssa",
    }
}

words! {
    /// When a hook runs.
    HookEvent {
        /// Before anything is installed.
        PreInstall = "pre-install",
        /// After everything is installed.
        PostInstall = "post-install",
        /// Before anything is deleted.
        PreDelete = "pre-delete",
        /// After everything is deleted.
        PostDelete = "post-delete",
        /// Before anything is upgraded.
        PreUpgrade = "pre-upgrade",
        /// After everything is upgraded.
        PostUpgrade = "post-upgrade",
        /// Before anything is rolled back.
        PreRollback = "pre-rollback",
        /// After everything is rolled back.
        PostRollback = "post-rollback",
        /// When a person asks for the tests.
        Test = "test",
    }
}

words! {
    /// When a hook's object is deleted.
    HookDeletePolicy {
        /// Once it has succeeded.
        Succeeded = "hook-succeeded",
        /// Once it has failed.
        Failed = "hook-failed",
        /// Before the hook runs the next time.
        BeforeCreation = "before-hook-creation",
    }
}

words! {
    /// When a hook's log is shown.
    HookLogPolicy {
        /// Once it has succeeded.
        Succeeded = "hook-succeeded",
        /// Once it has failed.
        Failed = "hook-failed",
    }
}

words! {
    /// How a hook's last run went.
    #[derive(Default)]
    HookPhase {
        /// It has not run.
        #[default]
        None = "",
        /// It was started, and nobody saw the end.
        Unknown = "Unknown",
        /// It is running.
        Running = "Running",
        /// It did what it was to do.
        Succeeded = "Succeeded",
        /// It did not.
        Failed = "Failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_written_as_helm_writes_it() {
        let words = [
            "unknown",
            "deployed",
            "uninstalled",
            "superseded",
            "failed",
            "uninstalling",
            "pending-install",
            "pending-upgrade",
            "pending-rollback",
        ];
        for word in words {
            let status = Status::from(word.to_owned());
            assert!(!matches!(status, Status::Other(_)), "{word}");
            assert_eq!(status.to_string(), word);
            assert_eq!(status.is_pending(), word.starts_with("pending-"), "{word}");
        }
    }

    #[test]
    fn a_word_of_a_later_helm_is_kept() {
        let status: Status = serde_json::from_str(r#""pending-thought""#).unwrap();
        assert_eq!(status, Status::Other("pending-thought".into()));
        assert_eq!(serde_json::to_string(&status).unwrap(), r#""pending-thought""#);
    }
}
