//! A search that picks the best atom that is left, follows the rules, and goes back where that leads nowhere.
//!
//! Ranges of versions mostly leave few atoms once the rules are followed, so this finds a good model, or refutes it, after a
//! few steps. It gives the rest to another solver, which learns from what it has tried.

use super::formula::{Clause, Formula, GroupId, Set};
use super::propagate::{Links, Need, Propagation};
use super::solver::{LimitExceeded, Picked, Solver};

/// A search in front of another solver.
pub(super) struct Backtracking<'f, S> {
    formula: &'f Formula,
    base: Propagation<'f>,
    clauses: Vec<Clause>,
    solver: S,
}

/// Steps of one search. Each member of a cluster takes one, so this is several times what a cluster needs without a dead end.
const STEPS: u32 = 1000;

impl<'f, S: Solver> Backtracking<'f, S> {
    pub(super) fn new(formula: &'f Formula, links: &'f Links, solver: S) -> Self {
        let clauses = formula.clauses.clone();
        let mut base = Propagation::new(formula, links, false);
        // Nothing fails without restrictions: all instances can be set aside.
        let _ = base.run(&clauses);
        Self { formula, base, clauses, solver }
    }

    /// The model to which the first choices lead, if they lead to one.
    fn dive(&self, mut at: Propagation<'f>) -> Option<Picked> {
        while let Some(choices) = self.choices(&at) {
            at.restrict(choices.first()?, &self.clauses).ok()?;
        }
        Some(self.picked(&at))
    }

    fn picked(&self, at: &Propagation) -> Picked {
        (0..self.formula.groups.len()).map(|group| at.only_atom(group)).collect()
    }

    /// A model, if there is one; or nothing where the steps did not suffice.
    fn search(&self, mut at: Propagation<'f>, steps: &mut u32) -> Result<Option<Picked>, LimitExceeded> {
        loop {
            let Some(choices) = self.choices(&at) else {
                return Ok(Some(self.picked(&at)));
            };
            *steps = steps.checked_sub(1).ok_or(LimitExceeded)?;
            let Some((first, others)) = choices.split_first() else { return Ok(None) };
            let mut next = at.clone();
            if next.restrict(first, &self.clauses).is_ok()
                && let Some(picked) = self.search(next, steps)?
            {
                return Ok(Some(picked));
            }
            // The first choice is none. Where the others are of the same group, that rules out more.
            match others {
                [] => return Ok(None),
                [other, ..] if other.group == first.group => {
                    let atoms = others.iter().flat_map(|set| set.atoms.iter().copied()).collect();
                    if at.restrict(&Set { group: first.group, atoms }, &self.clauses).is_err() {
                        return Ok(None);
                    }
                }
                others => {
                    for set in others {
                        let mut next = at.clone();
                        if next.restrict(set, &self.clauses).is_ok()
                            && let Some(picked) = self.search(next, steps)?
                        {
                            return Ok(Some(picked));
                        }
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Sets of which one has a picked atom, the best one first; none where nothing is open.
    fn choices(&self, at: &Propagation) -> Option<Vec<Set>> {
        let formula = self.formula;
        let open = (0..formula.groups.len()).filter(|&group| at.needed[group] != Need::Open && at.count(group) > 1);
        if let Some(group) = open.min_by_key(|&group| at.count(group)) {
            let left = formula.groups[group].clone().filter(|&atom| at.is_left(atom));
            return Some(left.map(|atom| Set { group, atoms: vec![atom] }).collect());
        }
        let is_picked = |group: GroupId, set: &Set| at.only_atom(group).is_some_and(|it| set.atoms.contains(&it));
        let left = |sets: &mut dyn Iterator<Item = &Set>| -> Vec<Set> {
            let left = sets.map(|set| {
                let atoms = set.atoms.iter().copied().filter(|&atom| at.is_left(atom)).collect();
                Set { group: set.group, atoms }
            });
            left.filter(|set| !set.atoms.is_empty()).collect()
        };
        for atom in (0..formula.groups.len()).filter_map(|group| at.only_atom(group)) {
            for &requirement in &formula.requires[atom] {
                let mut sets = formula.requirements[requirement].iter().map(|&set| &formula.sets[set]);
                if !sets.clone().any(|set| is_picked(set.group, set)) {
                    return Some(left(&mut sets));
                }
            }
        }
        for clause in &self.clauses {
            let applies = clause.all.iter().all(|&atom| at.only_atom(formula.group_of[atom]) == Some(atom));
            if applies && !clause.any.iter().any(|set| is_picked(set.group, set)) {
                return Some(left(&mut clause.any.iter()));
            }
        }
        None
    }
}

impl<S: Solver> Solver for Backtracking<'_, S> {
    fn solve(&mut self, restrictions: &[Set]) -> Result<Option<Picked>, LimitExceeded> {
        let mut at = self.base.clone();
        for set in restrictions {
            if at.restrict(set, &self.clauses).is_err() {
                return Ok(None);
            }
        }
        // Mostly the best atoms do, and then nothing has to be taken back.
        if let Some(picked) = self.dive(at.clone()) {
            return Ok(Some(picked));
        }
        let mut steps = STEPS;
        self.search(at, &mut steps).or_else(|LimitExceeded| self.solver.solve(restrictions))
    }

    fn add(&mut self, clause: Clause) {
        self.clauses.push(clause.clone());
        self.solver.add(clause);
    }
}
