//! Resolves all extensions of a cluster together: which version each instance should have, what has to be added for it, what
//! waits for what, and why.
//!
//! [`resolve`] is a pure function of an [`Index`], which is built once after a change of a catalog and shared by all clusters,
//! and a [`Problem`], which is one cluster. Equal problems have the same [digest](Problem::digest) and the same
//! [`Resolution`], so a fleet resolves each of them once. This page is the specification; the tests carry it out by brute
//! force and compare.
//!
//! # Which versions fit
//!
//! An instance can have a version of its extension, in its catalog, if all of this holds:
//!
//! * The version is in the range that the instance requests.
//! * It is listed or deprecated, or it is the installed one. The installed one counts even if the catalog has lost it.
//! * It supports the cluster's Kubernetes and, where it names platform versions, the platform. An unknown platform does not
//!   fit.
//! * There is a way to it from the installed version. One version can replace another if its `upgradeFrom` contains that, or
//!   without `upgradeFrom` if both have the same major version. A downgrade is an upgrade turned round: it is possible also if
//!   the newer version could replace the older one. Where one step does not reach, versions in between are *hops*. They are
//!   offered, listed or deprecated, and support the cluster; they may be outside the requested range. The way has the fewest
//!   steps; of several, the one whose last hop is newest, and so on backwards.
//! * Under [`Policy::Manual`], it is the installed one, as long as that is in the requested range. If the instance is
//!   suspended, it is the installed one.
//!
//! # What fits together
//!
//! * **Dependencies.** For each dependency, another extension on the cluster has to meet one of its alternatives: one of that
//!   name in any catalog and with a version in the range or, where there is no range, one that provides a capability of that
//!   name. With [`Dependencies::Install`], what is missing is added: from the catalog of the extension that asks if it has
//!   the name, and otherwise from the first catalog of the cluster that has it. With [`Dependencies::Require`] it has to be
//!   an instance already, and with [`Dependencies::Ignore`] it may be missing. Additions install their own dependencies.
//! * **Hops.** The dependencies of a hop have to be met as well, by what will be on the cluster or by what is installed now.
//! * **Optional dependencies** may be missing. Where extensions of that name are there, one has to be in the range.
//! * **Capabilities** that were looked for and are absent have to be provided by an instance; none is added for that. Unknown
//!   ones do not exclude a version, and the explanation says so.
//! * **Conflicts** count in both directions, for hops too, and by name or, without a range, by capability.
//! * **Singletons.** If either of two versions of an extension is a singleton, they are not on one cluster, whatever catalogs
//!   they are from. Other extensions can be there several times: then majors are added side by side, and instances are each
//!   on their own. A singleton that is an instance is never added a second time.
//! * **Circles.** Extensions that wait for each other are refused. Circles through optional dependencies are not: such a
//!   dependency does not wait.
//!
//! # Setting aside
//!
//! An instance that cannot have any version is *set aside*: it has no version, and the others go on. One that is not installed
//! is then not on the cluster. One that is installed stays as it is: it meets dependencies of others with its installed
//! version, and nothing may be installed or moved that conflicts with it. What is already side by side with it may stay, so
//! two installed extensions that conflict set aside one of them, not both.
//!
//! # Preferences
//!
//! Of all answers, the best one is chosen by these preferences, each of which is decided before the next. *In order* means:
//! installed instances first, then the older ones.
//!
//! 1. Installed instances are not set aside, in order.
//! 2. Installed instances do not move to an older version, in order. An installed version that is withdrawn is no reason to
//!    stay.
//! 3. Instances that are not installed are not set aside, in order. So the installed one wins, then the older one, and nothing
//!    installed is downgraded for something new.
//! 4. Each instance has its best version, in order. Under [`Policy::Follow`] the installed version is the best, and under
//!    [`Policy::Latest`] newer ones are better, newest first, unless they are deprecated or pre-releases. Then come the others,
//!    newest first, with deprecated versions, lost versions and pre-releases that no range asks for after the rest. An
//!    installed version that is withdrawn comes last, except under [`Policy::Manual`].
//! 5. Then dependencies are walked from the instances on, in order and as they are stated. What is decided already meets a
//!    dependency first. Otherwise the first alternative is added that can be, newest major version first, with its best version:
//!    newest first, with deprecated versions and pre-releases after the rest. Nothing else is added.
//!
//! # The answer
//!
//! Each instance has its version with the hops to it, or is set aside; either way with an [`Explanation`], whose facts are true
//! one by one. `waits_for` has no circles: what it names has to be healthy first, and it is removed in reverse order. Where
//! several extensions meet a dependency, the first one counts, and instances that users asked for come before those that were
//! added. An instance that was added for others is unneeded if no instance that a user asked for leads to it; it stays until
//! somebody removes it. `suggests` names what is not on the cluster, and is never installed.
//!
//! The search is bounded. If it is given up, the answer is [`ResolveError::TooComplex`], and nothing should move.
//!
//! # From the objects of the hub
//!
//! | here | there |
//! |---|---|
//! | [`Extension::catalog`] | a key of the catalog as the cluster sees it: scope, name and, where the catalog has sources by Kubernetes version, that key; the same in [`Instance::catalog`] |
//! | [`ExtensionVersion`] | a definition, by [`ExtensionVersion::of`], with `state` and `note` of the catalog's entry. A definition has no alternatives yet, so each dependency has one |
//! | [`Problem::capabilities`] | the capabilities of the cluster's status; those that cannot be detected are left out |
//! | [`Problem::catalogs`] | the organization's own catalogs, then the shared ones |
//! | [`Problem::instances`] | all instances of the cluster, by creation time and then by name. One that is being deleted is left out once nothing waits for it |
//! | [`Instance::name`] | `spec.releaseName`, as it does not differ between equal clusters |
//! | [`Instance::version`], `policy`, `suspended` | `spec.version`, `spec.upgrade.policy`, `spec.suspend` |
//! | [`Instance::installed`] | the version of the deployed revision, as it is recorded |
//! | [`Instance::lost`] | the definition of the deployed revision, if the catalog no longer offers that version |
//! | [`Outcome::Version`] | `status.wantedVersion`, and [`Explanation::text`] with the cluster's name in `status.why` |
//! | [`Outcome::SetAside`] | the condition `Resolved` with status `False` and the text |
//! | [`Addition`] | an instance to create, with `is_dependency` and without `spec.version` |
//!
//! [`choose`](crate::choose) decides for one instance alone. This differs where it has to: a downgrade may turn an upgrade
//! round, several hops may lead to a version, `Manual` stays also where Kubernetes excludes the version (it is set aside then,
//! and the explanation names what would fit), pre-releases come after releases, and `Latest` does not move from one deprecated
//! version to another.

mod backtrack;
mod candidates;
mod explain;
mod facts;
mod formula;
mod graph;
mod hops;
mod index;
mod order;
mod problem;
mod propagate;
mod solver;

use std::collections::BTreeMap;

use fitout_helm_ranges::Error as ParseError;
use fitout_model::VersionState;

use backtrack::Backtracking;
use candidates::Cluster;
use explain::{because, explain, left_behind};
pub use facts::{Explanation, Fact, Subject};
use formula::{Atom, AtomId, GroupId, Model, Node, Set};
use graph::edges;
pub use index::{Dependency, Extension, ExtensionVersion, Index, Requirement};
use order::{Best, best, in_order};
pub use problem::{Capability, Dependencies, Instance, Policy, Problem};
use propagate::Links;
use solver::{LimitExceeded, ResolvoSolver, Solver};

/// The desired state of every extension of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The instances, as in the problem.
    pub instances: Vec<ResolvedInstance>,
    /// The extensions that nobody asked for and that instances need, the ones needed first by an instance first.
    pub additions: Vec<Addition>,
}

/// The desired state of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedInstance {
    /// Its version, or why it has none.
    pub outcome: Outcome,
    /// The extensions that it needs, each of which has to be healthy first.
    pub waits_for: Vec<Member>,
    /// The extensions that need it.
    pub needed_by: Vec<Member>,
    /// Whether it was added for others, and none of those that users asked for needs it any more.
    pub is_unneeded: bool,
    /// Extensions that complement it, and that are not on the cluster.
    pub suggests: Vec<String>,
}

/// The result for an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It should have this version.
    Version {
        /// The version.
        version: String,
        /// The versions to install before, in this order, where one step does not reach it.
        hops: Vec<String>,
        /// Why it is this one.
        why: Explanation,
    },
    /// It cannot have any version with what comes before it. It stays as it is.
    SetAside {
        /// The installed version.
        installed: Option<String>,
        /// Why.
        why: Explanation,
    },
}

/// An extension to install that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The catalog.
    pub catalog: String,
    /// The extension.
    pub extension: String,
    /// The version.
    pub version: String,
    /// Why it is this version.
    pub why: Explanation,
    /// The extensions that it needs, each of which has to be healthy first.
    pub waits_for: Vec<Member>,
    /// The extensions that need it.
    pub needed_by: Vec<Member>,
    /// Extensions that complement it, and that are not on the cluster.
    pub suggests: Vec<String>,
}

/// An extension on the cluster after a resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Member {
    /// An instance, by its place in the problem.
    Instance(usize),
    /// An addition, by its place in the resolution.
    Addition(usize),
}

/// Why a cluster is not resolved at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The cluster reports a Kubernetes version that cannot be parsed.
    #[error("the cluster's version {version} cannot be parsed: {error}")]
    KubernetesVersion {
        /// The version.
        version: String,
        /// The error of the parser.
        error: ParseError,
    },
    /// The version of the platform cannot be parsed.
    #[error("the platform's version {version} cannot be parsed: {error}")]
    PlatformVersion {
        /// The version.
        version: String,
        /// The error of the parser.
        error: ParseError,
    },
    /// The search was given up.
    #[error(
        "the versions of {instances} instances depend on each other in too many ways to find the best ones: nothing \
         moves; request narrower version ranges"
    )]
    TooComplex {
        /// The number of instances.
        instances: usize,
    },
}

/// Resolves all extensions of a cluster together.
pub fn resolve(index: &Index, problem: &Problem) -> Result<Resolution, ResolveError> {
    let cluster = Cluster::new(index, problem)?;
    let model = Model::new(&cluster);
    let links = Links::new(&model.formula);
    let mut solver = Backtracking::new(&model.formula, &links, ResolvoSolver::new(&model.formula));
    let too_complex = |LimitExceeded| ResolveError::TooComplex { instances: problem.instances.len() };
    let best = best(&model, &links, &mut solver).map_err(too_complex)?;
    Answer::new(&model, &links, &best).resolution(&mut solver).map_err(too_complex)
}

/// The best model, as the answer about instances and additions.
struct Answer<'a> {
    model: &'a Model<'a>,
    best: &'a Best,
    links: &'a Links,
    /// The place of each addition.
    additions: BTreeMap<GroupId, usize>,
    /// All groups with something in them: the instances in order, then the additions.
    order: Vec<GroupId>,
    waits_for: Vec<Vec<GroupId>>,
}

impl<'a> Answer<'a> {
    fn new(model: &'a Model<'a>, links: &'a Links, best: &'a Best) -> Self {
        let order: Vec<GroupId> = in_order(model).into_iter().chain(best.additions.iter().copied()).collect();
        Self {
            model,
            best,
            links,
            additions: best.additions.iter().enumerate().map(|(place, &group)| (group, place)).collect(),
            waits_for: edges(model, &best.picked, &order),
            order,
        }
    }

    fn resolution(&self, solver: &mut dyn Solver) -> Result<Resolution, LimitExceeded> {
        let needed = self.needed();
        let mut instances = Vec::new();
        for (at, instance) in self.model.cluster.problem.instances.iter().enumerate() {
            instances.push(ResolvedInstance {
                outcome: self.outcome(at, solver)?,
                waits_for: self.members(&self.waits_for[at]),
                needed_by: self.needed_by(at),
                is_unneeded: instance.is_dependency && !needed[at],
                suggests: self.suggests(at),
            });
        }
        let mut additions = Vec::new();
        for &group in &self.best.additions {
            let Some(Atom::Version(candidate)) = self.best.picked[group].map(|atom| &self.model.atoms[atom]) else {
                continue;
            };
            additions.push(Addition {
                catalog: self.model.catalog(group).to_owned(),
                extension: self.model.extension(group).to_owned(),
                version: candidate.version.text.clone(),
                why: self.why(group),
                waits_for: self.members(&self.waits_for[group]),
                needed_by: self.needed_by(group),
                suggests: self.suggests(group),
            });
        }
        Ok(Resolution { instances, additions })
    }

    fn member(&self, group: GroupId) -> Member {
        self.additions.get(&group).map_or(Member::Instance(group), |&place| Member::Addition(place))
    }

    fn members(&self, groups: &[GroupId]) -> Vec<Member> {
        groups.iter().map(|&group| self.member(group)).collect()
    }

    fn needed_by(&self, group: GroupId) -> Vec<Member> {
        let needs = |other: &&GroupId| self.waits_for[**other].contains(&group);
        self.order.iter().filter(needs).map(|&other| self.member(other)).collect()
    }

    /// Whether each group is needed by an instance that a user asked for, or is one. One that is set aside still runs, so
    /// what its installed version needs is needed.
    fn needed(&self) -> Vec<bool> {
        let model = self.model;
        let mut needed = vec![false; model.nodes.len()];
        let mut ahead: Vec<GroupId> =
            (0..model.formula.instances).filter(|&at| !model.cluster.problem.instances[at].is_dependency).collect();
        while let Some(group) = ahead.pop() {
            if std::mem::replace(&mut needed[group], true) {
                continue;
            }
            ahead.extend(&self.waits_for[group]);
            let Some(atom) = self.best.picked[group].filter(|&atom| model.is_set_aside(atom)) else { continue };
            let dependencies = model.definition(atom).into_iter().flat_map(|version| &version.dependencies);
            for dependency in dependencies.filter(|dependency| !dependency.optional) {
                let meets = |other: GroupId| self.best.picked[other].is_some_and(|it| model.meets_any(dependency, it));
                ahead.extend(model.instances_in_order(group).into_iter().find(|&other| meets(other)));
            }
        }
        needed
    }

    fn suggests(&self, group: GroupId) -> Vec<String> {
        let Some(Atom::Version(candidate)) = self.best.picked[group].map(|atom| &self.model.atoms[atom]) else {
            return vec![];
        };
        let is_there = |name: &String| {
            self.order.iter().any(|&group| {
                let version = self.best.picked[group].filter(|&atom| self.model.is_there(atom));
                let provides = || version.and_then(|it| self.model.definition(it)).map(|it| &it.provides);
                version.is_some()
                    && (self.model.extension(group) == name || provides().is_some_and(|it| it.contains(name)))
            })
        };
        candidate.version.suggests.iter().filter(|name| !is_there(name)).cloned().collect()
    }

    fn outcome(&self, group: GroupId, solver: &mut dyn Solver) -> Result<Outcome, LimitExceeded> {
        let model = self.model;
        if let Some(decided) = self.best.set_aside.get(&group) {
            let atoms = model.formula.groups[group].clone();
            let goal = Set { group, atoms: (atoms.start..atoms.end - 1).collect() };
            let facts = explain(model, self.links, &self.best.clauses, decided, &goal, solver)?;
            let installed = model.cluster.problem.instances[group].installed.map(str::to_owned);
            return Ok(Outcome::SetAside { installed, why: Explanation { facts } });
        }
        let Some(Atom::Version(candidate)) = self.best.picked[group].map(|atom| &model.atoms[atom]) else {
            return Ok(Outcome::SetAside { installed: None, why: Explanation::default() });
        };
        Ok(Outcome::Version {
            version: candidate.version.text.clone(),
            hops: candidate.hops.iter().map(|hop| hop.text.clone()).collect(),
            why: self.why(group),
        })
    }

    /// Why a group has its version.
    fn why(&self, group: GroupId) -> Explanation {
        let model = self.model;
        let atoms = model.formula.groups[group].clone();
        let Some(picked) = self.best.picked[group] else { return Explanation::default() };
        let Atom::Version(candidate) = &model.atoms[picked] else { return Explanation::default() };
        let version = candidate.version.text.clone();
        let kubernetes = model.cluster.problem.kubernetes.to_owned();
        let instance = match model.nodes[group] {
            Node::Instance(at) => Some(&model.cluster.problem.instances[at]),
            Node::Addition(..) => None,
        };
        let requested = instance.and_then(|it| it.version).map(str::to_owned);
        let fitting = &model.candidates[group].fitting;
        let is_left = |it: &&candidates::Candidate| it.is_installed && it.version.state == VersionState::Withdrawn;
        let newer = || {
            let newer = fitting.iter().filter(|it| it.version.version > candidate.version.version);
            newer.filter(move |it| !is_left(it))
        };
        let mut facts = Vec::new();
        // The versions that are preferred and newer, or installed, and that something else rules out.
        let mut better: Vec<AtomId> = Vec::new();
        if candidate.is_installed {
            facts.push(Fact::Installed { version: version.clone(), kubernetes });
        } else {
            better = (atoms.start..picked).collect();
            if better.is_empty() && newer().all(|it| it.is_second) {
                let apart_from_others = newer().next().is_some();
                facts.push(Fact::Newest { version: version.clone(), requested, kubernetes, apart_from_others });
            } else if newer().all(|it| !it.is_second) && self.is_newest_of_all(group, picked) {
                facts.push(Fact::NewestOfAll { version: version.clone(), requested, kubernetes });
            } else {
                facts.push(Fact::Fits { version: version.clone(), kubernetes });
            }
        }
        if candidate.version.state != VersionState::Listed {
            let (state, note) = (Some(candidate.version.state), candidate.version.note.clone());
            facts.push(Fact::Remark { version: version.clone(), state, note });
        } else if instance.is_some_and(|it| it.lost.as_ref().is_some_and(|lost| lost.version == version)) {
            facts.push(Fact::Remark { version, state: None, note: None });
        }
        for capability in &candidate.version.capabilities {
            if model.cluster.problem.capability(capability).is_none() {
                facts.push(Fact::UnknownCapability { capability: capability.clone() });
            }
        }
        if !candidate.is_installed {
            facts.extend(left_behind(model, group));
        }
        if let Some(&first) = better.first() {
            facts.extend(because(model, &self.best.picked, &self.order, first));
        }
        Explanation { facts }
    }

    fn is_newest_of_all(&self, group: GroupId, picked: AtomId) -> bool {
        // Every newer one is preferred to it, so it was tried and refused.
        let model = self.model;
        let version = |atom: AtomId| model.definition(atom).map(|it| &it.version);
        let atoms = model.formula.groups[group].clone();
        atoms.filter(|&atom| !model.is_set_aside(atom) && version(atom) > version(picked)).all(|atom| atom < picked)
    }
}
