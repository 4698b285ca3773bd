//! Resolving a fleet after a change of a catalog.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement")]

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fitout_model::VersionState;
use fitout_resolve::cluster::{
    Dependency, Extension, ExtensionVersion, Index, Instance, Outcome, Policy, Problem, Requirement, Resolution,
    resolve,
};

const EXTENSIONS: usize = 600;
const VERSIONS: usize = 40;
const CLUSTERS: usize = 1000;
const PROBLEMS: usize = 300;
const INSTANCES: usize = 30;
/// The least number of extensions that the instances of a cluster need, with themselves.
const REACHED: usize = 150;
/// Every so many problems has an instance that cannot be satisfied.
const UNSATISFIABLE: usize = 10;
const THREADS: usize = 2;
/// How often each cluster is resolved alone; the best turn counts, as other processes take their share of the machine.
const TURNS: usize = 3;
const ALL: Duration = Duration::from_secs(5);
const ONE: Duration = Duration::from_millis(50);
const ONE_UNSATISFIABLE: Duration = Duration::from_millis(200);

/// The versions of each major version.
const MINORS: usize = 10;

/// The texts of the catalog.
struct Texts {
    names: Vec<String>,
    versions: Vec<String>,
    kubernetes: Vec<String>,
    /// By the first and the last version of the range.
    ranges: HashMap<(usize, usize), String>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        // Sebastiano Vigna's splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap()
    }
}

fn main() -> Result<()> {
    let texts = texts();
    let catalog = catalog(&texts, VersionState::Listed);
    let before = Index::new(catalog.clone());
    let installed: Vec<Resolution> =
        (0..PROBLEMS).map(|at| Ok(resolve(&before, &fresh(&texts, at))?)).collect::<Result<_>>()?;
    let problems: Vec<Problem> = (0..PROBLEMS).map(|at| upgraded(&texts, at, &installed[at])).collect();
    let clusters: Vec<&Problem> = (0..CLUSTERS).map(|at| &problems[at % PROBLEMS]).collect();
    let changed = self::catalog(&texts, VersionState::Withdrawn);

    let begin = Instant::now();
    let index = Index::new(changed);
    let indexed = begin.elapsed();
    let resolutions = resolve_all(&index, &clusters);
    let all = begin.elapsed();
    report(&resolutions, &problems)?;

    let (mut one, mut unsatisfiable) = (Vec::new(), Vec::new());
    for problem in &problems {
        let mut best = Duration::MAX;
        let mut satisfied = true;
        for _ in 0..TURNS {
            let begin = Instant::now();
            let resolution = resolve(&index, problem)?;
            std::hint::black_box(explanations(&resolution));
            best = best.min(begin.elapsed());
            satisfied = is_satisfied(&resolution);
        }
        if satisfied { &mut one } else { &mut unsatisfiable }.push(best);
    }
    let worst = |times: &[Duration]| times.iter().max().copied().unwrap_or_default();
    let mean = |times: &[Duration]| times.iter().sum::<Duration>() / u32::try_from(times.len().max(1)).unwrap();
    println!("the index of the changed catalog takes {indexed:.1?}");
    println!("{:34} {:>10} {:>10}", "", "mean", "worst");
    println!("{:34} {:>10.1?} {:>10.1?}", "a cluster, satisfiable", mean(&one), worst(&one));
    println!("{:34} {:>10.1?} {:>10.1?}", "a cluster, unsatisfiable", mean(&unsatisfiable), worst(&unsatisfiable));
    let bars = [
        (all < ALL, format!("{CLUSTERS} clusters on {THREADS} threads in {all:.2?} (bar {ALL:.0?})")),
        (worst(&one) < ONE, format!("the slowest satisfiable one in {:.1?} (bar {ONE:.0?})", worst(&one))),
        (
            worst(&unsatisfiable) < ONE_UNSATISFIABLE,
            format!(
                "the slowest unsatisfiable one with its explanation in {:.1?} (bar {ONE_UNSATISFIABLE:.0?})",
                worst(&unsatisfiable)
            ),
        ),
    ];
    for (met, bar) in &bars {
        println!("{} {bar}", if *met { "  met:" } else { "  MISSED:" });
    }
    ensure!(bars.iter().all(|(met, _)| *met), "a bar is missed");
    Ok(())
}

/// Resolves all clusters, equal ones once.
fn resolve_all(index: &Index, clusters: &[&Problem]) -> Vec<Resolution> {
    let mut distinct: HashMap<fitout_model::Digest, &Problem> = HashMap::new();
    for problem in clusters {
        distinct.insert(problem.digest(), problem);
    }
    let distinct: Vec<&Problem> = distinct.into_values().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(problem) = distinct.get(next.fetch_add(1, Ordering::Relaxed)) {
            let resolution = resolve(index, problem).expect("a resolution");
            std::hint::black_box(explanations(&resolution));
            done.push(resolution);
        }
        done
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    })
}

fn is_satisfied(resolution: &Resolution) -> bool {
    resolution.instances.iter().all(|it| matches!(it.outcome, Outcome::Version { .. }))
}

fn explanations(resolution: &Resolution) -> usize {
    let text = |outcome: &Outcome| match outcome {
        Outcome::Version { why, .. } | Outcome::SetAside { why, .. } => why.text("prod-eu").len(),
    };
    resolution.instances.iter().map(|it| text(&it.outcome)).sum()
}

/// Prints what the problems are like, and checks that they are as hard as the bars say.
fn report(resolutions: &[Resolution], problems: &[Problem]) -> Result<()> {
    ensure!(resolutions.len() == PROBLEMS, "{} distinct problems", resolutions.len());
    let unsatisfiable = resolutions.iter().filter(|it| !is_satisfied(it)).count();
    let reached = resolutions.iter().map(|it| it.instances.len() + it.additions.len()).min().unwrap_or_default();
    let moved = resolutions.iter().flat_map(|it| &it.instances).filter(|it| match &it.outcome {
        Outcome::Version { why, .. } => !why.text("").contains("is installed and fits"),
        Outcome::SetAside { .. } => false,
    });
    println!(
        "{EXTENSIONS} extensions with {VERSIONS} versions each; {CLUSTERS} clusters, {PROBLEMS} of them distinct, with \
         {INSTANCES} instances each that need at least {reached} extensions; {unsatisfiable} unsatisfiable; {} of {} \
         instances move",
        moved.count(),
        problems.iter().map(|it| it.instances.len()).sum::<usize>()
    );
    ensure!(reached >= REACHED, "a cluster needs only {reached} extensions");
    ensure!(unsatisfiable * UNSATISFIABLE >= PROBLEMS, "only {unsatisfiable} problems are unsatisfiable");
    Ok(())
}

fn texts() -> Texts {
    let text = |version: usize| format!("{}.{}.0", version / MINORS + 1, version % MINORS);
    let mut ranges = HashMap::new();
    for first in 0..VERSIONS {
        for last in first..VERSIONS {
            ranges.insert((first, last), format!(">={} <={}", text(first), text(last)));
        }
    }
    Texts {
        names: (0..EXTENSIONS).map(|at| format!("extension-{at:03}")).collect(),
        versions: (0..VERSIONS).map(text).collect(),
        // Each version supports four minor versions of Kubernetes, and moves on by one every four versions.
        kubernetes: (0..VERSIONS).map(|at| format!(">=1.{} <1.{}", 24 + at / 4, 28 + at / 4)).collect(),
        ranges,
    }
}

/// The catalog. `newest` is the state of the newest versions of every fifth extension.
fn catalog(texts: &Texts, newest: VersionState) -> Vec<Extension<'_>> {
    let mut random = Random(21);
    let mut extensions = Vec::new();
    for at in 0..EXTENSIONS {
        // Dependencies are on extensions further down, so that there is no circle.
        let below = EXTENSIONS - at - 1;
        let count = (1 + random.below(2)).min(below);
        let targets: Vec<usize> = (0..count).map(|_| at + 1 + random.below(below.min(150))).collect();
        let rival = random.below(10) == 0 && below > 0;
        let capability = (random.below(10) == 0).then(|| random.below(10));
        let side_by_side = random.below(10) == 0;
        let mut versions = Vec::new();
        for version in 0..VERSIONS {
            let mut dependencies = Vec::new();
            for &target in &targets {
                // Ranges change with every fifth version, and contain the versions of the same time.
                let (begin, width) = (version / 5 * 5, 6 + target % 8);
                let (first, last) = (begin.saturating_sub(width), (begin + 4 + width / 2).min(VERSIONS - 1));
                let requirement =
                    Requirement { name: &texts.names[target], version: Some(texts.ranges[&(first, last)].as_str()) };
                dependencies.push(Dependency { any_of: vec![requirement], optional: (at + target) % 12 == 0 });
            }
            if let Some(capability) = capability.filter(|_| at < EXTENSIONS / 2) {
                let requirement = Requirement { name: CAPABILITIES[capability], version: None };
                dependencies.push(Dependency { any_of: vec![requirement], optional: false });
            }
            let conflict = targets.first().filter(|_| rival && version > 12);
            let conflicts = conflict.map(|&target| Requirement {
                name: &texts.names[target],
                version: Some(texts.ranges[&(version - 12, version - 8)].as_str()),
            });
            versions.push(ExtensionVersion {
                version: &texts.versions[version],
                kubernetes: Some(&texts.kubernetes[version]),
                // The first two versions of a major version replace the last ones of the one before.
                upgrade_from: (version >= MINORS && version % MINORS < 2)
                    .then(|| texts.ranges[&(version - 6, VERSIONS - 1)].as_str()),
                singleton: !side_by_side,
                dependencies,
                provides: capability.filter(|_| at >= EXTENSIONS / 2).map(|it| CAPABILITIES[it]).into_iter().collect(),
                conflicts: conflicts.into_iter().collect(),
                state: if at % 5 == 0 && version % 7 == 6 { newest } else { VersionState::Listed },
                ..ExtensionVersion::default()
            });
        }
        extensions.push(Extension { catalog: "shared", name: &texts.names[at], versions });
    }
    extensions
}

const CAPABILITIES: [&str; 10] =
    ["certificates", "dns", "identity", "metrics", "logs", "traces", "secrets", "queues", "caches", "backups"];

/// A cluster on which nothing is installed.
fn fresh(texts: &Texts, at: usize) -> Problem<'_> {
    let mut random = Random(at as u64);
    let mut wanted = BTreeSet::new();
    while wanted.len() < INSTANCES {
        wanted.insert(random.below(EXTENSIONS / 2));
    }
    let instance = |(place, extension): (usize, usize)| Instance {
        name: &texts.names[extension],
        catalog: "shared",
        extension: &texts.names[extension],
        policy: [Policy::Follow, Policy::Follow, Policy::Latest][place % 3],
        ..Instance::default()
    };
    Problem {
        kubernetes: ["v1.29.4", "v1.30.1", "v1.31.2", "v1.32.0"][at % 4],
        catalogs: vec!["shared"],
        instances: wanted.into_iter().enumerate().map(instance).collect(),
        ..Problem::default()
    }
}

/// The same cluster with two thirds of its instances installed and with the next Kubernetes.
fn upgraded<'t>(texts: &'t Texts, at: usize, installed: &'t Resolution) -> Problem<'t> {
    let mut problem = fresh(texts, at);
    problem.kubernetes = ["v1.30.2", "v1.31.0", "v1.32.1", "v1.33.3"][at % 4];
    let version = |outcome: &'t Outcome| match outcome {
        Outcome::Version { version, .. } => Some(version.as_str()),
        Outcome::SetAside { .. } => None,
    };
    for (place, (instance, resolved)) in problem.instances.iter_mut().zip(&installed.instances).enumerate() {
        if place % 3 != 2 {
            instance.installed = version(&resolved.outcome);
        }
    }
    if at.is_multiple_of(UNSATISFIABLE) {
        // Something that another instance needs, pinned to a version that nothing accepts; or one without a version that
        // fits the cluster.
        let pin = if at.is_multiple_of(2 * UNSATISFIABLE) { &texts.versions[0] } else { &texts.versions[VERSIONS - 1] };
        if let Some(instance) = problem.instances.last_mut() {
            (instance.installed, instance.version) = (None, Some(pin.as_str()));
        }
        // One that needs a version of what another instance has in another version.
        if let Some(addition) = installed.additions.first() {
            problem.instances.push(Instance {
                name: &addition.extension,
                catalog: "shared",
                extension: &addition.extension,
                version: Some(&texts.versions[20]),
                ..Instance::default()
            });
        }
    }
    problem
}
