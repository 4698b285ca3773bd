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
    /// Whether there is no model at all.
    is_refuted: bool,
    clauses: Vec<Clause>,
    solver: S,
}

/// Steps of one search. Each member of a cluster takes one, so this is several times what a cluster needs without a dead end.
const STEPS: u32 = 1000;

impl<'f, S: Solver> Backtracking<'f, S> {
    pub(super) fn new(formula: &'f Formula, links: &'f Links, solver: S) -> Self {
        let clauses = formula.clauses.clone();
        let mut base = Propagation::new(formula, links, false);
        let is_refuted = base.run(&clauses).is_err();
        Self { formula, base, is_refuted, clauses, solver }
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
        if self.is_refuted {
            return Ok(None);
        }
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

#[cfg(test)]
mod tests {
    use super::super::solver::ResolvoSolver;
    use super::*;

    /// A solver that never has to be asked.
    struct Never;

    impl Solver for Never {
        fn solve(&mut self, _: &[Set]) -> Result<Option<Picked>, LimitExceeded> {
            Err(LimitExceeded)
        }

        fn add(&mut self, _: Clause) {}
    }

    fn formula(seed: u64) -> Formula {
        let mut state = seed;
        let mut below = move |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % bound
        };
        let mut formula = Formula::default();
        formula.instances = 2;
        for group in 0..6 {
            let begin = formula.group_of.len();
            formula.group_of.resize(begin + 1 + below(3), group);
            formula.groups.push(begin..formula.group_of.len());
        }
        let atoms = formula.group_of.len();
        formula.requires.resize(atoms, vec![]);
        formula.excludes.resize(atoms, vec![]);
        for atom in 0..atoms {
            let group = formula.group_of[atom];
            for _ in 0..below(3) {
                let mut sets = Vec::new();
                for other in (0..=below(2)).map(|_| below(6)).collect::<std::collections::BTreeSet<_>>() {
                    let some: Vec<usize> = formula.groups[other].clone().filter(|_| below(3) > 0).collect();
                    if other != group && !some.is_empty() {
                        sets.push(formula.set(other, some));
                    }
                }
                formula.requirements.push(sets);
                formula.requires[atom].push(formula.requirements.len() - 1);
            }
            let other = below(atoms);
            if formula.group_of[other] != group && below(2) == 0 {
                for (one, another) in [(atom, other), (other, atom)] {
                    let set = formula.set(formula.group_of[another], vec![another]);
                    formula.excludes[one].push(set);
                }
            }
        }
        let all = vec![formula.groups[0].start, formula.groups[1].start];
        let any = Set { group: 5, atoms: vec![formula.groups[5].start] };
        formula.clauses.push(Clause { all, any: vec![any] });
        formula
    }

    fn is_model(formula: &Formula, picked: &Picked) -> bool {
        let has = |set: &Set| picked[set.group].is_some_and(|atom| set.atoms.contains(&atom));
        let mut atoms = picked.iter().flatten();
        picked[..formula.instances].iter().all(Option::is_some)
            && atoms.all(|&atom| {
                formula.requires[atom]
                    .iter()
                    .all(|&it| formula.requirements[it].iter().any(|&it| has(&formula.sets[it])))
                    && !formula.excludes[atom].iter().any(|&it| has(&formula.sets[it]))
            })
            && formula.clauses.iter().all(|clause| {
                let is_picked = |atom: &usize| picked[formula.group_of[*atom]] == Some(*atom);
                !clause.all.iter().all(is_picked) || clause.any.iter().any(has)
            })
    }

    #[test]
    fn both_solvers_agree_and_find_models() {
        let (mut models, mut refuted) = (0, 0);
        for seed in 0..3000 {
            let formula = formula(seed);
            let links = Links::new(&formula);
            let first = formula.groups[0].start;
            let restrictions = [Set { group: 0, atoms: vec![first] }];
            let found = ResolvoSolver::new(&formula).solve(&restrictions).unwrap();
            let searched = Backtracking::new(&formula, &links, Never).solve(&restrictions).unwrap();
            assert_eq!(found.is_some(), searched.is_some(), "seed {seed}");
            for picked in found.iter().chain(&searched) {
                assert!(is_model(&formula, picked) && picked[0] == Some(first), "seed {seed}");
            }
            *if found.is_some() { &mut models } else { &mut refuted } += 1;
        }
        assert!(models > 300 && refuted > 300, "{models} {refuted}");
    }
}
