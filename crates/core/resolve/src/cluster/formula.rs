//! The rules of a resolution, without versions and names: what the solver sees.
//!
//! A *group* is an instance or a possible addition. It has *atoms*, its versions. A model picks at most one atom of each
//! group, and exactly one of each instance: an instance that is set aside has an atom for that.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::candidates::{Candidate, Candidates, Cluster};
use super::index::{IndexedVersion, ParsedDependency};
use super::problem::{Capability, Dependencies};

pub(super) type GroupId = usize;
pub(super) type AtomId = usize;
pub(super) type SetId = usize;
pub(super) type RequirementId = usize;

/// Some atoms of one group, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Set {
    pub(super) group: GroupId,
    pub(super) atoms: Vec<AtomId>,
}

/// If all of some atoms are picked, one of these sets has a picked atom as well.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) all: Vec<AtomId>,
    pub(super) any: Vec<Set>,
}

/// The rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Formula {
    /// The atoms of each group, best first.
    pub(super) groups: Vec<Range<AtomId>>,
    /// The groups before this one are instances.
    pub(super) instances: usize,
    pub(super) group_of: Vec<GroupId>,
    pub(super) sets: Vec<Set>,
    set_ids: HashMap<Set, SetId>,
    /// One of the sets has a picked atom. The preferred ones come first, and instances before additions.
    pub(super) requirements: Vec<Vec<SetId>>,
    /// The requirements of each atom.
    pub(super) requires: Vec<Vec<RequirementId>>,
    /// The atoms that are not picked together with each atom. It holds for both sides.
    pub(super) excludes: Vec<Vec<SetId>>,
    pub(super) clauses: Vec<Clause>,
}

impl Formula {
    pub(super) fn set(&mut self, group: GroupId, atoms: Vec<AtomId>) -> SetId {
        let set = Set { group, atoms };
        if let Some(&id) = self.set_ids.get(&set) {
            return id;
        }
        let id = self.sets.len();
        self.sets.push(set.clone());
        self.set_ids.insert(set, id);
        id
    }

    /// Whether an atom is in one of these sets.
    pub(super) fn has(&self, sets: &[SetId], atom: AtomId) -> bool {
        sets.iter().any(|&set| self.sets[set].atoms.contains(&atom))
    }
}

/// The meaning of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// An instance, by its place in the problem.
    Instance(usize),
    /// An addition: an extension of the index, in a major version where several can be side by side.
    Addition(usize, Option<u64>),
}

/// The meaning of an atom.
#[derive(Clone, Debug)]
pub(super) enum Atom<'p> {
    Version(Candidate<'p>),
    /// An instance is set aside. One that is installed stays there.
    SetAside,
}

/// Why an atom has a requirement.
#[derive(Clone, Debug)]
pub(super) enum Cause<'p> {
    /// A dependency, of the version or of one on the way to it.
    Dependency(Arc<ParsedDependency>),
    /// A capability that the cluster does not have.
    Capability(&'p str),
}

/// A formula with its meaning.
pub(super) struct Model<'p> {
    pub(super) cluster: &'p Cluster<'p>,
    pub(super) formula: Formula,
    pub(super) nodes: Vec<Node>,
    pub(super) atoms: Vec<Atom<'p>>,
    pub(super) candidates: Vec<Candidates<'p>>,
    /// The cause of each requirement.
    pub(super) causes: Vec<Cause<'p>>,
    /// The optional dependencies of each atom. The extensions that they name come first, if they are on the cluster.
    pub(super) optional: Vec<Vec<Arc<ParsedDependency>>>,
    addition_groups: HashMap<usize, Vec<GroupId>>,
    requirement_ids: HashMap<RequirementKey, RequirementId>,
    named: HashMap<&'p str, Vec<GroupId>>,
    /// The groups with versions that provide a capability.
    providers: HashMap<&'p str, Vec<GroupId>>,
    /// The definition of the installed version of each instance.
    pub(super) installed: Vec<Option<&'p IndexedVersion>>,
}

/// The parts of a requirement of the formula: the address of the dependency, the catalog that asks, the way that it is
/// met, and the group that asks where that is one of those that could meet it.
type RequirementKey = (usize, &'static str, usize, Option<GroupId>);

impl<'p> Model<'p> {
    /// The formula of a cluster.
    pub(super) fn new(cluster: &'p Cluster<'p>) -> Self {
        let mut model = Self {
            cluster,
            formula: Formula::default(),
            nodes: vec![],
            atoms: vec![],
            candidates: vec![],
            causes: vec![],
            optional: vec![],
            addition_groups: HashMap::new(),
            requirement_ids: HashMap::new(),
            named: HashMap::new(),
            providers: HashMap::new(),
            installed: (0..cluster.problem.instances.len()).map(|at| cluster.installed(at)).collect(),
        };
        let instances = cluster.problem.instances.len();
        for at in 0..instances {
            model.group(Node::Instance(at), cluster.of_instance(at));
        }
        model.formula.instances = instances;
        let mut queue: VecDeque<GroupId> = (0..instances).collect();
        while let Some(group) = queue.pop_front() {
            let before = model.nodes.len();
            for atom in model.formula.groups[group].clone() {
                model.requirements_of(atom);
            }
            queue.extend(before..model.nodes.len());
        }
        model.conflicts();
        model
    }

    fn group(&mut self, node: Node, candidates: Candidates<'p>) -> GroupId {
        let group = self.nodes.len();
        let begin = self.atoms.len();
        let installed = match node {
            Node::Instance(at) => self.installed[at],
            Node::Addition(..) => None,
        };
        let versions = candidates.fitting.iter().map(|it| it.version).chain(installed);
        let mut provided: Vec<&str> = versions.flat_map(|it| it.provides.iter().map(String::as_str)).collect();
        provided.sort_unstable();
        provided.dedup();
        for capability in provided {
            self.providers.entry(capability).or_default().push(group);
        }
        self.atoms.extend(candidates.fitting.iter().cloned().map(Atom::Version));
        if let Node::Instance(_) = node {
            self.atoms.push(Atom::SetAside);
        }
        let end = self.atoms.len();
        self.nodes.push(node);
        self.candidates.push(candidates);
        let formula = &mut self.formula;
        formula.groups.push(begin..end);
        formula.group_of.resize(end, group);
        formula.requires.resize(end, vec![]);
        formula.excludes.resize(end, vec![]);
        self.optional.resize(end, vec![]);
        self.named.entry(self.extension(group)).or_default().push(group);
        group
    }

    /// The name of the extension of a group.
    pub(super) fn extension(&self, group: GroupId) -> &'p str {
        match self.nodes[group] {
            Node::Instance(at) => self.cluster.problem.instances[at].extension,
            Node::Addition(extension, _) => &self.cluster.index.extensions[extension].name,
        }
    }

    pub(super) fn catalog(&self, group: GroupId) -> &'p str {
        match self.nodes[group] {
            Node::Instance(at) => self.cluster.problem.instances[at].catalog,
            Node::Addition(extension, _) => &self.cluster.index.extensions[extension].catalog,
        }
    }

    pub(super) fn dependencies(&self, group: GroupId) -> Dependencies {
        match self.nodes[group] {
            Node::Instance(at) => self.cluster.problem.instances[at].dependencies,
            Node::Addition(..) => Dependencies::Install,
        }
    }

    /// The definition of the version that is on the cluster if an atom is picked; none if nothing is there, or if it is not
    /// known.
    pub(super) fn definition(&self, atom: AtomId) -> Option<&'p IndexedVersion> {
        match (&self.atoms[atom], self.nodes[self.formula.group_of[atom]]) {
            (Atom::Version(candidate), _) => Some(candidate.version),
            (Atom::SetAside, Node::Instance(at)) => self.installed[at],
            (Atom::SetAside, Node::Addition(..)) => None,
        }
    }

    /// Whether an atom means that an instance stays as it is on the cluster, in order or set aside.
    pub(super) fn is_unmoved(&self, atom: AtomId) -> bool {
        match &self.atoms[atom] {
            Atom::Version(candidate) => candidate.is_installed,
            Atom::SetAside => true,
        }
    }

    pub(super) fn is_set_aside(&self, atom: AtomId) -> bool {
        matches!(self.atoms[atom], Atom::SetAside)
    }

    /// Whether an atom, if picked, meets a requirement.
    fn meets(&self, requirement: &super::index::ParsedRequirement, atom: AtomId) -> bool {
        let group = self.formula.group_of[atom];
        let name = self.extension(group);
        if let Some(definition) = self.definition(atom) {
            return requirement.is_met_by(name, &definition.version, &definition.provides);
        }
        // The version that is installed is known even if its definition is not.
        match self.nodes[group] {
            Node::Instance(at) => {
                let installed = self.cluster.parsed[at].installed.as_ref();
                installed.is_some_and(|installed| requirement.is_met_by(name, installed, &[]))
            }
            Node::Addition(..) => false,
        }
    }

    /// Whether an atom, if picked, meets a dependency.
    pub(super) fn meets_any(&self, dependency: &ParsedDependency, atom: AtomId) -> bool {
        dependency.any_of.iter().any(|requirement| self.meets(requirement, atom))
    }

    /// Whether a group has the name that a dependency asks for, or can provide it.
    fn can_meet(&self, group: GroupId, dependency: &ParsedDependency) -> bool {
        let extension = self.extension(group);
        let provides = |name: &str| self.providers.get(name).is_some_and(|groups| groups.contains(&group));
        dependency.any_of.iter().any(|it| it.name == extension || provides(&it.name))
    }

    /// Adds the requirements of an atom, and the groups that can meet them.
    fn requirements_of(&mut self, atom: AtomId) {
        let Atom::Version(candidate) = self.atoms[atom].clone() else { return };
        let group = self.formula.group_of[atom];
        let mode = self.dependencies(group);
        for (place, version) in candidate.hops.iter().copied().chain([candidate.version]).enumerate() {
            let is_hop = place < candidate.hops.len();
            for dependency in &version.dependencies {
                if is_hop && (dependency.optional || self.is_installed(dependency, group)) {
                    continue;
                }
                if dependency.optional || mode == Dependencies::Ignore {
                    self.optional[atom].push(Arc::clone(dependency));
                } else {
                    let requirement = self.dependency(dependency, group, mode);
                    self.formula.requires[atom].push(requirement);
                }
            }
            for capability in &version.capabilities {
                if self.cluster.problem.capability(capability) == Some(Capability::Absent) {
                    let requirement = self.capability(capability, group);
                    self.formula.requires[atom].push(requirement);
                }
            }
        }
        let mut seen = HashSet::new();
        self.formula.requires[atom].retain(|requirement| seen.insert(*requirement));
    }

    /// Whether what is installed meets a dependency of a version on the way.
    fn is_installed(&self, dependency: &ParsedDependency, group: GroupId) -> bool {
        (0..self.formula.instances).filter(|&other| other != group).any(|other| {
            let held = self.formula.groups[other].end - 1;
            dependency.any_of.iter().any(|requirement| self.meets(requirement, held))
        })
    }

    fn dependency(&mut self, dependency: &Arc<ParsedDependency>, group: GroupId, mode: Dependencies) -> RequirementId {
        let adds = mode == Dependencies::Install;
        let catalog = self.catalog(group);
        let is_server = group < self.formula.instances || self.can_meet(group, dependency);
        let key = (
            Arc::as_ptr(dependency).addr(),
            if adds { "install" } else { "require" },
            catalog.as_ptr().addr(),
            is_server.then_some(group),
        );
        if let Some(&known) = self.requirement_ids.get(&key) {
            return known;
        }
        let mut groups: Vec<(GroupId, usize)> = Vec::new();
        if adds {
            for (place, requirement) in dependency.any_of.iter().enumerate() {
                for extension in self.addable(catalog, &requirement.name, requirement.range.is_none()) {
                    groups.extend(self.additions(extension).into_iter().map(|group| (group, place)));
                }
            }
        }
        let mut sets = Vec::new();
        for other in self.named_instances(group, dependency) {
            let atoms = self.formula.groups[other].clone();
            let meets = |atom: &AtomId| dependency.any_of.iter().any(|requirement| self.meets(requirement, *atom));
            sets.push((other, atoms.filter(meets).collect::<Vec<_>>()));
        }
        for (other, place) in groups.into_iter().filter(|(other, _)| *other != group) {
            let atoms = self.formula.groups[other].clone();
            let meets = |atom: &AtomId| self.meets(&dependency.any_of[place], *atom);
            sets.push((other, atoms.filter(meets).collect()));
        }
        self.add_requirement(key, sets, Cause::Dependency(Arc::clone(dependency)))
    }

    fn capability(&mut self, name: &'p str, group: GroupId) -> RequirementId {
        let key = (name.as_ptr().addr(), "capability", 0, (group < self.formula.instances).then_some(group));
        if let Some(&known) = self.requirement_ids.get(&key) {
            return known;
        }
        let mut sets = Vec::new();
        for other in self.instances_in_order(group) {
            let atoms = self.formula.groups[other].clone();
            let provides = |atom: &AtomId| {
                self.definition(*atom).is_some_and(|it| it.provides.iter().any(|provided| provided == name))
            };
            sets.push((other, atoms.filter(provides).collect()));
        }
        self.add_requirement(key, sets, Cause::Capability(name))
    }

    fn add_requirement(
        &mut self,
        key: RequirementKey,
        sets: Vec<(GroupId, Vec<AtomId>)>,
        cause: Cause<'p>,
    ) -> RequirementId {
        let sets = sets.into_iter().filter(|(_, atoms)| !atoms.is_empty());
        let sets = sets.map(|(group, atoms)| self.formula.set(group, atoms)).collect();
        let id = self.formula.requirements.len();
        self.formula.requirements.push(sets);
        self.causes.push(cause);
        self.requirement_ids.insert(key, id);
        id
    }

    /// The other instances: those that users asked for, then those that were added.
    pub(super) fn instances_in_order(&self, group: GroupId) -> Vec<GroupId> {
        let mut others: Vec<GroupId> = (0..self.formula.instances).filter(|&other| other != group).collect();
        others.sort_by_key(|&other| self.cluster.problem.instances[other].is_dependency);
        others
    }

    /// The other instances that could meet a dependency, in the same order.
    fn named_instances(&self, group: GroupId, dependency: &ParsedDependency) -> Vec<GroupId> {
        let mut others = self.named_groups(dependency);
        others.retain(|&other| other != group && other < self.formula.instances);
        others.sort_by_key(|&other| self.cluster.problem.instances[other].is_dependency);
        others
    }

    /// The groups that a dependency names, or that can provide what it names.
    fn named_groups(&self, dependency: &ParsedDependency) -> Vec<GroupId> {
        let mut groups: Vec<GroupId> = Vec::new();
        for requirement in &dependency.any_of {
            let name = requirement.name.as_str();
            groups.extend(self.named.get(name).into_iter().flatten());
            if requirement.range.is_none() {
                groups.extend(self.providers.get(name).into_iter().flatten());
            }
        }
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The extensions that can be added for a requirement: from the catalog that asks if it has any, and otherwise from the
    /// first catalog of the cluster that has.
    fn addable(&self, catalog: &str, name: &str, is_capability: bool) -> Vec<usize> {
        let index = self.cluster.index;
        let catalogs = || std::iter::once(catalog).chain(self.cluster.problem.catalogs.iter().copied());
        let named = catalogs().find_map(|catalog| index.extension(catalog, name));
        let provide = |catalog: &str| Some(index.providers(catalog, name)).filter(|providers| !providers.is_empty());
        let providers = if is_capability { catalogs().find_map(provide).unwrap_or_default() } else { vec![] };
        named.into_iter().chain(providers.into_iter().filter(|&provider| Some(provider) != named)).collect()
    }

    /// The groups that could meet a dependency of a group if they had the right versions.
    pub(super) fn possible(&self, group: GroupId, dependency: &ParsedDependency) -> Vec<GroupId> {
        let mut groups = Vec::new();
        for requirement in &dependency.any_of {
            let is_capability = requirement.range.is_none();
            groups.extend((0..self.formula.instances).filter(|&other| {
                other != group
                    && (self.extension(other) == requirement.name
                        || (is_capability && self.can_provide(other, &requirement.name)))
            }));
            if self.dependencies(group) == Dependencies::Install {
                for extension in self.addable(self.catalog(group), &requirement.name, is_capability) {
                    groups
                        .extend(self.addition_groups.get(&extension).into_iter().flatten().filter(|it| **it != group));
                }
            }
        }
        let mut seen = HashSet::new();
        groups.retain(|group| seen.insert(*group));
        groups
    }

    /// All versions of the extension of a group, whether it can have them or not.
    pub(super) fn versions(&self, group: GroupId) -> impl Iterator<Item = &'p IndexedVersion> {
        let Candidates { fitting, excluded } = &self.candidates[group];
        fitting.iter().map(|it| it.version).chain(excluded.iter().map(|(version, _)| *version))
    }

    /// Whether a version of the extension of a group provides a capability.
    pub(super) fn can_provide(&self, group: GroupId, capability: &str) -> bool {
        self.versions(group).any(|version| version.provides.iter().any(|provided| provided == capability))
    }

    /// Whether an atom says that it conflicts with another, by its version or by one on the way to it.
    pub(super) fn conflicting(&self, atom: AtomId, other: AtomId) -> bool {
        let hops: &[&IndexedVersion] = match &self.atoms[atom] {
            Atom::Version(candidate) => &candidate.hops,
            Atom::SetAside => &[],
        };
        let versions = hops.iter().copied().chain(self.definition(atom));
        versions.flat_map(|version| &version.conflicts).any(|conflict| self.meets(conflict, other))
    }

    /// The name of a group in sentences: that of its extension, and of the instance where the cluster has several.
    pub(super) fn label(&self, group: GroupId) -> String {
        let extension = self.extension(group);
        let instances = &self.cluster.problem.instances;
        match self.nodes[group] {
            Node::Instance(at) if instances.iter().filter(|it| it.extension == extension).count() > 1 => {
                format!("{extension} ({})", instances[at].name)
            }
            _ => extension.to_owned(),
        }
    }

    /// The groups of an extension that can be added: one, or one for each major version where they can be side by side.
    fn additions(&mut self, extension: usize) -> Vec<GroupId> {
        if let Some(known) = self.addition_groups.get(&extension) {
            return known.clone();
        }
        let cluster = self.cluster;
        let all = cluster.of_addition(extension);
        let is_singleton = |version: &IndexedVersion| version.singleton;
        let versions = all.fitting.iter().map(|it| it.version).chain(all.excluded.iter().map(|(version, _)| *version));
        let mut majors: Vec<u64> =
            versions.filter(|version| !is_singleton(version)).map(|version| version.version.major()).collect();
        majors.sort_unstable_by(|a, b| b.cmp(a));
        majors.dedup();
        let has_singletons = all.fitting.iter().any(|it| is_singleton(it.version))
            || all.excluded.iter().any(|(version, _)| is_singleton(version));
        let mut groups = Vec::new();
        let keys = majors.into_iter().map(Some).chain(has_singletons.then_some(None));
        for key in keys {
            let belongs = |version: &IndexedVersion| match key {
                Some(major) => !version.singleton && version.version.major() == major,
                None => version.singleton,
            };
            let candidates = Candidates {
                fitting: all.fitting.iter().filter(|it| belongs(it.version)).cloned().collect(),
                excluded: all.excluded.iter().filter(|(version, _)| belongs(version)).copied().collect(),
            };
            groups.push(self.group(Node::Addition(extension, key), candidates));
        }
        self.addition_groups.insert(extension, groups.clone());
        groups
    }

    /// Adds what is not picked together: conflicts, several instances of a singleton, and versions outside the range of an
    /// optional dependency.
    fn conflicts(&mut self) {
        let mut pairs: Vec<(AtomId, AtomId)> = Vec::new();
        let mut clauses: Vec<(AtomId, AtomId, Arc<ParsedDependency>)> = Vec::new();
        for atom in 0..self.atoms.len() {
            let group = self.formula.group_of[atom];
            let same: Vec<GroupId> =
                self.named[self.extension(group)].iter().copied().filter(|it| *it != group).collect();
            for other in same.into_iter().flat_map(|other| self.formula.groups[other].clone()) {
                if self.is_singleton(atom) && self.is_there(other) && self.is_there(atom) && !self.is_kept(atom, other)
                {
                    pairs.push((atom, other));
                }
            }
            let hops: &[&IndexedVersion] = match &self.atoms[atom] {
                Atom::Version(candidate) => &candidate.hops,
                Atom::SetAside => &[],
            };
            for version in hops.iter().copied().chain(self.definition(atom)) {
                for conflict in &version.conflicts {
                    let named = self.named.get(conflict.name.as_str()).into_iter().flatten();
                    let provide = self.providers.get(conflict.name.as_str()).filter(|_| conflict.range.is_none());
                    for &other in named.chain(provide.into_iter().flatten()).filter(|&&other| other != group) {
                        let clash = |other: &AtomId| self.meets(conflict, *other) && !self.is_kept(atom, *other);
                        pairs.extend(self.formula.groups[other].clone().filter(clash).map(|other| (atom, other)));
                    }
                }
            }
            if self.dependencies(group) == Dependencies::Ignore {
                continue;
            }
            for dependency in &self.optional[atom] {
                for wanted in dependency.any_of.iter().filter(|wanted| wanted.range.is_some()) {
                    let named = self.named.get(wanted.name.as_str()).into_iter().flatten();
                    for &other in named.filter(|&&other| other != group) {
                        let atoms = self.formula.groups[other].clone();
                        let differs =
                            atoms.filter(|other| self.is_there(*other) && !self.meets_any(dependency, *other));
                        clauses.extend(differs.map(|other| (atom, other, Arc::clone(dependency))));
                    }
                }
            }
        }
        for (atom, other, dependency) in clauses {
            let groups = [self.formula.group_of[atom], self.formula.group_of[other]];
            let mut any = Vec::new();
            for group in self.named_groups(&dependency).into_iter().filter(|group| !groups.contains(group)) {
                let atoms = self.formula.groups[group].clone().filter(|it| self.meets_any(&dependency, *it));
                let atoms: Vec<AtomId> = atoms.collect();
                if !atoms.is_empty() {
                    any.push(Set { group, atoms });
                }
            }
            if any.is_empty() {
                pairs.push((atom, other));
            } else {
                self.formula.clauses.push(Clause { all: vec![atom, other], any });
            }
        }
        self.exclude(&pairs);
    }

    fn exclude(&mut self, pairs: &[(AtomId, AtomId)]) {
        let mut both: Vec<(AtomId, AtomId)> = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        both.sort_unstable();
        both.dedup();
        let group_of = self.formula.group_of.clone();
        for chunk in both.chunk_by(|a, b| a.0 == b.0 && group_of[a.1] == group_of[b.1]) {
            let (atom, other) = chunk[0];
            let set = self.formula.set(group_of[other], chunk.iter().map(|(_, other)| *other).collect());
            self.formula.excludes[atom].push(set);
        }
    }

    /// Whether an atom means that a version is on the cluster.
    pub(super) fn is_there(&self, atom: AtomId) -> bool {
        match (&self.atoms[atom], self.nodes[self.formula.group_of[atom]]) {
            (Atom::Version(_), _) => true,
            (Atom::SetAside, Node::Instance(at)) => self.cluster.parsed[at].installed.is_some(),
            (Atom::SetAside, Node::Addition(..)) => false,
        }
    }

    fn is_singleton(&self, atom: AtomId) -> bool {
        self.definition(atom).is_some_and(|definition| definition.singleton)
    }

    /// Whether two atoms are on the cluster now, side by side, and one of them is set aside: then the other stays.
    fn is_kept(&self, atom: AtomId, other: AtomId) -> bool {
        (self.is_set_aside(atom) || self.is_set_aside(other)) && self.is_unmoved(atom) && self.is_unmoved(other)
    }
}
