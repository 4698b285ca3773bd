//! The order of instances: each waits for those that it needs.

use std::collections::BTreeSet;

use super::formula::{AtomId, GroupId, Model, RequirementId};
use super::solver::Picked;

/// The picked atoms that can never be started, because they wait for each other, or for one that does.
pub(super) fn unstarted(model: &Model, picked: &Picked) -> BTreeSet<AtomId> {
    let formula = &model.formula;
    let mut waiting: BTreeSet<AtomId> =
        picked.iter().flatten().copied().filter(|atom| !formula.requires[*atom].is_empty()).collect();
    loop {
        let is_started = |requirement: &RequirementId| {
            formula.requirements[*requirement].iter().any(|&set| {
                let set = &formula.sets[set];
                picked[set.group].is_some_and(|atom| set.atoms.binary_search(&atom).is_ok() && !waiting.contains(&atom))
            })
        };
        let ready: Vec<AtomId> =
            waiting.iter().copied().filter(|&atom| formula.requires[atom].iter().all(is_started)).collect();
        if ready.is_empty() {
            return waiting;
        }
        waiting.retain(|atom| !ready.contains(atom));
    }
}

/// The groups that each group waits for, by group.
pub(super) type Edges = Vec<Vec<GroupId>>;

/// The dependencies between what is picked: for each of them the first that meets it, so that no two wait for each other.
///
/// `order` has all groups that are picked. Dependencies that may be missing come last, and are left out where they would
/// close a circle.
pub(super) fn edges(model: &Model, picked: &Picked, order: &[GroupId]) -> Edges {
    let mut edges: Edges = vec![vec![]; picked.len()];
    for &group in order {
        let Some(atom) = picked[group] else { continue };
        for &requirement in &model.formula.requires[atom] {
            let servers = model.formula.requirements[requirement].iter().map(|&set| &model.formula.sets[set]);
            let mut servers = servers
                .filter(|set| picked[set.group].is_some_and(|atom| set.atoms.binary_search(&atom).is_ok()))
                .map(|set| set.group);
            let first = servers.clone().next();
            let free = servers.find(|&server| !waits(&edges, server, group));
            if let Some(server) = free.or(first).filter(|server| !edges[group].contains(server)) {
                edges[group].push(server);
            }
        }
    }
    for &group in order {
        let Some(atom) = picked[group] else { continue };
        for dependency in &model.optional[atom] {
            for &server in order.iter().filter(|&&server| server != group) {
                let is_met = picked[server].is_some_and(|atom| model.meets_any(dependency, atom));
                if is_met && !edges[group].contains(&server) && !waits(&edges, server, group) {
                    edges[group].push(server);
                }
            }
        }
    }
    edges
}

/// Whether one group waits for another, or is it.
fn waits(edges: &Edges, group: GroupId, other: GroupId) -> bool {
    let mut seen = vec![group];
    let mut at = 0;
    while let Some(&next) = seen.get(at) {
        if next == other {
            return true;
        }
        for &server in &edges[next] {
            if !seen.contains(&server) {
                seen.push(server);
            }
        }
        at += 1;
    }
    false
}
