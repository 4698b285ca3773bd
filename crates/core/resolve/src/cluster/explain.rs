//! Why something cannot be: follows the reasons of a propagation back to facts.

use std::collections::{BTreeMap, BTreeSet};

use fitout_model::VersionState;

use super::candidates::Exclusion;
use super::facts::{Fact, Subject};
use super::formula::{Atom, AtomId, Cause, Clause, GroupId, Model, Node, RequirementId, Set};
use super::index::{IndexedVersion, ParsedDependency};
use super::problem::Dependencies;
use super::propagate::{Links, Need, Propagation, Why};
use super::solver::{LimitExceeded, Picked, Solver};

/// At most this many versions are listed where none is in a range.
const LISTED: usize = 5;

/// Why no atom of `goal` can be picked together with what was decided.
pub(super) fn explain(
    model: &Model,
    links: &Links,
    clauses: &[Clause],
    decided: &[Set],
    goal: &Set,
    solver: &mut dyn Solver,
) -> Result<Vec<Fact>, LimitExceeded> {
    let mut trace = Trace {
        model,
        clauses,
        goal: goal.group,
        propagation: Propagation::new(&model.formula, links, true),
        facts: vec![],
        seen: BTreeSet::new(),
        excluded: BTreeSet::new(),
        needed: BTreeSet::new(),
    };
    trace.request();
    let mut failed = trace.propagation.run(clauses).err();
    // The goal comes first, so that the explanation starts from it.
    if failed.is_none() {
        failed = trace.propagation.restrict(goal, clauses).err();
    }
    for set in decided.iter().filter(|set| set.group != goal.group) {
        if failed.is_none() {
            failed = trace.propagation.restrict(set, clauses).err();
        }
    }
    if let Some(group) = failed {
        trace.gone(goal.group, &goal.atoms, true);
        if group != goal.group {
            trace.group_gone(group);
        }
    } else {
        trace.gone(goal.group, &goal.atoms, true);
        let labels = together(model, decided, goal, solver)?;
        trace.facts.push(Fact::Together { labels });
    }
    // What nobody asked for explains least.
    trace.facts.sort_by_key(|fact| matches!(fact, Fact::NotRequested { .. }));
    Ok(trace.facts)
}

/// Why an instance has left its installed version, where that version is at fault itself.
pub(super) fn left_behind(model: &Model, group: GroupId) -> Option<Fact> {
    let Node::Instance(at) = model.nodes[group] else { return None };
    let version = model.installed[at]?;
    let problem = model.cluster.problem;
    let subject = Subject {
        label: model.label(group),
        catalog: model.catalog(group).to_owned(),
        extension: model.extension(group).to_owned(),
        versions: vec![version.text.clone()],
    };
    let excluded = &model.candidates[group].excluded;
    match excluded.iter().find(|(it, _)| std::ptr::eq(*it, version)).map(|(_, exclusion)| *exclusion) {
        Some(Exclusion::Kubernetes) => Some(Fact::Kubernetes {
            subject,
            range: version.kubernetes.as_ref()?.text.clone(),
            kubernetes: problem.kubernetes.to_owned(),
        }),
        Some(Exclusion::Platform) => Some(Fact::Platform {
            subject,
            range: version.platform.as_ref()?.text.clone(),
            platform: problem.platform.map(str::to_owned),
        }),
        Some(Exclusion::Range) => {
            Some(Fact::NotRequested { subject, range: problem.instances[at].version?.to_owned() })
        }
        None if version.state == VersionState::Withdrawn => {
            Some(Fact::State { subject, state: version.state, note: version.note.clone() })
        }
        _ => None,
    }
}

/// The reasons against an atom that would be better than the one that is picked, as far as one of those picked does so alone.
pub(super) fn because(model: &Model, picked: &Picked, order: &[GroupId], better: AtomId) -> Vec<Fact> {
    let formula = &model.formula;
    let group = formula.group_of[better];
    let subject = |atom: AtomId| {
        let group = formula.group_of[atom];
        model.definition(atom).map(|version| Subject {
            label: model.label(group),
            catalog: model.catalog(group).to_owned(),
            extension: model.extension(group).to_owned(),
            versions: vec![version.text.clone()],
        })
    };
    let asks = |atom: AtomId, dependency: &ParsedDependency| {
        let version = model.definition(atom)?;
        let is_own = version.dependencies.iter().any(|it| std::ptr::eq(&raw const **it, dependency));
        let fact = Fact::Asks { subject: subject(atom)?, dependency: dependency.text(), on_the_way_to: None };
        is_own.then_some(fact)
    };
    let mut facts = Vec::new();
    for &atom in order.iter().filter(|&&other| other != group).filter_map(|&other| picked[other].as_ref()) {
        let meets = |atom: AtomId, requirement: RequirementId| formula.has(&formula.requirements[requirement], atom);
        for &requirement in &formula.requires[atom] {
            // It asks for the group, and nothing else that is picked would do.
            let is_met_by = |other: &GroupId| picked[*other].is_some_and(|it| meets(it, requirement));
            let mut servers = order.iter().filter(|other| is_met_by(other));
            let is_only = servers.next() == Some(&group) && servers.next().is_none();
            if let Cause::Dependency(dependency) = &model.causes[requirement]
                && is_only
                && !meets(better, requirement)
            {
                facts.extend(asks(atom, dependency));
            }
        }
        if formula.has(&formula.excludes[better], atom) {
            let conflict = |one: AtomId, other: AtomId| {
                Some(Fact::Conflict { subject: subject(one)?, other: subject(other)? })
                    .filter(|_| model.conflicting(one, other))
            };
            facts.extend(conflict(better, atom).or_else(|| conflict(atom, better)));
        }
    }
    facts.dedup();
    facts
}

/// The fewest instances of those decided that cannot be together with the goal.
fn together(model: &Model, decided: &[Set], goal: &Set, solver: &mut dyn Solver) -> Result<Vec<String>, LimitExceeded> {
    let mut sets: Vec<Set> = decided.iter().filter(|set| set.group != goal.group).cloned().collect();
    let mut at = 0;
    while at < sets.len() {
        let set = sets.remove(at);
        let all: Vec<Set> = sets.iter().chain([goal]).cloned().collect();
        if solver.solve(&all)?.is_some() {
            sets.insert(at, set);
            at += 1;
        }
    }
    Ok(std::iter::once(goal).chain(&sets).map(|set| model.label(set.group)).collect())
}

struct Trace<'t> {
    model: &'t Model<'t>,
    clauses: &'t [Clause],
    goal: GroupId,
    propagation: Propagation<'t>,
    facts: Vec<Fact>,
    /// Atoms that are explained.
    seen: BTreeSet<AtomId>,
    /// Versions whose exclusion is explained, by address.
    excluded: BTreeSet<(GroupId, usize)>,
    /// Groups of which it is explained why one atom is picked.
    needed: BTreeSet<GroupId>,
}

impl<'t> Trace<'t> {
    fn add(&mut self, fact: Fact) {
        if !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// The error of a request itself.
    fn request(&mut self) {
        let model = self.model;
        let Node::Instance(at) = model.nodes[self.goal] else { return };
        let instance = &model.cluster.problem.instances[at];
        let label = model.label(self.goal);
        let wanted = model.cluster.parsed[at].wanted.as_ref();
        let candidates = &model.candidates[self.goal];
        if let Some(range) = wanted.filter(|range| range.range.is_err()) {
            self.add(Fact::InvalidRange { label, range: range.text.clone() });
        } else if candidates.fitting.is_empty() && candidates.excluded.is_empty() {
            let (catalog, extension) = (instance.catalog.to_owned(), instance.extension.to_owned());
            self.add(Fact::NoExtension { catalog, extension });
        } else if instance.suspended && instance.installed.is_none() {
            self.add(Fact::Suspended { label, installed: None });
        }
    }

    fn subject<'v>(&self, group: GroupId, versions: impl IntoIterator<Item = &'v IndexedVersion>) -> Subject {
        let mut versions: Vec<&IndexedVersion> = versions.into_iter().collect();
        versions.sort_by(|a, b| b.version.cmp(&a.version));
        versions.dedup_by(|a, b| a.text == b.text);
        self.subject_as_is(group, versions.into_iter().map(|version| version.text.clone()).collect())
    }

    fn subject_as_is(&self, group: GroupId, versions: Vec<String>) -> Subject {
        Subject {
            label: self.model.label(group),
            catalog: self.model.catalog(group).to_owned(),
            extension: self.model.extension(group).to_owned(),
            versions,
        }
    }

    fn subject_of(&self, atoms: &[AtomId]) -> Option<Subject> {
        let group = self.model.formula.group_of[*atoms.first()?];
        let known: Vec<&IndexedVersion> = atoms.iter().filter_map(|&atom| self.model.definition(atom)).collect();
        if known.is_empty() {
            let Node::Instance(at) = self.model.nodes[group] else { return None };
            let installed = self.model.cluster.problem.instances[at].installed?;
            return Some(self.subject_as_is(group, vec![installed.to_owned()]));
        }
        Some(self.subject(group, known))
    }

    /// Explains why a group, one atom of which has to be picked, has none that is left.
    fn group_gone(&mut self, group: GroupId) {
        let atoms: Vec<AtomId> = self.model.formula.groups[group].clone().collect();
        self.why_needed(group);
        self.gone(group, &atoms, true);
    }

    /// Explains why these atoms of a group cannot be picked, and where `all`, why the group has no other versions.
    fn gone(&mut self, group: GroupId, atoms: &[AtomId], all: bool) {
        if all {
            let excluded = self.model.candidates[group].excluded.clone();
            self.exclusions(group, &excluded);
        }
        let mut unmet: BTreeMap<Vec<&str>, Vec<(AtomId, RequirementId)>> = BTreeMap::new();
        let mut order: Vec<Vec<&str>> = Vec::new();
        let mut others: Vec<(AtomId, Why, u32)> = Vec::new();
        let mut newest_first: Vec<AtomId> = atoms.to_vec();
        let version = |atom: AtomId| self.model.definition(atom).map(|it| it.version.clone());
        newest_first.sort_by_cached_key(|&atom| std::cmp::Reverse(version(atom)));
        for atom in newest_first {
            let Some((why, time)) = self.propagation.ruled_out(atom) else { continue };
            if !self.seen.insert(atom) {
                continue;
            }
            match why {
                Why::Unmet(requirement) => {
                    let names = self.names(requirement);
                    if !unmet.contains_key(&names) {
                        order.push(names.clone());
                    }
                    unmet.entry(names).or_default().push((atom, requirement));
                }
                why => others.push((atom, why, time)),
            }
        }
        for (atom, why, time) in others {
            match why {
                Why::RuledOut(by) => self.ruled_out(atom, by, time),
                Why::Clause(at) => self.clause(at),
                Why::Restricted => self.restricted(atom),
                Why::Unmet(_) => {}
            }
        }
        for names in order {
            let users = unmet.remove(&names).unwrap_or_default();
            self.unmet(&users);
        }
    }

    /// The subject of a requirement, to tell requirements for other versions of the same from those of something else.
    fn names(&self, requirement: RequirementId) -> Vec<&'t str> {
        match &self.model.causes[requirement] {
            Cause::Dependency(dependency) => dependency.any_of.iter().map(|it| it.name.as_str()).collect(),
            Cause::Capability(capability) => vec!["", capability],
        }
    }

    /// Facts on versions that do not fit the cluster by themselves.
    fn exclusions(&mut self, group: GroupId, excluded: &[(&IndexedVersion, Exclusion)]) {
        let model = self.model;
        let mut classes: Vec<(Exclusion, Vec<&IndexedVersion>)> = Vec::new();
        for &(version, exclusion) in excluded {
            if !self.excluded.insert((group, std::ptr::from_ref(version).addr())) {
                continue;
            }
            let same = |(class, versions): &&mut (Exclusion, Vec<&IndexedVersion>)| {
                *class == exclusion && (exclusion != Exclusion::State || versions[0].state == version.state)
            };
            match classes.iter_mut().find(same) {
                Some((_, versions)) => versions.push(version),
                None => classes.push((exclusion, vec![version])),
            }
        }
        // What is not even asked for explains least.
        classes.sort_by_key(|(exclusion, _)| *exclusion == Exclusion::Range);
        let is_alone = classes.len() == 1 && model.candidates[group].fitting.is_empty();
        for (exclusion, versions) in classes {
            let fact = self.exclusion(group, exclusion, &versions, is_alone);
            if let Some(fact) = fact {
                self.add(fact);
            }
        }
    }

    fn exclusion(
        &self,
        group: GroupId,
        exclusion: Exclusion,
        versions: &[&IndexedVersion],
        is_alone: bool,
    ) -> Option<Fact> {
        let model = self.model;
        let cluster = model.cluster;
        let subject = self.subject(group, versions.iter().copied());
        let first = *versions.first()?;
        let label = model.label(group);
        let instance = match model.nodes[group] {
            Node::Instance(at) => Some(&cluster.problem.instances[at]),
            Node::Addition(..) => None,
        };
        let installed = instance.and_then(|it| it.installed).map(str::to_owned);
        let requested = instance.and_then(|it| it.version).map(str::to_owned);
        Some(match exclusion {
            Exclusion::Range if is_alone => {
                let available = subject.versions.iter().take(LISTED).cloned().collect();
                Fact::NotInRange { extension: subject.extension, range: requested?, available }
            }
            Exclusion::Range => Fact::NotRequested { subject, range: requested? },
            Exclusion::State => Fact::State { subject, state: first.state, note: first.note.clone() },
            Exclusion::Kubernetes => Fact::Kubernetes {
                subject,
                range: first.kubernetes.as_ref()?.text.clone(),
                kubernetes: cluster.problem.kubernetes.to_owned(),
            },
            Exclusion::Platform => Fact::Platform {
                subject,
                range: first.platform.as_ref()?.text.clone(),
                platform: cluster.problem.platform.map(str::to_owned),
            },
            Exclusion::Path => Fact::Path { subject, installed: installed? },
            Exclusion::Manual => Fact::Manual { label, installed: installed?, fits: first.text.clone() },
            Exclusion::Suspended => Fact::Suspended { label, installed },
            Exclusion::Occupied => {
                let occupant = cluster.problem.instances.iter().position(|it| it.extension == subject.extension)?;
                Fact::Singleton { extension: subject.extension, label: model.label(occupant) }
            }
        })
    }

    /// Facts on atoms with requirements for the same names that nothing meets.
    fn unmet(&mut self, users: &[(AtomId, RequirementId)]) {
        let model = self.model;
        let is_on_the_way = |(atom, requirement): &(AtomId, RequirementId)| match &model.causes[*requirement] {
            Cause::Dependency(dependency) => self.hop(*atom, dependency).is_some(),
            Cause::Capability(_) => false,
        };
        // A version on the way asks for itself, and not for the version at the end.
        let (way, own): (Vec<_>, Vec<_>) = users.iter().copied().partition(is_on_the_way);
        if users.len() > 1 && !way.is_empty() {
            for user in way {
                self.unmet(&[user]);
            }
            self.unmet(&own);
            return;
        }
        let Some(&(first, requirement)) = users.first() else { return };
        let group = model.formula.group_of[first];
        let atoms: Vec<AtomId> = users.iter().map(|(atom, _)| *atom).collect();
        let Some(subject) = self.subject_of(&atoms) else { return };
        let dependency = match &model.causes[requirement] {
            Cause::Capability(capability) => {
                self.add(Fact::Capability { subject, capability: (*capability).to_owned() });
                self.servers_gone(users);
                return;
            }
            Cause::Dependency(dependency) => dependency.clone(),
        };
        let on_the_way_to = self.way(first, &dependency);
        let asking = self.asking(first, &dependency, subject);
        self.add(Fact::Asks { subject: asking, dependency: dependency.text(), on_the_way_to });
        self.servers_gone(users);
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for alternative in &dependency.any_of {
            if !done.insert(&alternative.name) {
                continue;
            }
            let groups = model.possible(group, &dependency);
            let servers: Vec<GroupId> = groups
                .into_iter()
                .filter(|&it| model.extension(it) == alternative.name || model.can_provide(it, &alternative.name))
                .collect();
            if servers.is_empty() {
                let name = alternative.name.clone();
                if model.dependencies(group) == Dependencies::Install {
                    self.add(Fact::Unknown { name });
                } else {
                    self.add(Fact::NotAdded { name, label: model.label(group) });
                }
                continue;
            }
            let Some(range) = &alternative.range else { continue };
            let servers: Vec<GroupId> =
                servers.into_iter().filter(|&it| model.extension(it) == alternative.name).collect();
            if servers.is_empty() {
                self.add(Fact::Unversioned { name: alternative.name.clone() });
                continue;
            }
            let versions: Vec<&IndexedVersion> = servers.iter().flat_map(|&it| model.versions(it)).collect();
            if !versions.iter().any(|version| range.matches(&version.version)) {
                let mut known: Vec<&IndexedVersion> = versions;
                known.sort_by(|a, b| b.version.cmp(&a.version));
                known.dedup_by(|a, b| a.text == b.text);
                let available = known.iter().take(LISTED).map(|version| version.text.clone()).collect();
                let (extension, range) = (alternative.name.clone(), range.text.clone());
                self.add(Fact::NotInRange { extension, range, available });
            }
        }
    }

    /// The version that asks, where it is one on the way.
    fn asking(&self, atom: AtomId, dependency: &ParsedDependency, subject: Subject) -> Subject {
        match self.hop(atom, dependency) {
            Some(hop) => Subject { versions: vec![hop.text.clone()], ..subject },
            None => subject,
        }
    }

    fn way(&self, atom: AtomId, dependency: &ParsedDependency) -> Option<String> {
        self.hop(atom, dependency)?;
        self.model.definition(atom).map(|it| it.text.clone())
    }

    /// The version on the way to an atom that has a dependency which the version at the end does not have.
    fn hop(&self, atom: AtomId, dependency: &ParsedDependency) -> Option<&'t IndexedVersion> {
        let Atom::Version(candidate) = &self.model.atoms[atom] else { return None };
        let has =
            |version: &IndexedVersion| version.dependencies.iter().any(|it| std::ptr::eq(&raw const **it, dependency));
        if has(candidate.version) {
            return None;
        }
        candidate.hops.iter().copied().find(|hop| has(hop))
    }

    /// Explains why nothing meets these requirements.
    fn servers_gone(&mut self, users: &[(AtomId, RequirementId)]) {
        let model = self.model;
        let mut by_group: BTreeMap<GroupId, Vec<AtomId>> = BTreeMap::new();
        for (_, requirement) in users {
            for &set in &model.formula.requirements[*requirement] {
                let set = &model.formula.sets[set];
                by_group.entry(set.group).or_default().extend(&set.atoms);
            }
        }
        let (first, requirement) = users[0];
        if let Cause::Dependency(first_dependency) = &model.causes[requirement] {
            let user = model.formula.group_of[first];
            let dependencies: Vec<_> = users
                .iter()
                .filter_map(|(_, requirement)| match &model.causes[*requirement] {
                    Cause::Dependency(dependency) => Some(dependency.clone()),
                    Cause::Capability(_) => None,
                })
                .collect();
            for group in model.possible(user, first_dependency) {
                let name = model.extension(group);
                let meets = |version: &IndexedVersion| {
                    dependencies
                        .iter()
                        .flat_map(|it| &it.any_of)
                        .any(|requirement| requirement.is_met_by(name, &version.version, &version.provides))
                };
                let excluded: Vec<_> =
                    model.candidates[group].excluded.iter().copied().filter(|(version, _)| meets(version)).collect();
                let occupied = |(_, exclusion): &(&IndexedVersion, Exclusion)| *exclusion == Exclusion::Occupied;
                let excluded: Vec<_> = excluded.into_iter().filter(|it| !occupied(it)).collect();
                self.exclusions(group, &excluded);
            }
        }
        for (group, mut atoms) in by_group {
            atoms.sort_unstable();
            atoms.dedup();
            self.gone(group, &atoms, false);
        }
    }

    /// Facts on an atom that no atom of another group permits.
    fn ruled_out(&mut self, atom: AtomId, by: GroupId, time: u32) {
        let model = self.model;
        let formula = &model.formula;
        let group = formula.group_of[atom];
        let left: Vec<AtomId> = self.propagation.left_at(by, time).collect();
        let mut excluding: Vec<AtomId> = Vec::new();
        for &other in &left {
            if formula.has(&formula.excludes[other], atom) {
                excluding.push(other);
                continue;
            }
            let requirement = formula.requires[other].iter().copied().find(|&requirement| {
                self.propagation.only_group(requirement, time) == Some(group)
                    && !formula.has(&formula.requirements[requirement], atom)
            });
            let Some(requirement) = requirement else { continue };
            let same: Vec<AtomId> =
                left.iter().copied().filter(|it| formula.requires[*it].contains(&requirement)).collect();
            if let (Cause::Dependency(dependency), Some(_)) = (&model.causes[requirement], same.first()) {
                let on_the_way_to = self.way(other, dependency);
                if let Some(subject) = self.subject_of(&[other]) {
                    let subject = self.asking(other, dependency, subject);
                    self.add(Fact::Asks { subject, dependency: dependency.text(), on_the_way_to });
                    self.others_gone(requirement, group);
                }
            }
        }
        self.excluding(atom, &excluding);
        self.why_needed(by);
        let gone: Vec<AtomId> = formula.groups[by]
            .clone()
            .filter(|it| self.propagation.ruled_out(*it).is_some_and(|(_, at)| at < time))
            .collect();
        self.gone(by, &gone, true);
    }

    /// Explains why a requirement can only be met by one group, where others could.
    fn others_gone(&mut self, requirement: RequirementId, only: GroupId) {
        let model = self.model;
        for &set in &model.formula.requirements[requirement] {
            let set = &model.formula.sets[set];
            if set.group != only {
                let atoms = set.atoms.clone();
                self.gone(set.group, &atoms, false);
            }
        }
    }

    /// Facts on why an atom cannot be with others of another group.
    fn excluding(&mut self, atom: AtomId, others: &[AtomId]) {
        let model = self.model;
        let group = model.formula.group_of[atom];
        let Some(&first) = others.first() else { return };
        let other_group = model.formula.group_of[first];
        let says = |one: AtomId, other: AtomId| model.conflicting(one, other);
        let (mut by_them, mut by_it, mut singletons, mut optional) = (vec![], vec![], false, vec![]);
        for &other in others {
            if says(other, atom) {
                by_them.push(other);
            } else if says(atom, other) {
                by_it.push(other);
            } else if model.extension(group) == model.extension(other_group) {
                singletons = true;
            } else {
                optional.push(other);
            }
        }
        if let (Some(subject), Some(other)) = (self.subject_of(&by_them), self.subject_of(&[atom])) {
            self.add(Fact::Conflict { subject, other });
        }
        if let (Some(other), Some(subject)) = (self.subject_of(&by_it), self.subject_of(&[atom])) {
            self.add(Fact::Conflict { subject, other });
        }
        if singletons {
            let extension = model.extension(group).to_owned();
            let occupant = if other_group == self.goal { group } else { other_group };
            self.add(Fact::Singleton { extension, label: model.label(occupant) });
        }
        for other in optional {
            for (asks, asked) in [(atom, other), (other, atom)] {
                let dependency = model.optional[asks].iter().find(|dependency| {
                    let named = |it: &str| it == model.extension(model.formula.group_of[asked]);
                    dependency.any_of.iter().any(|it| named(&it.name)) && !model.meets_any(dependency, asked)
                });
                if let (Some(dependency), Some(subject)) = (dependency, self.subject_of(&[asks])) {
                    self.add(Fact::Asks { subject, dependency: dependency.text(), on_the_way_to: None });
                    self.not_in_range(dependency, model.formula.group_of[asked]);
                }
            }
        }
    }

    /// A fact where a dependency names a group, and no version of it is in the range.
    fn not_in_range(&mut self, dependency: &ParsedDependency, group: GroupId) {
        let mut versions: Vec<&IndexedVersion> = self.model.versions(group).collect();
        versions.sort_by(|a, b| b.version.cmp(&a.version));
        for wanted in dependency.any_of.iter().filter(|it| it.name == self.model.extension(group)) {
            let Some(range) = &wanted.range else { continue };
            if !versions.iter().any(|version| range.matches(&version.version)) {
                let available = versions.iter().take(LISTED).map(|version| version.text.clone()).collect();
                let (extension, range) = (wanted.name.clone(), range.text.clone());
                self.add(Fact::NotInRange { extension, range, available });
            }
        }
    }

    /// Explains why one atom of a group has to be picked: an extension asks for it.
    fn why_needed(&mut self, group: GroupId) {
        let model = self.model;
        if !self.needed.insert(group) {
            return;
        }
        let Need::By(by) = self.propagation.needed[group] else { return };
        let atoms: Vec<AtomId> = model.formula.groups[by].clone().filter(|it| self.propagation.is_left(*it)).collect();
        for &atom in &atoms {
            for &requirement in &model.formula.requires[atom] {
                let sets = &model.formula.requirements[requirement];
                if !sets.iter().any(|&set| model.formula.sets[set].group == group) {
                    continue;
                }
                if let (Cause::Dependency(dependency), Some(subject)) =
                    (&model.causes[requirement], self.subject_of(&[atom]))
                {
                    let on_the_way_to = self.way(atom, dependency);
                    let subject = self.asking(atom, dependency, subject);
                    self.add(Fact::Asks { subject, dependency: dependency.text(), on_the_way_to });
                    self.others_gone(requirement, group);
                }
            }
        }
        self.why_needed(by);
    }

    fn restricted(&mut self, atom: AtomId) {
        let model = self.model;
        let group = model.formula.group_of[atom];
        if group == self.goal {
            return;
        }
        let Node::Instance(at) = model.nodes[group] else { return };
        let instance = &model.cluster.problem.instances[at];
        let left: Vec<AtomId> =
            model.formula.groups[group].clone().filter(|it| self.propagation.is_left(*it)).collect();
        match (&left[..], instance.installed) {
            _ if model.is_set_aside(atom) => {}
            ([one], Some(installed)) if model.is_set_aside(*one) => {
                self.add(Fact::Stays { label: model.label(group), installed: installed.to_owned() });
            }
            ([one], None) if model.is_set_aside(*one) => self.add(Fact::SetAside { label: model.label(group) }),
            (_, Some(installed)) => {
                self.add(Fact::NotOlder { label: model.label(group), installed: installed.to_owned() });
            }
            _ => {}
        }
    }

    fn clause(&mut self, at: usize) {
        let model = self.model;
        let clause = &self.clauses[at];
        if at < model.formula.clauses.len() {
            // It is that of an optional dependency: the first atom asks for another version of the second.
            if let [atom, other] = clause.all[..] {
                self.excluding(atom, &[other]);
            }
            return;
        }
        // Each asks for the next one, until one comes again.
        let asks = |atom: AtomId| {
            let sets = model.formula.requires[atom].iter().flat_map(|&it| &model.formula.requirements[it]);
            let mut asked = sets.flat_map(|&set| &model.formula.sets[set].atoms);
            asked.find(|it| clause.all.contains(it)).copied()
        };
        let mut atoms: Vec<AtomId> = clause.all.first().copied().into_iter().collect();
        while let Some(next) = atoms.last().and_then(|&last| asks(last)) {
            if let Some(place) = atoms.iter().position(|&atom| atom == next) {
                atoms.drain(..place);
                break;
            }
            atoms.push(next);
        }
        let subjects: Vec<Subject> = atoms.iter().filter_map(|&atom| self.subject_of(&[atom])).collect();
        self.add(Fact::Circle { subjects });
        for atom in atoms {
            let group = model.formula.group_of[atom];
            let all: Vec<AtomId> = model.formula.groups[group].clone().filter(|&it| it != atom).collect();
            self.gone(group, &all, true);
        }
    }
}
