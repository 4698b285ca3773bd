//! The way from the installed version to another, with versions in between where one step does not reach.

use fitout_helm_ranges::Version;

use super::index::IndexedVersion;

/// The versions in between on the way to each version, in the order of `versions`; none where no way leads to it.
///
/// `versions` are those that may be installed on the cluster, newest first. The way has as few steps as possible. Of two
/// equally short ways, the one whose last version in between is newer is taken.
pub(super) fn ways<'v>(
    installed: &Version,
    definition: Option<&IndexedVersion>,
    versions: &[&'v IndexedVersion],
) -> Vec<Option<Vec<&'v IndexedVersion>>> {
    let mut ways: Vec<Option<Vec<&'v IndexedVersion>>> = vec![None; versions.len()];
    let mut reached: Vec<usize> = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        if *installed == version.version || is_step(installed, definition, version) {
            ways[at] = Some(vec![]);
            reached.push(at);
        }
    }
    while !reached.is_empty() && ways.iter().any(Option::is_none) {
        let mut next = Vec::new();
        for at in 0..versions.len() {
            if ways[at].is_some() {
                continue;
            }
            let last = |from: &&usize| is_step(&versions[**from].version, Some(versions[**from]), versions[at]);
            if let Some(&from) = reached.iter().find(last) {
                next.push((at, from));
            }
        }
        reached.clear();
        for (at, from) in next {
            let way = ways[from].clone().map(|before| before.into_iter().chain([versions[from]]).collect());
            ways[at] = way;
            reached.push(at);
        }
    }
    ways
}

/// Whether one version can replace another in place: the new one says so; or it is older, and the one that it replaces
/// says that it can replace it, for a downgrade is that upgrade turned round.
fn is_step(from: &Version, definition: Option<&IndexedVersion>, to: &IndexedVersion) -> bool {
    let up = replaces(to, from);
    up || (to.version < *from
        && match definition {
            Some(definition) => replaces(definition, &to.version),
            None => from.major() == to.version.major(),
        })
}

fn replaces(version: &IndexedVersion, other: &Version) -> bool {
    match &version.upgrade_from {
        Some(range) => range.matches(other),
        None => version.version.major() == other.major(),
    }
}
