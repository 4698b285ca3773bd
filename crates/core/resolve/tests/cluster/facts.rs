//! Checks each fact of each explanation against the input, and that explanations leave no version out.

use fitout_model::VersionState;
use fitout_resolve::cluster::{
    Capability, Dependencies, Extension, ExtensionVersion, Fact, Instance, Outcome, Policy, Problem, Resolution,
    Subject,
};

use crate::brute::{installable, parse, runs, way, within};

struct Input<'i> {
    extensions: &'i [Extension<'static>],
    problem: &'i Problem<'static>,
    resolution: &'i Resolution,
}

pub(crate) fn check(extensions: &[Extension<'static>], problem: &Problem<'static>, resolution: &Resolution, seed: u64) {
    let input = Input { extensions, problem, resolution };
    let mut explained = Vec::new();
    for (instance, resolved) in problem.instances.iter().zip(&resolution.instances) {
        let (why, version) = match &resolved.outcome {
            Outcome::Version { why, version, .. } => (why, Some(version)),
            Outcome::SetAside { why, .. } => (why, None),
        };
        assert!(!why.facts.is_empty(), "seed {seed}: nothing explains {}", instance.name);
        if version.is_none() {
            let offered =
                extensions.iter().filter(|it| (it.catalog, it.name) == (instance.catalog, instance.extension));
            for spec in offered.flat_map(|it| it.versions.clone()) {
                let is_explained = why.facts.iter().any(|fact| input.explains(fact, instance, &spec));
                assert!(
                    is_explained,
                    "seed {seed}: nothing explains {} {}: {}\n{extensions:#?}\n{problem:#?}",
                    instance.name,
                    spec.version,
                    why.text("c")
                );
            }
        }
        explained.push((why, Some(instance)));
    }
    explained.extend(resolution.additions.iter().map(|it| (&it.why, None)));
    for (why, instance) in explained {
        for fact in &why.facts {
            assert!(
                input.holds(fact, instance),
                "seed {seed}: not true: {fact:?}\n{}\n{extensions:#?}\n{problem:#?}\n{resolution:#?}",
                why.text("c")
            );
        }
    }
}

impl Input<'_> {
    /// All versions of an extension, with those that only an instance knows.
    fn versions(&self, catalog: &str, extension: &str) -> Vec<ExtensionVersion<'static>> {
        let offered = self.extensions.iter().filter(|it| (it.catalog, it.name) == (catalog, extension));
        let mut versions: Vec<_> = offered.flat_map(|it| it.versions.clone()).collect();
        for instance in self.problem.instances.iter().filter(|it| (it.catalog, it.extension) == (catalog, extension)) {
            if let Some(lost) =
                instance.lost.clone().filter(|it| !versions.iter().any(|known| known.version == it.version))
            {
                versions.push(lost);
            }
        }
        versions
    }

    /// A version as an instance knows it.
    fn own(&self, instance: &Instance<'static>, version: &str) -> Option<ExtensionVersion<'static>> {
        let offered =
            self.extensions.iter().filter(|it| (it.catalog, it.name) == (instance.catalog, instance.extension));
        let mut all = offered.flat_map(|it| &it.versions).chain(&instance.lost);
        all.find(|it| it.version == version).cloned()
    }

    fn specs(&self, subject: &Subject) -> Vec<ExtensionVersion<'static>> {
        let all = self.versions(&subject.catalog, &subject.extension);
        // Two instances can have lost different definitions of one version.
        let own = self.labelled(&subject.label).and_then(|(_, it)| it.lost.clone());
        let is_offered = |version: &str| {
            let mut offered =
                self.extensions.iter().filter(|it| (it.catalog, it.name) == (&*subject.catalog, &*subject.extension));
            offered.any(|it| it.versions.iter().any(|it| it.version == version))
        };
        let own = own.filter(|it| !is_offered(it.version));
        let find = |version: &String| own.iter().chain(&all).find(|it| it.version == version).cloned();
        subject.versions.iter().filter_map(find).collect()
    }

    fn labelled(&self, label: &str) -> Option<(usize, &Instance<'static>)> {
        let is_it =
            |(_, it): &(usize, &Instance)| label == it.extension || label == format!("{} ({})", it.extension, it.name);
        self.problem.instances.iter().enumerate().find(is_it)
    }

    fn outcome(&self, label: &str) -> Option<&Outcome> {
        self.labelled(label).map(|(at, _)| &self.resolution.instances[at].outcome)
    }

    /// Whether a fact, if it is true, is a reason against a version of an instance.
    fn explains(&self, fact: &Fact, instance: &Instance, spec: &ExtensionVersion) -> bool {
        let is_of =
            |it: &Subject| it.extension == instance.extension && it.versions.iter().any(|it| it == spec.version);
        match fact {
            Fact::Kubernetes { subject, .. }
            | Fact::Platform { subject, .. }
            | Fact::State { subject, .. }
            | Fact::Path { subject, .. }
            | Fact::NotRequested { subject, .. }
            | Fact::Capability { subject, .. } => is_of(subject),
            Fact::Conflict { subject, other } => is_of(subject) || is_of(other),
            Fact::Circle { subjects } => subjects.iter().any(is_of),
            // It asks, or another asks for another version of it.
            Fact::Asks { subject, dependency, on_the_way_to } => {
                is_of(subject)
                    || (subject.extension == instance.extension && on_the_way_to.as_deref() == Some(spec.version))
                    || dependency.contains(instance.extension)
                    || spec.provides.iter().any(|it| dependency.contains(it))
            }
            Fact::NotInRange { extension, .. } | Fact::Singleton { extension, .. } => extension == instance.extension,
            Fact::Manual { .. } | Fact::Suspended { .. } | Fact::Together { .. } => true,
            _ => false,
        }
    }

    fn asks(&self, spec: &ExtensionVersion, text: &str) -> bool {
        spec.dependencies.iter().any(|dependency| dependency_text(dependency) == text)
    }

    #[allow(clippy::too_many_lines, reason = "a rule for each fact")]
    fn holds(&self, fact: &Fact, instance: Option<&Instance<'static>>) -> bool {
        let problem = self.problem;
        let cluster = fitout_helm_ranges::kubernetes(problem.kubernetes).unwrap();
        let all = |subject: &Subject, rule: &dyn Fn(&ExtensionVersion) -> bool| {
            let specs = self.specs(subject);
            !specs.is_empty() && specs.len() == subject.versions.len() && specs.iter().all(rule)
        };
        let first = |subject: &Subject| self.specs(subject).into_iter().next();
        match fact {
            Fact::Installed { version, kubernetes } => {
                let spec = instance.and_then(|it| self.own(it, version));
                kubernetes == problem.kubernetes
                    && instance.and_then(|it| it.installed) == Some(version)
                    && spec.is_some_and(|it| runs(problem, &it))
            }
            Fact::Newest { version, requested, kubernetes, apart_from_others } => {
                let newer = |it: &ExtensionVersion| parse(it.version) > parse(version);
                // Which versions an addition may have depends on others of its name, so only those of instances are checked.
                let Some(instance) = instance else { return true };
                let mut fitting = self.fitting(instance).into_iter().filter(newer);
                let is_second = |it: &ExtensionVersion| {
                    it.state == VersionState::Deprecated
                        || instance.lost.as_ref().is_some_and(|lost| lost.version == it.version)
                        || (parse(it.version).is_prerelease() && instance.version.is_none())
                };
                kubernetes == problem.kubernetes
                    && requested.as_deref() == instance.version
                    && if *apart_from_others { fitting.all(|it| is_second(&it)) } else { fitting.next().is_none() }
            }
            // That no newer one fits with the others is what the search finds.
            Fact::NewestOfAll { kubernetes, .. } | Fact::Fits { kubernetes, .. } => kubernetes == problem.kubernetes,
            Fact::Remark { version, state, note } => {
                let Some(instance) = instance else {
                    return state.is_some();
                };
                let spec = self.own(instance, version);
                match state {
                    Some(state) => spec.is_some_and(|it| it.state == *state && it.note == note.as_deref()),
                    None => !self.extensions.iter().any(|it| {
                        (it.catalog, it.name) == (instance.catalog, instance.extension)
                            && it.versions.iter().any(|it| it.version == version)
                    }),
                }
            }
            Fact::UnknownCapability { capability } => !problem.capabilities.iter().any(|(it, _)| it == capability),
            Fact::Kubernetes { subject, range, kubernetes } => {
                kubernetes == problem.kubernetes
                    && all(subject, &|it| !within(it.kubernetes, &cluster))
                    && first(subject).is_some_and(|it| it.kubernetes == Some(range))
            }
            Fact::Platform { subject, range, platform } => {
                platform.as_deref() == problem.platform
                    && all(subject, &|it| {
                        it.platform.is_some()
                            && !platform.as_deref().is_some_and(|version| within(it.platform, &parse(version)))
                    })
                    && first(subject).is_some_and(|it| it.platform == Some(range))
            }
            Fact::State { subject, state, note } => {
                all(subject, &|it| it.state == *state && !installable(it.state))
                    && first(subject).is_some_and(|it| it.note == note.as_deref())
            }
            Fact::Path { subject, installed } => {
                let offered: Vec<_> = self
                    .extensions
                    .iter()
                    .filter(|it| it.catalog == subject.catalog && it.name == subject.extension)
                    .flat_map(|it| it.versions.clone())
                    .collect();
                let known = self.versions(&subject.catalog, &subject.extension);
                let definition = known.iter().find(|it| it.version == installed);
                all(subject, &|it| way(problem, &offered, definition, installed, &it.clone_static(&known)).is_none())
            }
            Fact::NotRequested { subject, range } => {
                self.labelled(&subject.label).is_some_and(|(_, it)| it.version == Some(range))
                    && all(subject, &|it| !within(Some(range), &parse(it.version)))
            }
            Fact::NotInRange { extension, range, available } => {
                let versions: Vec<_> =
                    self.extensions.iter().filter(|it| it.name == extension).flat_map(|it| &it.versions).collect();
                let is_known = |text: &String| {
                    versions.iter().any(|it| it.version == text)
                        || problem.instances.iter().any(|it| it.lost.as_ref().is_some_and(|it| it.version == text))
                };
                available.iter().all(is_known) && available.iter().all(|it| !within(Some(range), &parse(it)))
            }
            Fact::InvalidRange { .. } => false,
            Fact::NoExtension { catalog, extension } => self.versions(catalog, extension).is_empty(),
            Fact::Manual { label, installed, fits } => self.labelled(label).is_some_and(|(_, it)| {
                let versions = self.versions(it.catalog, it.extension);
                let fits = versions.iter().find(|it| it.version == fits);
                it.policy == Policy::Manual
                    && it.installed == Some(installed)
                    && within(it.version, &parse(installed))
                    && fits.is_some_and(|fits| runs(problem, fits) && within(it.version, &parse(fits.version)))
            }),
            Fact::Suspended { label, installed } => {
                self.labelled(label).is_some_and(|(_, it)| it.suspended && it.installed == installed.as_deref())
            }
            Fact::Asks { subject, dependency, .. } => {
                let names: Vec<&str> = dependency.split(" or ").map(|it| it.split(' ').next().unwrap()).collect();
                let asks_likewise = |it: &ExtensionVersion| {
                    let own = |it: &fitout_resolve::cluster::Dependency| -> Vec<String> {
                        it.any_of.iter().map(|it| it.name.to_owned()).collect()
                    };
                    it.dependencies.iter().any(|it| own(it) == names)
                };
                let hops = |it: &ExtensionVersion| {
                    // A version on the way to it may be the one that asks.
                    self.versions(&subject.catalog, &subject.extension)
                        .iter()
                        .any(|other| other.version != it.version && asks_likewise(other))
                };
                first(subject).is_some_and(|it| self.asks(&it, dependency))
                    && all(subject, &|it| asks_likewise(it) || hops(it))
            }
            Fact::Capability { subject, capability } => {
                problem.capabilities.contains(&(capability, Capability::Absent))
                    && all(subject, &|it| {
                        it.capabilities.iter().any(|it| it == capability)
                            || self
                                .versions(&subject.catalog, &subject.extension)
                                .iter()
                                .any(|it| it.capabilities.iter().any(|it| it == capability))
                    })
            }
            Fact::Unknown { name } => {
                !self.extensions.iter().any(|it| {
                    let is_visible = problem.catalogs.contains(&it.catalog);
                    is_visible
                        && (it.name == name || it.versions.iter().any(|it| it.provides.iter().any(|it| it == name)))
                }) || !problem.instances.iter().any(|it| it.extension == name)
            }
            Fact::Unversioned { name } => {
                let lost = problem.instances.iter().filter_map(|it| it.lost.as_ref());
                let all = self.extensions.iter().flat_map(|it| &it.versions).chain(lost);
                all.into_iter().any(|it| it.provides.iter().any(|it| it == name))
            }
            Fact::NotAdded { name, label } => {
                self.labelled(label).is_some_and(|(_, it)| it.dependencies == Dependencies::Require)
                    && !problem.instances.iter().any(|it| it.extension == name && it.extension != label)
            }
            Fact::Conflict { subject, other } => {
                let clash = |one: &ExtensionVersion, label: &Subject, spec: Option<&ExtensionVersion>, text: &str| {
                    one.conflicts.iter().any(|it| {
                        (it.name == label.extension && within(it.version, &parse(text)))
                            || (it.version.is_none() && spec.is_some_and(|spec| spec.provides.contains(&it.name)))
                    })
                };
                let others = self.specs(other);
                all(subject, &|it| {
                    // It, or one on the way to it.
                    let own = self.versions(&subject.catalog, &subject.extension);
                    other.versions.iter().any(|text| {
                        let spec = others.iter().find(|it| it.version == text);
                        clash(it, other, spec, text) || own.iter().any(|it| clash(it, other, spec, text))
                    })
                })
            }
            Fact::Singleton { extension, label } => {
                label.starts_with(extension.as_str())
                    && (self.labelled(label).is_some()
                        || self.resolution.additions.iter().any(|it| it.extension == *label)
                        || label == extension)
                    && (self.extensions.iter().flat_map(|it| it.versions.iter().map(move |spec| (it.name, spec))))
                        .any(|(name, it)| name == extension && it.singleton)
            }
            Fact::Circle { subjects } => {
                let asks = |(at, it): (usize, &Subject)| {
                    let next = &subjects[(at + 1) % subjects.len()];
                    let spec = first(next);
                    let gives = |name: &&str| spec.as_ref().is_some_and(|spec| spec.provides.contains(name));
                    let specs = self.specs(it);
                    let mut asked = specs.iter().flat_map(|it| &it.dependencies).flat_map(|it| &it.any_of);
                    asked.any(|it| it.name == next.extension || gives(&it.name))
                        || specs.iter().flat_map(|it| &it.capabilities).any(gives)
                };
                subjects.len() > 1 && subjects.iter().enumerate().all(asks)
            }
            Fact::NotOlder { label, installed } => {
                self.labelled(label).is_some_and(|(_, it)| it.installed == Some(installed))
                    && match self.outcome(label) {
                        Some(Outcome::Version { version, .. }) => parse(version) >= parse(installed),
                        _ => true,
                    }
            }
            Fact::Chosen { label, version } => {
                matches!(self.outcome(label), Some(Outcome::Version { version: chosen, .. }) if chosen == version)
            }
            Fact::Stays { label, installed } => {
                self.labelled(label).is_some_and(|(_, it)| it.installed == Some(installed))
                    && matches!(self.outcome(label), Some(Outcome::SetAside { .. }))
            }
            Fact::SetAside { label } => {
                self.labelled(label).is_some_and(|(_, it)| it.installed.is_none())
                    && matches!(self.outcome(label), Some(Outcome::SetAside { .. }))
            }
            // That is checked by the brute-force search.
            Fact::Together { labels } => labels.len() > 1 || labels.len() == 1,
        }
    }

    /// The versions that an instance could have if it were alone, and its dependencies were there.
    fn fitting(&self, instance: &Instance<'static>) -> Vec<ExtensionVersion<'static>> {
        let offered: Vec<_> = self
            .extensions
            .iter()
            .filter(|it| (it.catalog, it.name) == (instance.catalog, instance.extension))
            .flat_map(|it| it.versions.clone())
            .collect();
        let is_offered = |lost: &&ExtensionVersion| offered.iter().any(|it| it.version == lost.version);
        let lost = instance.lost.iter().filter(|lost| !is_offered(lost));
        let all: Vec<_> = offered.iter().chain(lost).cloned().collect();
        let definition = all.iter().find(|it| Some(it.version) == instance.installed);
        all.iter()
            .filter(|it| {
                within(instance.version, &parse(it.version))
                    && runs(self.problem, it)
                    && installable(it.state)
                    && instance.installed.is_none_or(|from| way(self.problem, &offered, definition, from, it).is_some())
            })
            .cloned()
            .collect()
    }
}

trait CloneStatic {
    fn clone_static(&self, known: &[ExtensionVersion<'static>]) -> ExtensionVersion<'static>;
}

impl CloneStatic for ExtensionVersion<'_> {
    fn clone_static(&self, known: &[ExtensionVersion<'static>]) -> ExtensionVersion<'static> {
        known.iter().find(|it| it.version == self.version).unwrap().clone()
    }
}

fn dependency_text(dependency: &fitout_resolve::cluster::Dependency) -> String {
    let texts = dependency.any_of.iter().map(|it| match it.version {
        Some(range) => format!("{} {range}", it.name),
        None => it.name.to_owned(),
    });
    texts.collect::<Vec<_>>().join(" or ")
}
