//! The specification of a resolution, carried out by trying everything.

use std::cmp::Reverse;

use fitout_helm_ranges::{Range, Version, kubernetes};
use fitout_model::VersionState;
use fitout_resolve::cluster::{
    Capability, Dependencies, Dependency, Extension, ExtensionVersion, Instance, Outcome, Policy, Problem, Requirement,
    Resolution,
};

/// The content of a resolution: the version and the hops of each instance, or none, and the additions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    instances: Vec<Option<(String, Vec<String>)>>,
    additions: Vec<(String, String, String)>,
}

impl Answer {
    pub(crate) fn of(resolution: &Resolution) -> Self {
        let version = |outcome: &Outcome| match outcome {
            Outcome::Version { version, hops, .. } => Some((version.clone(), hops.clone())),
            Outcome::SetAside { .. } => None,
        };
        let addition =
            |it: &fitout_resolve::cluster::Addition| (it.catalog.clone(), it.extension.clone(), it.version.clone());
        Self {
            instances: resolution.instances.iter().map(|it| version(&it.outcome)).collect(),
            additions: resolution.additions.iter().map(addition).collect(),
        }
    }
}

type Spec = ExtensionVersion<'static>;

pub(crate) fn parse(text: &str) -> Version {
    Version::parse(text).unwrap()
}

pub(crate) fn within(range: Option<&str>, version: &Version) -> bool {
    range.is_none_or(|range| Range::parse(range).unwrap().matches(version))
}

/// One possible state of a member: a version, with those on the way to it, or what is there while it is set aside.
#[derive(Clone, Debug)]
struct Choice {
    spec: Option<Spec>,
    /// The installed version, where its definition is unknown.
    bare: Option<Version>,
    hops: Vec<Spec>,
    is_set_aside: bool,
    /// Whether nothing changes on the cluster.
    is_unmoved: bool,
}

#[derive(Clone, Debug)]
struct Member {
    name: &'static str,
    catalog: &'static str,
    mode: Dependencies,
    is_instance: bool,
    is_dependency: bool,
    /// Best first. Those of an instance end with setting it aside.
    choices: Vec<Choice>,
}

struct World<'w> {
    extensions: &'w [Extension<'static>],
    problem: &'w Problem<'static>,
    members: Vec<Member>,
}

type Solution = Vec<Option<usize>>;

pub(crate) fn installable(state: VersionState) -> bool {
    matches!(state, VersionState::Listed | VersionState::Deprecated)
}

pub(crate) fn runs(problem: &Problem, spec: &ExtensionVersion) -> bool {
    within(spec.kubernetes, &kubernetes(problem.kubernetes).unwrap())
        && spec.platform.is_none_or(|range| problem.platform.is_some_and(|it| within(Some(range), &parse(it))))
}

/// Whether `to` can replace `from`, whose definition may be unknown.
fn step(from: &Version, definition: Option<&Spec>, to: &Spec) -> bool {
    let target = parse(to.version);
    let says = |spec: &Spec, other: &Version| match spec.upgrade_from {
        Some(range) => within(Some(range), other),
        None => parse(spec.version).major() == other.major(),
    };
    let back = definition.map_or(from.major() == target.major(), |it| says(it, &target));
    says(to, from) || (target < *from && back)
}

/// The shortest way to a version; of several the one with the newest last version, and so on backwards.
pub(crate) fn way(
    problem: &Problem,
    offered: &[Spec],
    definition: Option<&Spec>,
    from: &str,
    to: &Spec,
) -> Option<Vec<Spec>> {
    if from == to.version {
        return Some(vec![]);
    }
    let usable: Vec<&Spec> =
        offered.iter().filter(|it| it.version != from && installable(it.state) && runs(problem, it)).collect();
    let mut found: Vec<Vec<Spec>> = Vec::new();
    let mut ahead: Vec<Vec<Spec>> = vec![vec![]];
    while let Some(hops) = ahead.pop() {
        let (at, known) = match hops.last() {
            Some(last) => (parse(last.version), Some(last)),
            None => (parse(from), definition),
        };
        if step(&at, known, to) {
            found.push(hops.clone());
        }
        for next in &usable {
            if next.version != to.version
                && !hops.iter().any(|hop| hop.version == next.version)
                && step(&at, known, next)
            {
                ahead.push(hops.iter().cloned().chain([(*next).clone()]).collect());
            }
        }
    }
    let newest_last = |hops: &Vec<Spec>| Reverse(hops.iter().rev().map(|hop| parse(hop.version)).collect::<Vec<_>>());
    found.into_iter().min_by_key(|hops| (hops.len(), newest_last(hops)))
}

pub(crate) fn resolve(extensions: &[Extension<'static>], problem: &Problem<'static>) -> Answer {
    let mut world = World { extensions, problem, members: vec![] };
    for instance in &problem.instances {
        let choices = world.of_instance(instance);
        world.members.push(Member {
            name: instance.extension,
            catalog: instance.catalog,
            mode: instance.dependencies,
            is_instance: true,
            is_dependency: instance.is_dependency,
            choices,
        });
    }
    for extension in extensions {
        world.add(extension);
    }
    world.best()
}

impl World<'_> {
    fn of_instance(&self, instance: &Instance<'static>) -> Vec<Choice> {
        let problem = self.problem;
        let offered: Vec<Spec> = self
            .extensions
            .iter()
            .filter(|it| (it.catalog, it.name) == (instance.catalog, instance.extension))
            .flat_map(|it| it.versions.clone())
            .collect();
        let installed = instance.installed.map(parse);
        let lost = instance.lost.clone().filter(|lost| !offered.iter().any(|it| it.version == lost.version));
        let all: Vec<(Spec, bool)> =
            offered.iter().map(|it| (it.clone(), true)).chain(lost.map(|lost| (lost, false))).collect();
        let definition = all.iter().map(|(it, _)| it).find(|it| Some(it.version) == instance.installed).cloned();
        let is_wanted = |version: &Version| within(instance.version, version);
        let manual = instance.policy == Policy::Manual && installed.as_ref().is_some_and(is_wanted);
        let stays = manual || instance.suspended;
        let mut ranked = Vec::new();
        for (spec, is_offered) in all {
            let version = parse(spec.version);
            let is_installed = Some(spec.version) == instance.installed;
            if !is_wanted(&version) || (stays && !is_installed) || !runs(problem, &spec) {
                continue;
            }
            if !is_installed && !installable(spec.state) {
                continue;
            }
            let hops = match instance.installed {
                Some(from) => way(problem, &offered, definition.as_ref(), from, &spec),
                None => Some(vec![]),
            };
            let Some(hops) = hops else { continue };
            let is_second = spec.state == VersionState::Deprecated
                || !is_offered
                || (version.is_prerelease() && instance.version.is_none());
            let is_left = spec.state == VersionState::Withdrawn && !stays && instance.policy != Policy::Manual;
            let is_newer = installed.as_ref().is_some_and(|it| version > *it) && !is_second;
            let latest = instance.policy == Policy::Latest && !stays;
            let class = if is_installed {
                if is_left { 3 } else { 1 }
            } else if latest && is_newer {
                0
            } else {
                2
            };
            let choice = Choice { spec: Some(spec), bare: None, hops, is_set_aside: false, is_unmoved: is_installed };
            ranked.push(((class, is_second, Reverse(version)), choice));
        }
        ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut choices: Vec<Choice> = ranked.into_iter().map(|(_, choice)| choice).collect();
        let bare = installed;
        choices.push(Choice { spec: definition, bare, hops: vec![], is_set_aside: true, is_unmoved: true });
        choices
    }

    /// The additions of an extension: one for each major version of those that can be side by side, and one for the rest.
    fn add(&mut self, extension: &Extension<'static>) {
        let taken = self.problem.instances.iter().any(|it| it.extension == extension.name);
        let mut majors: Vec<Option<u64>> =
            extension.versions.iter().map(|it| (!it.singleton).then(|| parse(it.version).major())).collect();
        majors.sort_by_key(|it| (it.is_none(), Reverse(*it)));
        majors.dedup();
        for major in majors {
            let mut specs: Vec<Spec> = extension
                .versions
                .iter()
                .filter(|it| (!it.singleton).then(|| parse(it.version).major()) == major)
                .filter(|it| installable(it.state) && runs(self.problem, it) && !(taken && it.singleton))
                .cloned()
                .collect();
            let second = |it: &Spec| it.state == VersionState::Deprecated || parse(it.version).is_prerelease();
            specs.sort_by_key(|it| (second(it), Reverse(parse(it.version))));
            let choice = |spec: Spec| Choice {
                spec: Some(spec),
                bare: None,
                hops: vec![],
                is_set_aside: false,
                is_unmoved: false,
            };
            self.members.push(Member {
                name: extension.name,
                catalog: extension.catalog,
                mode: Dependencies::Install,
                is_instance: false,
                is_dependency: true,
                choices: specs.into_iter().map(choice).collect(),
            });
        }
    }

    fn meets(&self, member: usize, choice: usize, requirement: &Requirement) -> bool {
        let it = &self.members[member];
        let choice = &it.choices[choice];
        let version = match (&choice.spec, &choice.bare) {
            (Some(spec), _) => parse(spec.version),
            (None, Some(bare)) => bare.clone(),
            (None, None) => return false,
        };
        let named = it.name == requirement.name && within(requirement.version, &version);
        let provided = choice.spec.as_ref().is_some_and(|it| it.provides.contains(&requirement.name));
        named || (provided && requirement.version.is_none())
    }

    /// The members that may meet a dependency of another, best first, with what they have to meet.
    fn servers<'d>(&self, member: usize, dependency: &'d Dependency<'d>) -> Vec<(usize, Vec<&'d Requirement<'d>>)> {
        let all: Vec<&Requirement> = dependency.any_of.iter().collect();
        let mut instances: Vec<usize> =
            (0..self.members.len()).filter(|&it| it != member && self.members[it].is_instance).collect();
        instances.sort_by_key(|&it| self.members[it].is_dependency);
        let mut servers: Vec<(usize, Vec<&Requirement>)> = instances.into_iter().map(|it| (it, all.clone())).collect();
        if self.members[member].mode == Dependencies::Install {
            let own = self.members[member].catalog;
            for requirement in &dependency.any_of {
                let catalogs = || std::iter::once(own).chain(self.problem.catalogs.iter().copied());
                let named = catalogs().find(|catalog| {
                    self.extensions.iter().any(|it| it.catalog == *catalog && it.name == requirement.name)
                });
                let provides = |it: &Extension| it.versions.iter().any(|it| it.provides.contains(&requirement.name));
                let provider = catalogs()
                    .find(|catalog| self.extensions.iter().any(|it| it.catalog == *catalog && provides(it)))
                    .filter(|_| requirement.version.is_none());
                let mut found: Vec<(&str, &str)> =
                    named.map(|catalog| (catalog, requirement.name)).into_iter().collect();
                let mut providers: Vec<(&str, &str)> = self
                    .extensions
                    .iter()
                    .filter(|it| Some(it.catalog) == provider && provides(it))
                    .map(|it| (it.catalog, it.name))
                    .collect();
                providers.sort_by_key(|(_, name)| *name);
                found.extend(providers);
                for (catalog, name) in found {
                    for it in 0..self.members.len() {
                        let server = &self.members[it];
                        let is_new = !servers.iter().any(|(known, of)| *known == it && of[..] == [requirement]);
                        if !server.is_instance
                            && (server.catalog, server.name) == (catalog, name)
                            && it != member
                            && is_new
                        {
                            servers.push((it, vec![requirement]));
                        }
                    }
                }
            }
        }
        servers
    }

    /// The requirements of a choice, each as the choices of members that meet it, best first.
    fn requirements(&self, member: usize, choice: usize) -> Vec<Vec<(usize, Vec<usize>)>> {
        let it = &self.members[member];
        let Choice { spec, hops, is_set_aside, .. } = &it.choices[choice];
        if *is_set_aside {
            return vec![];
        }
        let mut requirements = Vec::new();
        let meeting = |server: usize, any_of: &[&Requirement]| -> Vec<usize> {
            let choices = 0..self.members[server].choices.len();
            choices.filter(|&choice| any_of.iter().any(|it| self.meets(server, choice, it))).collect()
        };
        for (place, version) in hops.iter().chain(spec).enumerate() {
            let is_hop = place < hops.len();
            for dependency in &version.dependencies {
                if dependency.optional || it.mode == Dependencies::Ignore {
                    continue;
                }
                let installed = |server: usize| {
                    let last = self.members[server].choices.len().wrapping_sub(1);
                    self.members[server].is_instance && dependency.any_of.iter().any(|it| self.meets(server, last, it))
                };
                if is_hop && (0..self.members.len()).any(|server| server != member && installed(server)) {
                    continue;
                }
                let servers = self.servers(member, dependency);
                requirements.push(servers.into_iter().map(|(server, of)| (server, meeting(server, &of))).collect());
            }
            for capability in &version.capabilities {
                if self.problem.capabilities.contains(&(capability, Capability::Absent)) {
                    let requirement = Requirement { name: capability, version: None };
                    let provides = |server: usize, choice: usize| {
                        let spec = &self.members[server].choices[choice].spec;
                        spec.as_ref().is_some_and(|it| it.provides.contains(&requirement.name))
                    };
                    let servers = (0..self.members.len()).filter(|&it| it != member && self.members[it].is_instance);
                    let of = |server: usize| {
                        (0..self.members[server].choices.len()).filter(move |&it| provides(server, it)).collect()
                    };
                    requirements.push(servers.map(|server| (server, of(server))).collect());
                }
            }
        }
        requirements
    }

    /// Whether two choices may be on the cluster together.
    fn together(&self, (a, x): (usize, usize), (b, y): (usize, usize)) -> bool {
        let (one, other) = (&self.members[a].choices[x], &self.members[b].choices[y]);
        if (one.is_set_aside || other.is_set_aside) && one.is_unmoved && other.is_unmoved {
            return true;
        }
        let is_there = |it: &Choice| it.spec.is_some() || it.bare.is_some();
        let singleton = |it: &Choice| it.spec.as_ref().is_some_and(|it| it.singleton);
        if self.members[a].name == self.members[b].name
            && is_there(one)
            && is_there(other)
            && (singleton(one) || singleton(other))
        {
            return false;
        }
        let clash = |it: &Choice, (member, choice): (usize, usize)| {
            it.hops.iter().chain(&it.spec).flat_map(|it| &it.conflicts).any(|it| self.meets(member, choice, it))
        };
        !clash(one, (b, y)) && !clash(other, (a, x))
    }

    /// Whether where an optional dependency is there, it is there in a version that is asked for.
    fn optional(&self, solution: &Solution, member: usize, choice: usize) -> bool {
        let it = &self.members[member];
        let Choice { spec, is_set_aside, .. } = &it.choices[choice];
        if *is_set_aside || it.mode == Dependencies::Ignore {
            return true;
        }
        let dependencies = spec.iter().flat_map(|it| &it.dependencies).filter(|it| it.optional);
        for dependency in dependencies {
            for wanted in dependency.any_of.iter().filter(|it| it.version.is_some()) {
                for (other, choice) in solution.iter().enumerate() {
                    let Some(choice) = *choice else { continue };
                    let there = &self.members[other].choices[choice];
                    let is_named = other != member
                        && self.members[other].name == wanted.name
                        && (there.spec.is_some() || there.bare.is_some());
                    if !is_named || dependency.any_of.iter().any(|it| self.meets(other, choice, it)) {
                        continue;
                    }
                    let another = solution.iter().enumerate().any(|(third, choice)| {
                        third != member
                            && third != other
                            && choice
                                .is_some_and(|choice| dependency.any_of.iter().any(|it| self.meets(third, choice, it)))
                    });
                    if !another {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The members that never start in a solution.
    fn unstarted(&self, solution: &Solution, requirements: &Table) -> Vec<usize> {
        let mut started: Vec<bool> = vec![false; solution.len()];
        loop {
            let ready = |member: usize| {
                let Some(choice) = solution[member] else { return false };
                requirements[member][choice].iter().all(|servers| {
                    servers.iter().any(|(server, meeting)| {
                        started[*server] && solution[*server].is_some_and(|choice| meeting.contains(&choice))
                    })
                })
            };
            let Some(next) = (0..solution.len()).find(|&it| !started[it] && ready(it)) else { break };
            started[next] = true;
        }
        (0..solution.len()).filter(|&it| solution[it].is_some() && !started[it]).collect()
    }

    fn solutions(&self, requirements: &Table) -> Vec<Solution> {
        // Additions that nothing can ask for are never there.
        let mut asked: Vec<bool> = self.members.iter().map(|it| it.is_instance).collect();
        loop {
            let mut more = Vec::new();
            for (_, choices) in requirements.iter().enumerate().filter(|(member, _)| asked[*member]) {
                more.extend(choices.iter().flatten().flatten().map(|(server, _)| *server).filter(|it| !asked[*it]));
            }
            if more.is_empty() {
                break;
            }
            for it in more {
                asked[it] = true;
            }
        }
        let mut solutions: Vec<Solution> = vec![vec![]];
        for (member, is_asked) in asked.into_iter().enumerate() {
            let it = &self.members[member];
            let choices = (0..it.choices.len()).filter(|_| is_asked).map(Some);
            let choices: Vec<Option<usize>> = choices.chain((!it.is_instance).then_some(None)).collect();
            let mut next = Vec::new();
            for solution in &solutions {
                for &choice in &choices {
                    let fits = |(other, picked): (usize, &Option<usize>)| match (choice, picked) {
                        (Some(choice), Some(picked)) => self.together((member, choice), (other, *picked)),
                        _ => true,
                    };
                    if solution.iter().enumerate().all(fits) {
                        next.push(solution.iter().copied().chain([choice]).collect::<Solution>());
                    }
                }
            }
            solutions = next;
        }
        solutions.retain(|solution| {
            let optional = |member: usize| solution[member].is_none_or(|it| self.optional(solution, member, it));
            self.unstarted(solution, requirements).is_empty() && (0..solution.len()).all(optional)
        });
        solutions
    }

    fn best(&self) -> Answer {
        let requirements: Table = (0..self.members.len())
            .map(|member| (0..self.members[member].choices.len()).map(|it| self.requirements(member, it)).collect())
            .collect();
        let mut solutions = self.solutions(&requirements);
        let instances = self.problem.instances.len();
        let mut order: Vec<usize> = (0..instances).collect();
        order.sort_by_key(|&it| self.problem.instances[it].installed.is_none());
        let is_installed = |it: &usize| self.problem.instances[*it].installed.is_some();
        let prefer = |solutions: &mut Vec<Solution>, wish: &dyn Fn(&Solution) -> bool| {
            let wished: Vec<Solution> = solutions.iter().filter(|it| wish(it)).cloned().collect();
            let granted = !wished.is_empty();
            if granted {
                *solutions = wished;
            }
            granted
        };
        let aside = |member: usize, solution: &Solution| {
            solution[member].is_none_or(|choice| self.members[member].choices[choice].is_set_aside)
        };
        for &member in order.iter().filter(|it| is_installed(it)) {
            prefer(&mut solutions, &|it| !aside(member, it));
        }
        for &member in order.iter().filter(|it| is_installed(it)) {
            let installed = parse(self.problem.instances[member].installed.unwrap());
            let choices = &self.members[member].choices;
            let is_left =
                |it: &Choice| it.is_unmoved && it.spec.as_ref().is_some_and(|it| it.state == VersionState::Withdrawn);
            // One that has to leave a withdrawn version may move down.
            let versions = choices.len() - 1;
            if versions > 1 && is_left(&choices[versions - 1]) {
                continue;
            }
            prefer(&mut solutions, &|it| {
                aside(member, it)
                    || it[member]
                        .is_some_and(|it| choices[it].spec.as_ref().is_none_or(|it| parse(it.version) >= installed))
            });
        }
        for &member in order.iter().filter(|it| !is_installed(it)) {
            prefer(&mut solutions, &|it| !aside(member, it));
        }
        for &member in &order {
            for choice in 0..self.members[member].choices.len() {
                if prefer(&mut solutions, &|it| it[member] == Some(choice)) {
                    break;
                }
            }
        }
        let additions = self.walk(&mut solutions, &order, &requirements);
        let picked = &solutions[0];
        let version = |member: usize| {
            let choice = &self.members[member].choices[picked[member].unwrap()];
            let text = |it: &Spec| it.version.to_owned();
            (!choice.is_set_aside)
                .then(|| (text(choice.spec.as_ref().unwrap()), choice.hops.iter().map(text).collect()))
        };
        let addition = |&member: &usize| {
            let it = &self.members[member];
            (it.catalog.to_owned(), it.name.to_owned(), version(member).unwrap().0)
        };
        Answer { instances: (0..instances).map(version).collect(), additions: additions.iter().map(addition).collect() }
    }

    /// Follows the dependencies, and decides what is added for each.
    fn walk(&self, solutions: &mut Vec<Solution>, order: &[usize], requirements: &Table) -> Vec<usize> {
        let mut decided: Vec<usize> = order.to_vec();
        let mut at = 0;
        loop {
            while at < decided.len() {
                let member = decided[at];
                at += 1;
                let choice = solutions[0][member].unwrap();
                for servers in &requirements[member][choice] {
                    self.serve(solutions, &mut decided, servers, &[]);
                }
            }
            let mut picked: Solution = vec![None; self.members.len()];
            for &it in &decided {
                picked[it] = solutions[0][it];
            }
            let unstarted = self.unstarted(&picked, requirements);
            let waiting: Vec<usize> = decided.iter().copied().filter(|it| unstarted.contains(it)).collect();
            let mut open = waiting.iter().flat_map(|&it| &requirements[it][picked[it].unwrap()]);
            if !open.any(|servers| self.serve(solutions, &mut decided, servers, &unstarted)) {
                return decided[order.len()..].to_vec();
            }
        }
    }

    /// Adds what meets a requirement, unless something does that is there already. Says whether something is added.
    fn serve(
        &self,
        solutions: &mut Vec<Solution>,
        decided: &mut Vec<usize>,
        servers: &[(usize, Vec<usize>)],
        unstarted: &[usize],
    ) -> bool {
        let meets = |solution: &Solution, (server, meeting): &(usize, Vec<usize>)| {
            solution[*server].is_some_and(|choice| meeting.contains(&choice))
        };
        let counts = |it: &usize| decided.contains(it) && !unstarted.contains(it);
        if servers.iter().any(|it| counts(&it.0) && meets(&solutions[0], it)) {
            return false;
        }
        for server in servers.iter().filter(|it| !decided.contains(&it.0)) {
            let with: Vec<Solution> = solutions.iter().filter(|it| meets(it, server)).cloned().collect();
            let best = with.iter().filter_map(|it| it[server.0]).min();
            if let Some(best) = best {
                *solutions = with.into_iter().filter(|it| it[server.0] == Some(best)).collect();
                decided.push(server.0);
                return true;
            }
        }
        false
    }
}

/// The choices that meet the requirements of each choice of each member.
type Table = Vec<Vec<Vec<Vec<(usize, Vec<usize>)>>>>;
