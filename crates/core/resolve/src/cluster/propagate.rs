//! Follows the rules of a formula as far as they lead without trying anything, and remembers why.
//!
//! It refutes most of what cannot be, faster than a solver, and what it refutes can be explained in sentences.

use super::formula::{AtomId, Clause, Formula, GroupId, RequirementId, Set};

/// Why an atom cannot be picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It is not in the restriction of its group.
    Restricted,
    /// No atom is left that meets this requirement of it.
    Unmet(RequirementId),
    /// No atom that is left of this group, of which one is picked, permits it.
    RuledOut(GroupId),
    /// This clause forbids it together with atoms that have to be picked.
    Clause(usize),
}

/// Whether one atom of a group is picked in every model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// That is open.
    Open,
    /// It is an instance, or that was decided.
    Decided,
    /// All atoms that are left of another group need it.
    By(GroupId),
}

/// Which requirements an atom meets, and who has a requirement.
#[derive(Debug)]
pub(super) struct Links {
    meets: Vec<Vec<RequirementId>>,
    users: Vec<Vec<AtomId>>,
}

impl Links {
    pub(super) fn new(formula: &Formula) -> Self {
        let mut meets = vec![vec![]; formula.group_of.len()];
        for (requirement, sets) in formula.requirements.iter().enumerate() {
            for &atom in sets.iter().flat_map(|&set| &formula.sets[set].atoms) {
                meets[atom].push(requirement);
            }
        }
        let mut users = vec![vec![]; formula.requirements.len()];
        for (atom, requires) in formula.requires.iter().enumerate() {
            for &requirement in requires {
                users[requirement].push(atom);
            }
        }
        Self { meets, users }
    }
}

/// The time of an atom that is left.
const LEFT: u32 = u32::MAX;

fn count(number: usize) -> u32 {
    // There are fewer atoms than bytes of memory, and far fewer than that.
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The atoms that are left of each group.
#[derive(Clone, Debug)]
pub(super) struct Propagation<'f> {
    formula: &'f Formula,
    links: &'f Links,
    /// When each atom was ruled out.
    times: Vec<u32>,
    /// Why each atom was ruled out, if that is remembered.
    reasons: Option<Vec<Why>>,
    left: Vec<u32>,
    servers: Vec<u32>,
    /// Whether one atom of each group is picked in every model.
    pub(super) needed: Vec<Need>,
    dirty: Vec<GroupId>,
    is_dirty: Vec<bool>,
    time: u32,
}

impl<'f> Propagation<'f> {
    /// With `is_traced`, the reasons are remembered.
    pub(super) fn new(formula: &'f Formula, links: &'f Links, is_traced: bool) -> Self {
        let groups = formula.groups.len();
        let servers = |sets: &Vec<usize>| count(sets.iter().map(|&set| formula.sets[set].atoms.len()).sum());
        let mut it = Self {
            formula,
            links,
            times: vec![LEFT; formula.group_of.len()],
            reasons: is_traced.then(|| vec![Why::Restricted; formula.group_of.len()]),
            left: formula.groups.iter().map(|atoms| count(atoms.len())).collect(),
            servers: formula.requirements.iter().map(servers).collect(),
            needed: (0..groups)
                .map(|group| if group < formula.instances { Need::Decided } else { Need::Open })
                .collect(),
            dirty: vec![],
            is_dirty: vec![false; groups],
            time: 0,
        };
        for requirement in 0..formula.requirements.len() {
            it.check(requirement);
        }
        (0..formula.instances).for_each(|group| it.touch(group));
        it
    }

    pub(super) fn is_left(&self, atom: AtomId) -> bool {
        self.times[atom] == LEFT
    }

    /// Why and when an atom was ruled out; none while it is left.
    pub(super) fn ruled_out(&self, atom: AtomId) -> Option<(Why, u32)> {
        let reasons = self.reasons.as_ref().filter(|_| !self.is_left(atom))?;
        Some((reasons[atom], self.times[atom]))
    }

    /// How many atoms of a group are left.
    pub(super) fn count(&self, group: GroupId) -> u32 {
        self.left[group]
    }

    /// The picked atom of a group of which one is picked, where only that is left.
    pub(super) fn only_atom(&self, group: GroupId) -> Option<AtomId> {
        let is_decided = self.needed[group] != Need::Open && self.left[group] == 1;
        is_decided.then(|| self.formula.groups[group].clone().find(|&atom| self.is_left(atom))).flatten()
    }

    /// The atoms of a group that were left at a time.
    pub(super) fn left_at(&self, group: GroupId, time: u32) -> impl Iterator<Item = AtomId> + '_ {
        let is_left = move |atom: &AtomId| self.times[*atom] >= time;
        self.formula.groups[group].clone().filter(is_left)
    }

    /// Picks one atom of a set, and follows the rules. The group without an atom that is left, if there is one.
    pub(super) fn restrict(&mut self, set: &Set, clauses: &[Clause]) -> Result<(), GroupId> {
        self.time += 1;
        if self.needed[set.group] == Need::Open {
            self.needed[set.group] = Need::Decided;
        }
        for atom in self.formula.groups[set.group].clone() {
            if set.atoms.binary_search(&atom).is_err() {
                self.rule_out(atom, Why::Restricted);
            }
        }
        self.touch(set.group);
        self.run(clauses)
    }

    /// Follows the rules.
    pub(super) fn run(&mut self, clauses: &[Clause]) -> Result<(), GroupId> {
        loop {
            while let Some(group) = self.dirty.pop() {
                self.is_dirty[group] = false;
                if self.needed[group] == Need::Open {
                    continue;
                }
                if self.left[group] == 0 {
                    return Err(group);
                }
                self.time += 1;
                self.follow(group);
            }
            for (at, clause) in clauses.iter().enumerate() {
                self.time += 1;
                self.follow_clause(at, clause);
            }
            if self.dirty.is_empty() {
                return Ok(());
            }
        }
    }

    fn touch(&mut self, group: GroupId) {
        if !self.is_dirty[group] {
            self.is_dirty[group] = true;
            self.dirty.push(group);
        }
    }

    fn rule_out(&mut self, atom: AtomId, why: Why) {
        self.rule_out_at(atom, why, self.time);
    }

    fn rule_out_at(&mut self, atom: AtomId, why: Why, time: u32) {
        if !self.is_left(atom) {
            return;
        }
        self.times[atom] = time;
        if let Some(reasons) = &mut self.reasons {
            reasons[atom] = why;
        }
        let group = self.formula.group_of[atom];
        self.left[group] -= 1;
        self.touch(group);
        let links = self.links;
        for &requirement in &links.meets[atom] {
            self.servers[requirement] -= 1;
            self.check(requirement);
        }
    }

    /// Rules out who has a requirement that nothing meets any more.
    fn check(&mut self, requirement: RequirementId) {
        let links = self.links;
        let is_met = self.servers[requirement] > 0;
        for &user in &links.users[requirement] {
            if is_met {
                if self.is_left(user) {
                    self.touch(self.formula.group_of[user]);
                }
            } else if self.is_left(user) {
                self.time += 1;
                self.rule_out(user, Why::Unmet(requirement));
            }
        }
    }

    /// The group whose atoms alone can meet a requirement, if there is one.
    pub(super) fn only_group(&self, requirement: RequirementId, time: u32) -> Option<GroupId> {
        let is_left = |atom: &AtomId| self.times[*atom] >= time;
        let mut groups = self.formula.requirements[requirement]
            .iter()
            .map(|&set| &self.formula.sets[set])
            .filter(|set| set.atoms.iter().any(is_left))
            .map(|set| set.group);
        let first = groups.next()?;
        groups.all(|group| group == first).then_some(first)
    }

    /// Whether an atom permits another of another group, as seen at a time; none if it says nothing about that group.
    pub(super) fn permits(&self, atom: AtomId, group: GroupId, time: u32) -> Option<impl Fn(AtomId) -> bool + use<'f>> {
        let formula = self.formula;
        let excluded: Vec<&Set> =
            formula.excludes[atom].iter().map(|&set| &formula.sets[set]).filter(|set| set.group == group).collect();
        let required: Vec<RequirementId> = formula.requires[atom]
            .iter()
            .copied()
            .filter(|&requirement| self.only_group(requirement, time) == Some(group))
            .collect();
        if excluded.is_empty() && required.is_empty() {
            return None;
        }
        Some(move |other: AtomId| {
            !excluded.iter().any(|set| set.atoms.binary_search(&other).is_ok())
                && required.iter().all(|&requirement| formula.has(&formula.requirements[requirement], other))
        })
    }

    /// Rules out what no atom permits that is left of a group, of which one is picked.
    fn follow(&mut self, group: GroupId) {
        let time = self.time;
        let left: Vec<AtomId> = self.formula.groups[group].clone().filter(|atom| self.is_left(*atom)).collect();
        let Some(&first) = left.first() else { return };
        let required = |it: &Self, atom: AtomId| -> Vec<GroupId> {
            it.formula.requires[atom].iter().filter_map(|&it_requires| it.only_group(it_requires, time)).collect()
        };
        let required_first = required(self, first);
        let excluded = self.formula.excludes[first].iter().map(|&set| self.formula.sets[set].group);
        let mut targets: Vec<GroupId> = excluded.chain(required_first.iter().copied()).collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let permits: Option<Vec<_>> = left.iter().map(|&atom| self.permits(atom, target, time)).collect();
            let Some(permits) = permits else { continue };
            for other in self.formula.groups[target].clone() {
                if self.is_left(other) && !permits.iter().any(|permits| permits(other)) {
                    self.rule_out_at(other, Why::RuledOut(group), time);
                }
            }
            let is_required =
                required_first.contains(&target) && left.iter().all(|&atom| required(self, atom).contains(&target));
            if self.needed[target] == Need::Open && is_required {
                self.needed[target] = Need::By(group);
                self.touch(target);
            }
        }
    }

    fn follow_clause(&mut self, at: usize, clause: &Clause) {
        if clause.any.iter().flat_map(|set| &set.atoms).any(|atom| self.is_left(*atom)) {
            return;
        }
        let is_certain = |atom: &AtomId| {
            let group = self.formula.group_of[*atom];
            self.needed[group] != Need::Open && self.left[group] == 1 && self.is_left(*atom)
        };
        let mut open = clause.all.iter().copied().filter(|atom| !is_certain(atom));
        match (open.next(), open.next()) {
            (Some(atom), None) => self.rule_out(atom, Why::Clause(at)),
            (None, _) => {
                if let Some(&atom) = clause.all.first() {
                    self.rule_out(atom, Why::Clause(at));
                }
            }
            (Some(_), Some(_)) => {}
        }
    }
}
