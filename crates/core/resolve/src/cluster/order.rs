//! The best model of a formula by the stated order of preferences.
//!
//! Each preference is a question: is there still a model if this is so? The models that are found answer most of the
//! questions by themselves, propagation refutes most of the others, and the solver is asked about the rest.

use std::collections::{BTreeMap, VecDeque};

use super::formula::{AtomId, Clause, GroupId, Model, RequirementId, Set};
use super::graph::unstarted;
use super::propagate::{Links, Propagation};
use super::solver::{LimitExceeded, Picked, Solver};

/// The best model.
pub(super) struct Best {
    /// The picked atom of each instance, and of each addition that is needed.
    pub(super) picked: Picked,
    /// The instances that are set aside, each with what was decided before.
    pub(super) set_aside: BTreeMap<GroupId, Vec<Set>>,
    /// The additions in the order in which they were found to be needed.
    pub(super) additions: Vec<GroupId>,
    /// Rules that were found on the way: dependencies in a circle cannot be installed.
    pub(super) clauses: Vec<Clause>,
}

/// The instances in the order in which they are served: those that are installed, then the older ones.
pub(super) fn in_order(model: &Model) -> Vec<GroupId> {
    let mut order: Vec<GroupId> = (0..model.formula.instances).collect();
    order.sort_by_key(|&at| model.cluster.parsed[at].installed.is_none());
    order
}

/// Finds the best model.
pub(super) fn best(model: &Model, links: &Links, solver: &mut dyn Solver) -> Result<Best, LimitExceeded> {
    let mut search = Search::new(model, links, solver)?;
    let order = in_order(model);
    let is_installed = |group: &&GroupId| model.cluster.parsed[**group].installed.is_some();
    let mut set_aside = BTreeMap::new();
    let mut keep = |search: &mut Search, group: GroupId| -> Result<(), LimitExceeded> {
        let atoms = model.formula.groups[group].clone();
        let last = atoms.end - 1;
        let before = search.decided.values().cloned().collect();
        if !search.decide(Set { group, atoms: (atoms.start..last).collect() })? {
            set_aside.insert(group, before);
            search.decide(Set { group, atoms: vec![last] })?;
        }
        Ok(())
    };
    for &group in order.iter().filter(is_installed) {
        keep(&mut search, group)?;
    }
    for &group in order.iter().filter(is_installed) {
        if let Some(set) = not_older(model, group) {
            search.decide(set)?;
        }
    }
    for &group in order.iter().filter(|group| !is_installed(group)) {
        keep(&mut search, group)?;
    }
    for &group in &order {
        search.decide_first(group)?;
    }
    let additions = search.walk(&order)?;
    let mut picked = vec![None; model.nodes.len()];
    for &group in order.iter().chain(&additions) {
        picked[group] = search.pick(group);
    }
    Ok(Best { picked, set_aside, additions, clauses: search.clauses })
}

/// The atoms of an installed instance that do not move it to an older version; none where that is no question.
pub(super) fn not_older(model: &Model, group: GroupId) -> Option<Set> {
    let installed = model.cluster.parsed[group].installed.as_ref()?;
    let is_withdrawn = |atom: AtomId| {
        model.is_unmoved(atom)
            && model.definition(atom).is_some_and(|it| it.state == fitout_model::VersionState::Withdrawn)
    };
    let atoms = model.formula.groups[group].clone();
    let versions = atoms.start..atoms.end - 1;
    let is_left_behind = versions.clone().last().is_some_and(is_withdrawn) && versions.len() > 1;
    let is_older = |atom: AtomId| model.definition(atom).is_some_and(|it| it.version < *installed);
    if is_left_behind || !versions.clone().any(is_older) {
        return None;
    }
    Some(Set { group, atoms: versions.filter(|atom| !is_older(*atom)).chain([atoms.end - 1]).collect() })
}

struct Search<'s> {
    model: &'s Model<'s>,
    solver: &'s mut dyn Solver,
    propagation: Propagation<'s>,
    witness: Picked,
    decided: BTreeMap<GroupId, Set>,
    clauses: Vec<Clause>,
}

impl<'s> Search<'s> {
    fn new(model: &'s Model<'s>, links: &'s Links, solver: &'s mut dyn Solver) -> Result<Self, LimitExceeded> {
        let clauses = model.formula.clauses.clone();
        let mut propagation = Propagation::new(&model.formula, links, false);
        // Nothing fails yet: all instances can be set aside.
        let _ = propagation.run(&clauses);
        let witness = vec![None; model.nodes.len()];
        let mut search = Self { model, solver, propagation, witness, decided: BTreeMap::new(), clauses };
        if let Some(witness) = search.solve(&[])? {
            search.witness = witness;
        }
        Ok(search)
    }

    /// A model without circles.
    fn solve(&mut self, restrictions: &[Set]) -> Result<Option<Picked>, LimitExceeded> {
        loop {
            let Some(picked) = self.solver.solve(restrictions)? else { return Ok(None) };
            let Some(clause) = circle(self.model, &picked) else { return Ok(Some(picked)) };
            self.solver.add(clause.clone());
            self.clauses.push(clause);
        }
    }

    /// Decides that a set has a picked atom, unless that cannot be. Says whether it is so.
    fn decide(&mut self, set: Set) -> Result<bool, LimitExceeded> {
        let group = set.group;
        let set = match self.decided.get(&group) {
            Some(decided) => {
                Set { group, atoms: set.atoms.into_iter().filter(|it| decided.atoms.contains(it)).collect() }
            }
            None => set,
        };
        let is_so = |atom: AtomId| set.atoms.binary_search(&atom).is_ok();
        if self.witness[group].is_some_and(is_so) {
            // The witness shows that it can be, so propagation cannot fail.
            let _ = self.propagation.restrict(&set, &self.clauses);
        } else {
            let mut propagation = self.propagation.clone();
            if propagation.restrict(&set, &self.clauses).is_err() {
                return Ok(false);
            }
            let mut decided = self.decided.clone();
            decided.insert(group, set.clone());
            let restrictions: Vec<Set> = decided.into_values().collect();
            let Some(witness) = self.solve(&restrictions)? else { return Ok(false) };
            self.witness = witness;
            self.propagation = propagation;
        }
        self.decided.insert(group, set);
        Ok(true)
    }

    /// Decides for the first atom of a group that can be picked, of those that are not ruled out yet.
    fn decide_first(&mut self, group: GroupId) -> Result<(), LimitExceeded> {
        let atoms = self.decided.get(&group).map_or_else(Vec::new, |set| set.atoms.clone());
        if atoms.len() == 1 {
            return Ok(());
        }
        for atom in atoms {
            if self.propagation.is_left(atom) && self.decide(Set { group, atoms: vec![atom] })? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn pick(&self, group: GroupId) -> Option<AtomId> {
        self.decided.get(&group).and_then(|set| set.atoms.first()).copied()
    }

    /// Decides what meets each dependency, from the instances on. Returns the additions in the order of the decisions.
    fn walk(&mut self, order: &[GroupId]) -> Result<Vec<GroupId>, LimitExceeded> {
        let mut additions: Vec<GroupId> = Vec::new();
        let mut queue: VecDeque<GroupId> = order.iter().copied().collect();
        loop {
            while let Some(group) = queue.pop_front() {
                let Some(atom) = self.pick(group) else { continue };
                for &requirement in &self.model.formula.requires[atom] {
                    if !self.is_met(requirement, |_| true)
                        && let Some(addition) = self.add_for(requirement)?
                    {
                        additions.push(addition);
                        queue.push_back(addition);
                    }
                }
            }
            // What is there does not suffice if it waits for itself.
            let mut picked: Picked = vec![None; self.model.nodes.len()];
            for &group in order.iter().chain(&additions) {
                picked[group] = self.pick(group);
            }
            let unstarted = unstarted(self.model, &picked);
            let model = self.model;
            let waiting = order.iter().chain(&additions).filter_map(|&group| picked[group]);
            let waiting = waiting.filter(|atom| unstarted.contains(atom));
            let requirements: Vec<RequirementId> =
                waiting.flat_map(|atom| model.formula.requires[atom].iter().copied()).collect();
            let mut is_stuck = true;
            for requirement in requirements {
                if !self.is_met(requirement, |atom| !unstarted.contains(&atom))
                    && let Some(addition) = self.add_for(requirement)?
                {
                    additions.push(addition);
                    queue.push_back(addition);
                    is_stuck = false;
                    break;
                }
            }
            if is_stuck {
                return Ok(additions);
            }
        }
    }

    /// Whether something that is decided meets a requirement.
    fn is_met(&self, requirement: RequirementId, counts: impl Fn(AtomId) -> bool) -> bool {
        let formula = &self.model.formula;
        formula.requirements[requirement].iter().map(|&set| &formula.sets[set]).any(|set| {
            let is_picked = |atom| set.atoms.binary_search(&atom).is_ok() && counts(atom);
            self.decided.contains_key(&set.group) && self.pick(set.group).is_some_and(is_picked)
        })
    }

    /// Decides which addition meets a requirement.
    fn add_for(&mut self, requirement: RequirementId) -> Result<Option<GroupId>, LimitExceeded> {
        let model = self.model;
        for &set in &model.formula.requirements[requirement] {
            let set = &model.formula.sets[set];
            if set.group >= model.formula.instances
                && !self.decided.contains_key(&set.group)
                && self.decide(set.clone())?
            {
                self.decide_first(set.group)?;
                return Ok(Some(set.group));
            }
        }
        Ok(None)
    }
}

/// A rule against the smallest circle of dependencies in what is picked; none if there is no circle.
fn circle(model: &Model, picked: &Picked) -> Option<Clause> {
    let formula = &model.formula;
    let unstarted = unstarted(model, picked);
    let is_started = |atom: AtomId| !unstarted.contains(&atom);
    let servers = |requirement: &RequirementId| -> Vec<AtomId> {
        let sets = formula.requirements[*requirement].iter().map(|&set| &formula.sets[set]);
        sets.filter_map(|set| picked[set.group].filter(|atom| set.atoms.binary_search(atom).is_ok())).collect()
    };
    let open = |atom: AtomId| {
        let is_open = |requirement: &&RequirementId| !servers(requirement).into_iter().any(is_started);
        formula.requires[atom].iter().filter(is_open)
    };
    // What each of them waits for, over any number of others. Where that is the least, they all wait for each other.
    let reach = |from: AtomId| {
        let mut reached = vec![];
        let mut ahead = vec![from];
        while let Some(atom) = ahead.pop() {
            for server in open(atom).flat_map(servers) {
                if !reached.contains(&server) {
                    reached.push(server);
                    ahead.push(server);
                }
            }
        }
        reached.sort_unstable();
        reached
    };
    let all = unstarted.iter().map(|&atom| reach(atom)).min_by_key(|reached| (reached.len(), reached.clone()))?;
    let mut any: Vec<Set> = Vec::new();
    for requirement in all.iter().flat_map(|&atom| open(atom)) {
        for &set in &formula.requirements[*requirement] {
            let Set { group, atoms } = &formula.sets[set];
            let atoms: Vec<AtomId> = atoms.iter().copied().filter(|atom| !all.contains(atom)).collect();
            let set = Set { group: *group, atoms };
            if !set.atoms.is_empty() && !any.contains(&set) {
                any.push(set);
            }
        }
    }
    Some(Clause { all, any })
}
