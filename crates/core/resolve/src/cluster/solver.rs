//! Finds models of a formula: our own trait, and resolvo behind it.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Display;

use resolvo::{
    Candidates, Condition, ConditionId, ConditionalRequirement, Dependencies, DependencyProvider, Interner,
    KnownDependencies, NameId, Problem, SolvableId, Solver as Resolvo, SolverCache, StringId, UnsolvableOrCancelled,
    VersionSetId, VersionSetUnionId,
};

use super::formula::{AtomId, Clause, Formula, GroupId, Set};

/// The picked atom of each group.
pub(super) type Picked = Vec<Option<AtomId>>;

/// The solver has done the work that it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LimitExceeded;

/// Finds models of one formula.
pub(super) trait Solver {
    /// A model in which each of these groups has an atom of its set; none if there is no such model.
    ///
    /// Which one is found does not depend on the machine. It is often a good one, and need not be the best.
    fn solve(&mut self, restrictions: &[Set]) -> Result<Option<Picked>, LimitExceeded>;

    /// Adds a rule to the formula.
    fn add(&mut self, clause: Clause);
}

/// resolvo as a solver. A group is a package, and an atom is a version of it.
pub(super) struct ResolvoSolver<'f> {
    solver: Option<Resolvo<Provider<'f>>>,
}

/// Rounds of propagation for one cluster. The benchmark needs fewer than a hundredth of it for the hardest of its clusters.
const ROUNDS: u32 = 100_000;

impl<'f> ResolvoSolver<'f> {
    pub(super) fn new(formula: &'f Formula) -> Self {
        let provider = Provider { formula, state: RefCell::default(), rounds: Cell::new(0) };
        provider.state.borrow_mut().clauses.clone_from(&formula.clauses);
        Self { solver: Some(Resolvo::new(provider)) }
    }
}

impl Solver for ResolvoSolver<'_> {
    fn solve(&mut self, restrictions: &[Set]) -> Result<Option<Picked>, LimitExceeded> {
        let Some(solver) = &mut self.solver else { return Err(LimitExceeded) };
        let formula = solver.provider().formula;
        let mut requirements: Vec<ConditionalRequirement> = Vec::new();
        for set in restrictions {
            requirements.push(solver.provider().set(set.clone()).into());
        }
        for group in 0..formula.instances {
            if !restrictions.iter().any(|set| set.group == group) {
                let atoms = formula.groups[group].clone().collect();
                requirements.push(solver.provider().set(Set { group, atoms }).into());
            }
        }
        match solver.solve(Problem::new().requirements(requirements)) {
            Ok(solvables) => {
                let mut picked = vec![None; formula.groups.len()];
                for solvable in solvables {
                    let atom = solvable.into_raw() as usize;
                    if let Some(&group) = formula.group_of.get(atom) {
                        picked[group] = Some(atom);
                    }
                }
                Ok(Some(picked))
            }
            Err(UnsolvableOrCancelled::Unsolvable(_)) => Ok(None),
            Err(UnsolvableOrCancelled::Cancelled(_)) => Err(LimitExceeded),
        }
    }

    fn add(&mut self, clause: Clause) {
        // What resolvo has cached about the atoms of the clause is no longer true.
        if let Some(solver) = self.solver.take() {
            let Provider { formula, state, rounds } = solver.provider();
            let provider = Provider { formula, state: RefCell::default(), rounds: rounds.clone() };
            provider.state.borrow_mut().clauses.clone_from(&state.borrow().clauses);
            provider.state.borrow_mut().clauses.push(clause);
            self.solver = Some(Resolvo::new(provider));
        }
    }
}

/// The formula as resolvo asks for it.
///
/// For a clause, which resolvo does not know, there are packages of one version each that stand for an atom that is not
/// picked: the first atom of the clause requires one of its sets, or one of the others not to be picked.
struct Provider<'f> {
    formula: &'f Formula,
    state: RefCell<State>,
    rounds: Cell<u32>,
}

/// The clauses that are added to the formula while it is solved.
#[derive(Default)]
struct State {
    clauses: Vec<Clause>,
    sets: Vec<Set>,
    set_ids: HashMap<Set, usize>,
    unions: Vec<Vec<VersionSetId>>,
    /// The atoms that have a package for not being picked.
    absent: Vec<AtomId>,
}

fn id(number: usize) -> u32 {
    // A problem has fewer than four thousand million versions, for it is in memory.
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Provider<'_> {
    /// The version set of some atoms of a group.
    fn set(&self, set: Set) -> VersionSetId {
        self.numbered(set, false)
    }

    /// Sets have even numbers, and what is not in them has the odd ones.
    fn numbered(&self, set: Set, is_inverse: bool) -> VersionSetId {
        let mut state = self.state.borrow_mut();
        let number = if let Some(&number) = state.set_ids.get(&set) {
            number
        } else {
            let number = state.sets.len();
            state.sets.push(set.clone());
            state.set_ids.insert(set, number);
            number
        };
        VersionSetId(id(2 * number + usize::from(is_inverse)))
    }

    /// The version set of the package for an atom that is not picked.
    fn absent(&self, atom: AtomId) -> VersionSetId {
        let place = {
            let mut state = self.state.borrow_mut();
            state.absent.iter().position(|absent| *absent == atom).unwrap_or_else(|| {
                state.absent.push(atom);
                state.absent.len() - 1
            })
        };
        let (group, atom) = (self.formula.groups.len() + place, self.formula.group_of.len() + place);
        self.set(Set { group, atoms: vec![atom] })
    }

    /// The requirements of an atom: one of these sets. None of them has an atom of the group of that atom.
    fn requirement(&self, atom: AtomId, sets: Vec<VersionSetId>) -> ConditionalRequirement {
        match sets[..] {
            [] => return self.set(Set { group: self.formula.group_of[atom], atoms: vec![] }).into(),
            [set] => return set.into(),
            _ => {}
        }
        let mut state = self.state.borrow_mut();
        state.unions.push(sets);
        VersionSetUnionId(id(state.unions.len() - 1)).into()
    }

    fn has(&self, set: VersionSetId, solvable: SolvableId) -> bool {
        let state = self.state.borrow();
        let atoms = &state.sets[set.0 as usize / 2].atoms;
        let is_in = atoms.binary_search(&(solvable.into_raw() as usize)).is_ok();
        is_in == set.0.is_multiple_of(2)
    }
}

impl Interner for Provider<'_> {
    type NameId = NameId;
    type SolvableId = SolvableId;

    // Explanations do not come from resolvo, so these are only seen in its traces.
    fn display_solvable(&self, solvable: SolvableId) -> impl Display + '_ {
        solvable.into_raw()
    }

    fn display_name(&self, name: NameId) -> impl Display + '_ {
        name.into_raw()
    }

    fn display_version_set(&self, set: VersionSetId) -> impl Display + '_ {
        set.0
    }

    fn display_string(&self, string: StringId) -> impl Display + '_ {
        string.0
    }

    fn version_set_name(&self, set: VersionSetId) -> NameId {
        NameId::from_raw(id(self.state.borrow().sets[set.0 as usize / 2].group))
    }

    fn solvable_name(&self, solvable: SolvableId) -> NameId {
        let atom = solvable.into_raw() as usize;
        let atoms = self.formula.group_of.len();
        let group = self.formula.group_of.get(atom).copied();
        NameId::from_raw(id(group.unwrap_or_else(|| self.formula.groups.len() + atom - atoms)))
    }

    fn version_sets_in_union(&self, union: VersionSetUnionId) -> impl Iterator<Item = VersionSetId> {
        self.state.borrow().unions[union.0 as usize].clone().into_iter()
    }

    fn resolve_condition(&self, _: ConditionId) -> Condition {
        // No requirement has a condition, so resolvo never asks.
        Condition::Requirement(VersionSetId(0))
    }
}

impl DependencyProvider for Provider<'_> {
    async fn filter_candidates(
        &self,
        candidates: &[SolvableId],
        version_set: VersionSetId,
        inverse: bool,
    ) -> Vec<SolvableId> {
        candidates.iter().copied().filter(|candidate| self.has(version_set, *candidate) != inverse).collect()
    }

    async fn get_candidates(&self, name: NameId) -> Option<Candidates> {
        let group: GroupId = name.into_raw() as usize;
        let atoms = self.formula.groups.get(group).cloned().unwrap_or_else(|| {
            let atom = self.formula.group_of.len() + group - self.formula.groups.len();
            atom..atom + 1
        });
        let candidates = atoms.map(|atom| SolvableId::from_raw(id(atom))).collect();
        Some(Candidates { candidates, ..Candidates::default() })
    }

    async fn sort_candidates(&self, _: &SolverCache<Self>, solvables: &mut [SolvableId]) {
        // The atoms of a group are in the order of preference.
        solvables.sort_unstable();
    }

    async fn get_dependencies(&self, solvable: SolvableId) -> Dependencies {
        let atom = solvable.into_raw() as usize;
        let mut known = KnownDependencies::default();
        let formula = self.formula;
        let Some(requires) = formula.requires.get(atom) else {
            let atom = self.state.borrow().absent[atom - formula.group_of.len()];
            let set = Set { group: formula.group_of[atom], atoms: vec![atom] };
            known.constrains.push(self.numbered(set, true));
            return Dependencies::Known(known);
        };
        for &requirement in requires {
            let sets = formula.requirements[requirement].iter().map(|&set| self.set(formula.sets[set].clone()));
            let sets: Vec<VersionSetId> = sets.collect();
            known.requirements.push(self.requirement(atom, sets));
        }
        for &set in &formula.excludes[atom] {
            known.constrains.push(self.numbered(formula.sets[set].clone(), true));
        }
        let clauses: Vec<Clause> =
            self.state.borrow().clauses.iter().filter(|clause| clause.all.first() == Some(&atom)).cloned().collect();
        for clause in clauses {
            let mut sets: Vec<VersionSetId> = clause.any.iter().map(|set| self.set(set.clone())).collect();
            sets.extend(clause.all[1..].iter().map(|&other| self.absent(other)));
            known.requirements.push(self.requirement(atom, sets));
        }
        Dependencies::Known(known)
    }

    fn should_cancel_with_value(&self) -> Option<Box<dyn Any>> {
        self.rounds.set(self.rounds.get() + 1);
        (self.rounds.get() > ROUNDS).then(|| Box::new(LimitExceeded) as Box<dyn Any>)
    }
}
