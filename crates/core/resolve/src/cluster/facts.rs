//! The parts of explanations: facts that can be checked one by one, and the sentence of each.

use std::fmt::{self, Display, Write as _};

use fitout_model::VersionState;

/// Why a version was chosen, or why none could be: facts, of which each is true by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The facts, the one that matters most first.
    pub facts: Vec<Fact>,
}

/// Versions of an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name that sentences use: that of the extension, and of the instance where the cluster has several.
    pub label: String,
    /// The catalog.
    pub catalog: String,
    /// The extension.
    pub extension: String,
    /// The versions, newest first. There is at least one.
    pub versions: Vec<String>,
}

/// A fact about the cluster, its instances, or what catalogs offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The installed version fits the cluster and everything on it.
    Installed {
        /// The version.
        version: String,
        /// The cluster's Kubernetes version.
        kubernetes: String,
    },
    /// No newer version fits the cluster by itself.
    Newest {
        /// The version.
        version: String,
        /// The requested range.
        requested: Option<String>,
        /// The cluster's Kubernetes version.
        kubernetes: String,
        /// Whether newer ones fit that are deprecated, or pre-releases that nobody asked for.
        apart_from_others: bool,
    },
    /// No newer version fits the cluster and everything on it.
    NewestOfAll {
        /// The version.
        version: String,
        /// The requested range.
        requested: Option<String>,
        /// The cluster's Kubernetes version.
        kubernetes: String,
    },
    /// It is the best that fits the cluster and everything on it, and not the newest.
    Fits {
        /// The version.
        version: String,
        /// The cluster's Kubernetes version.
        kubernetes: String,
    },
    /// A chosen version has a state that users should know of.
    Remark {
        /// The version.
        version: String,
        /// Its state; none if the catalog no longer offers it.
        state: Option<VersionState>,
        /// The reason of the state.
        note: Option<String>,
    },
    /// It is unknown whether the cluster has a capability that a chosen version needs.
    UnknownCapability {
        /// The capability.
        capability: String,
    },
    /// Versions do not support the cluster's Kubernetes.
    Kubernetes {
        /// The versions.
        subject: Subject,
        /// The range of the first of them.
        range: String,
        /// The cluster's Kubernetes version.
        kubernetes: String,
    },
    /// Versions do not support the platform.
    Platform {
        /// The versions.
        subject: Subject,
        /// The range of the first of them.
        range: String,
        /// The version of the platform, where it is known.
        platform: Option<String>,
    },
    /// Versions are yanked or withdrawn.
    State {
        /// The versions.
        subject: Subject,
        /// The state of all of them.
        state: VersionState,
        /// The reason of the first of them.
        note: Option<String>,
    },
    /// Versions cannot replace the installed one, neither in one step nor in several.
    Path {
        /// The versions.
        subject: Subject,
        /// The installed version.
        installed: String,
    },
    /// Versions are not in the requested range.
    NotRequested {
        /// The versions.
        subject: Subject,
        /// The requested range.
        range: String,
    },
    /// No version of an extension is in a range.
    NotInRange {
        /// The extension.
        extension: String,
        /// The range.
        range: String,
        /// Some of the versions that exist, newest first.
        available: Vec<String>,
    },
    /// A text is not a version range.
    InvalidRange {
        /// Where it is from.
        label: String,
        /// The text.
        range: String,
    },
    /// A catalog has no such extension, or no version of it.
    NoExtension {
        /// The catalog.
        catalog: String,
        /// The extension.
        extension: String,
    },
    /// An instance stays at its version because only a user moves it.
    Manual {
        /// The instance.
        label: String,
        /// The installed version.
        installed: String,
        /// The newest version that fits the cluster by itself.
        fits: String,
    },
    /// An instance stays as it is because it is suspended.
    Suspended {
        /// The instance.
        label: String,
        /// The installed version.
        installed: Option<String>,
    },
    /// Versions ask for something.
    Asks {
        /// The versions. The first of them asks for exactly this, and the others for the same with other versions.
        subject: Subject,
        /// The request of the first of them, in its own words.
        dependency: String,
        /// Whether the first of them asks only on its way to the version, not at the end.
        on_the_way_to: Option<String>,
    },
    /// Versions need a capability that the cluster does not have.
    Capability {
        /// The versions.
        subject: Subject,
        /// The capability.
        capability: String,
    },
    /// No catalog of the cluster has an extension or a capability of this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// A dependency names a capability with a range of versions.
    Unversioned {
        /// The capability.
        name: String,
    },
    /// Nothing of this name is an instance of the cluster, and dependencies of this instance are not installed.
    NotAdded {
        /// The name.
        name: String,
        /// The instance.
        label: String,
    },
    /// Versions of one extension must not be on a cluster with those of another.
    Conflict {
        /// The versions that say so.
        subject: Subject,
        /// The versions that they must not be with.
        other: Subject,
    },
    /// A cluster has at most one instance of an extension.
    Singleton {
        /// The extension.
        extension: String,
        /// The instance that is there.
        label: String,
    },
    /// Extensions wait for each other.
    Circle {
        /// They, each before the one it waits for.
        subjects: Vec<Subject>,
    },
    /// An installed instance does not move to an older version for one that is not installed.
    NotOlder {
        /// The instance.
        label: String,
        /// The installed version.
        installed: String,
    },
    /// An instance has this version in the resolution.
    Chosen {
        /// The instance.
        label: String,
        /// The version.
        version: String,
    },
    /// An instance that is installed is set aside, and stays as it is.
    Stays {
        /// The instance.
        label: String,
        /// The installed version.
        installed: String,
    },
    /// An instance that is not installed is set aside.
    SetAside {
        /// The instance.
        label: String,
    },
    /// These instances cannot be on the cluster together, while any one fewer can.
    Together {
        /// The instances.
        labels: Vec<String>,
    },
}

impl Explanation {
    /// The explanation for people. `cluster` is the name of the cluster.
    pub fn text(&self, cluster: &str) -> String {
        let mut text = String::new();
        for (at, fact) in self.facts.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}{}", Sentence { fact, cluster });
        }
        text
    }
}

impl Subject {
    fn verb(&self, one: &str, many: &str) -> String {
        if self.versions.len() == 1 { one.to_owned() } else { many.to_owned() }
    }

    fn first(&self) -> &str {
        self.versions.first().map_or("", String::as_str)
    }

    /// The facts that hold for the versions after the first as well.
    fn others(&self, predicate: &str) -> String {
        match &self.versions[..] {
            [] | [_] => String::new(),
            [_, other] => format!(", and {other} {predicate} either"),
            [_, others @ ..] => {
                format!(", and {} other versions {} either", others.len(), predicate.replace("does", "do"))
            }
        }
    }
}

/// The name and the versions: all of them where they are few, and otherwise the first and how many others.
impl Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.versions[..] {
            [] => f.write_str(&self.label),
            [one] => write!(f, "{} {one}", self.label),
            [one, other] => write!(f, "{} {one} and {other}", self.label),
            [one, others @ ..] => write!(f, "{} {one} and {} other versions", self.label, others.len()),
        }
    }
}

struct Sentence<'f> {
    fact: &'f Fact,
    cluster: &'f str,
}

fn within(requested: Option<&String>) -> String {
    requested.map_or_else(String::new, |range| format!(" in {range}"))
}

fn reason(note: Option<&String>) -> String {
    note.map_or_else(String::new, |note| format!(" ({note})"))
}

impl Display for Sentence<'_> {
    #[expect(clippy::too_many_lines, reason = "a sentence for each fact")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cluster = self.cluster;
        match self.fact {
            Fact::Installed { version, kubernetes } => {
                write!(f, "{version} is installed and fits Kubernetes {kubernetes}")
            }
            Fact::Newest { version, requested, kubernetes, apart_from_others } => {
                let apart = if *apart_from_others { ", apart from deprecated versions and pre-releases" } else { "" };
                let within = within(requested.as_ref());
                write!(f, "{version} is the newest{within} that fits Kubernetes {kubernetes}{apart}")
            }
            Fact::NewestOfAll { version, requested, kubernetes } => {
                let within = within(requested.as_ref());
                write!(f, "{version} is the newest{within} that fits Kubernetes {kubernetes} and the other extensions")
            }
            Fact::Fits { version, kubernetes } => {
                write!(f, "{version} fits Kubernetes {kubernetes} and the other extensions")
            }
            Fact::Remark { version, state: Some(state), note } => {
                write!(f, "{version} is {}{}", state.adjective(), reason(note.as_ref()))
            }
            Fact::Remark { version, state: None, .. } => write!(f, "the catalog no longer offers {version}"),
            Fact::UnknownCapability { capability } => {
                write!(f, "it is unknown whether cluster {cluster} has {capability}")
            }
            Fact::Kubernetes { subject, range, kubernetes } => {
                let others = subject.others("does not support it");
                let (label, first) = (&subject.label, subject.first());
                write!(f, "{label} {first} needs Kubernetes {range}, cluster {cluster} is {kubernetes}{others}")
            }
            Fact::Platform { subject, range, platform } => {
                let others = subject.others("does not support it");
                write!(f, "{} {} needs platform {range}, ", subject.label, subject.first())?;
                match platform {
                    Some(platform) => write!(f, "the platform is {platform}{others}"),
                    None => write!(f, "the version of the platform is not known"),
                }
            }
            Fact::State { subject, state, note } => {
                let verb = subject.verb("is", "are");
                write!(f, "{subject} {verb} {}{}", state.adjective(), reason(note.as_ref()))
            }
            Fact::Path { subject, installed } => {
                let verb = subject.verb("does not replace", "do not replace");
                write!(f, "{subject} {verb} {installed} in place, in one step or in several: ")?;
                f.write_str("install it side by side under another name")
            }
            Fact::NotRequested { subject, range } => {
                let verb = subject.verb("is", "are");
                write!(f, "{subject} {verb} outside the requested {range}")
            }
            Fact::NotInRange { extension, range, available } => {
                write!(f, "no version of {extension} is in {range}, available: {}", available.join(", "))
            }
            Fact::InvalidRange { label, range } => {
                write!(f, "the requested version of {label}, {range}, is not a version range")
            }
            Fact::NoExtension { catalog, extension } => {
                write!(f, "catalog {catalog} has no version of {extension}")
            }
            Fact::Manual { label, installed, fits } => {
                write!(f, "{label} stays at {installed} until a user moves it, as its upgrade policy is Manual; ")?;
                write!(f, "{fits} fits the cluster")
            }
            Fact::Suspended { label, installed: Some(installed) } => {
                write!(f, "{label} stays at {installed} as it is suspended")
            }
            Fact::Suspended { label, installed: None } => write!(f, "{label} is suspended and not installed"),
            Fact::Asks { subject, dependency, on_the_way_to } => {
                let way = on_the_way_to.as_ref().map_or_else(String::new, |to| format!(", on the way to {to},"));
                write!(f, "{} {}{way} asks for {dependency}", subject.label, subject.first())?;
                match subject.versions.len() {
                    1 => Ok(()),
                    2 => write!(f, ", and {} for another version of it", subject.versions[1]),
                    many => write!(f, ", and {} other versions for other versions of it", many - 1),
                }
            }
            Fact::Capability { subject, capability } => {
                let verb = subject.verb("needs", "need");
                write!(f, "{subject} {verb} {capability}, which cluster {cluster} does not have")
            }
            Fact::Unknown { name } => write!(f, "no catalog of cluster {cluster} has {name}"),
            Fact::Unversioned { name } => write!(f, "{name} is a capability, and capabilities have no versions"),
            Fact::NotAdded { name, label } => {
                write!(f, "{name} is not installed, and {label} does not install its dependencies")
            }
            Fact::Conflict { subject, other } => {
                let verb = subject.verb("conflicts", "conflict");
                write!(f, "{subject} {verb} with {other}")
            }
            Fact::Singleton { extension, label } => {
                write!(f, "a cluster has at most one {extension}, and {label} is one")
            }
            Fact::Circle { subjects } => {
                let names: Vec<String> = subjects.iter().map(ToString::to_string).collect();
                let first = names.first().map_or("", String::as_str);
                write!(f, "{} wait for each other in a circle: ", names.join(" and "))?;
                write!(f, "{} needs {first}", names.join(" needs "))
            }
            Fact::NotOlder { label, installed } => {
                write!(f, "{label} {installed} is installed and does not move to an older version for a new extension")
            }
            Fact::Chosen { label, version } => write!(f, "{label} is at {version}"),
            Fact::Stays { label, installed } => write!(f, "{label} is set aside and stays at {installed}"),
            Fact::SetAside { label } => write!(f, "{label} is set aside and not installed"),
            Fact::Together { labels } => {
                write!(f, "{} do not fit together in any of their versions", labels.join(", "))
            }
        }
    }
}
