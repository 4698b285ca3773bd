//! Small random catalogs and clusters.

use fitout_model::VersionState;
use fitout_resolve::cluster::{
    Capability, Dependencies, Dependency, Extension, ExtensionVersion, Instance, Policy, Problem, Requirement,
};

/// Random numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // Sebastiano Vigna's splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

pub(crate) struct World {
    extensions: Vec<Extension<'static>>,
    problem: Problem<'static>,
}

const NAMES: [&str; 4] = ["web", "storage", "gateway", "monitoring"];
const VERSIONS: [&str; 7] = ["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0", "3.0.0", "2.2.0-rc.1"];
const RANGES: [&str; 10] = ["<1.2", ">=1.1", "<2", ">=2", "1.x", "2.x", ">=1.1 <2.1", "<3", ">=1.0", ">=1.2"];
const KUBERNETES: [&str; 4] = [">=1.34", "<1.36", ">=1.35 <1.37", ">=1.36"];
const CAPABILITIES: [&str; 2] = ["certificates", "disk"];

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let it = &mut random;
        let names = &NAMES[..if it.chance(50) { 3 } else { 4 }];
        let mut extensions = Vec::new();
        for &name in names {
            let catalogs: &[&str] = if it.chance(8) { &["shared", "own"] } else { &["shared"] };
            let side_by_side = it.chance(30);
            for &catalog in catalogs {
                extensions.push(extension(it, catalog, name, names, side_by_side));
            }
        }
        let problem = problem(it, names, &extensions);
        Self { extensions, problem }
    }

    pub(crate) fn extensions(&self) -> Vec<Extension<'static>> {
        self.extensions.clone()
    }

    pub(crate) fn problem(&self) -> Problem<'static> {
        self.problem.clone()
    }
}

fn extension(
    it: &mut Random,
    catalog: &'static str,
    name: &'static str,
    names: &[&'static str],
    side_by_side: bool,
) -> Extension<'static> {
    let mut versions = Vec::new();
    let count = 1 + it.below(if side_by_side { 3 } else { 4 });
    while (versions.len() as u64) < count {
        let text = if it.chance(95) { it.pick(&VERSIONS[..6]) } else { VERSIONS[6] };
        if !versions.iter().any(|version: &ExtensionVersion| version.version == text) {
            let singleton = if it.chance(5) { side_by_side } else { !side_by_side };
            versions.push(version(it, text, name, names, singleton));
        }
    }
    Extension { catalog, name, versions }
}

fn requirement(it: &mut Random, own: &str, names: &[&'static str]) -> Requirement<'static> {
    if it.chance(12) {
        let version = it.chance(20).then(|| it.pick(&RANGES));
        return Requirement { name: it.pick(&CAPABILITIES), version };
    }
    let others: Vec<&'static str> = names.iter().copied().filter(|name| *name != own || it.chance(2)).collect();
    let name = if it.chance(1) { "nothing" } else { it.pick(&others) };
    Requirement { name, version: it.chance(50).then(|| it.pick(&RANGES)) }
}

fn version(
    it: &mut Random,
    text: &'static str,
    name: &str,
    names: &[&'static str],
    singleton: bool,
) -> ExtensionVersion<'static> {
    let mut dependencies = Vec::new();
    while it.chance(45) && dependencies.len() < 2 {
        let alternatives = if it.chance(20) { 2 } else { 1 };
        let any_of = (0..alternatives).map(|_| requirement(it, name, names)).collect();
        dependencies.push(Dependency { any_of, optional: it.chance(15) });
    }
    ExtensionVersion {
        version: text,
        kubernetes: it.chance(25).then(|| it.pick(&KUBERNETES)),
        platform: it.chance(5).then(|| it.pick(&[">=1", ">=2"])),
        upgrade_from: it.chance(45).then(|| it.pick(&RANGES)),
        singleton,
        capabilities: if it.chance(12) { vec![it.pick(&["disk", "loadBalancer"])] } else { vec![] },
        dependencies,
        provides: if it.chance(20) { vec![it.pick(&CAPABILITIES)] } else { vec![] },
        conflicts: if it.chance(8) { vec![requirement(it, name, names)] } else { vec![] },
        suggests: if it.chance(10) { vec![it.pick(names)] } else { vec![] },
        state: match it.below(20) {
            0 => VersionState::Deprecated,
            1 => VersionState::Yanked,
            2 => VersionState::Withdrawn,
            _ => VersionState::Listed,
        },
        note: it.chance(20).then_some("a note"),
    }
}

fn problem(it: &mut Random, names: &[&'static str], extensions: &[Extension<'static>]) -> Problem<'static> {
    let mut instances = Vec::new();
    for at in 0..=it.below(3) {
        let wanted = it.pick(names);
        let found: Vec<&Extension<'static>> = extensions.iter().filter(|known| known.name == wanted).collect();
        let found = found[usize::try_from(it.below(found.len() as u64)).unwrap()];
        let installed = it.chance(50).then(|| {
            if it.chance(90) {
                let versions: Vec<&'static str> = found.versions.iter().map(|version| version.version).collect();
                it.pick(&versions)
            } else {
                it.pick(&VERSIONS)
            }
        });
        let is_offered = |text: &str| found.versions.iter().any(|version| version.version == text);
        let is_lost = installed.is_some_and(|text| !is_offered(text)) && it.chance(70);
        let lost = installed.filter(|_| is_lost).map(|text| {
            let version = version(it, text, wanted, names, found.versions[0].singleton);
            ExtensionVersion { state: VersionState::Listed, ..version }
        });
        instances.push(Instance {
            name: ["a", "b", "c"][usize::try_from(at).unwrap()],
            catalog: found.catalog,
            extension: wanted,
            version: it.chance(20).then(|| it.pick(&RANGES)),
            installed,
            lost,
            policy: it.pick(&[Policy::Follow, Policy::Follow, Policy::Latest, Policy::Latest, Policy::Manual]),
            suspended: it.chance(4),
            dependencies: match it.below(10) {
                0 => Dependencies::Require,
                1 => Dependencies::Ignore,
                _ => Dependencies::Install,
            },
            is_dependency: it.chance(15),
        });
    }
    let mut capabilities = Vec::new();
    for name in ["disk", "loadBalancer"] {
        match it.below(3) {
            0 => capabilities.push((name, Capability::Present)),
            1 => capabilities.push((name, Capability::Absent)),
            _ => {}
        }
    }
    Problem {
        kubernetes: it.pick(&["v1.34.2", "v1.35.4+k3s1", "v1.36.3"]),
        platform: it.chance(80).then_some("1.4.0"),
        capabilities,
        catalogs: if it.chance(70) { vec!["shared"] } else { vec!["own", "shared"] },
        instances,
    }
}
