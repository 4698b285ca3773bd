//! Cycles of dependencies.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The cycles that are returned. Who has more corrects some of them first.
const MOST: usize = 20;

/// Cycles among names, each of which has edges to others: up to 20, and at least one where there is one. Each begins with
/// its first name in alphabetical order. Takes time in proportion to the number of edges.
pub fn cycles<'n>(edges: &BTreeMap<&'n str, BTreeSet<&'n str>>) -> BTreeSet<Vec<&'n str>> {
    let mut found = BTreeSet::new();
    // The place of a name on the current path; none once all that it leads to is known.
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    for start in edges.keys() {
        if places.contains_key(start) {
            continue;
        }
        // A path from the start, each name with the edges that are left. It is no recursion, because it may be long.
        let mut path = vec![(*start, edges[start].iter())];
        places.insert(start, Some(0));
        while let Some((name, left)) = path.last_mut() {
            let Some(target) = left.next().copied() else {
                places.insert(name, None);
                path.pop();
                continue;
            };
            match (places.get(target), edges.get(target)) {
                (Some(Some(at)), _) => {
                    let cycle = path[*at..].iter().map(|(name, _)| *name).collect();
                    found.insert(from_first(cycle));
                    if found.len() == MOST {
                        return found;
                    }
                }
                (None, Some(next)) => {
                    places.insert(target, Some(path.len()));
                    path.push((target, next.iter()));
                }
                (Some(None), _) | (None, None) => {}
            }
        }
    }
    found
}

/// The cycle, rotated to its first name.
fn from_first(mut cycle: Vec<&str>) -> Vec<&str> {
    let first = cycle.iter().enumerate().min_by_key(|(_, name)| **name).map_or(0, |(index, _)| index);
    cycle.rotate_left(first);
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edges: &[(&'static str, &[&'static str])]) -> Vec<String> {
        let edges = edges.iter().map(|(name, targets)| (*name, targets.iter().copied().collect())).collect();
        cycles(&edges).into_iter().map(|cycle| cycle.join(" ")).collect()
    }

    #[test]
    fn cycles_begin_with_their_first_name() {
        assert_eq!(found(&[("c", &["a"]), ("a", &["b"]), ("b", &["c"]), ("d", &["a"])]), ["a b c"]);
        assert_eq!(found(&[("a", &["a"]), ("b", &["c"]), ("c", &["b", "d"])]), ["a", "b c"]);
        assert_eq!(found(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]), Vec::<String>::new());
    }

    #[test]
    fn time_is_linear() {
        // Each name leads to all after it, and a long path comes back.
        let names: Vec<String> = (0..2000).map(|number| format!("{number:04}")).collect();
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (index, name) in names.iter().enumerate() {
            edges.insert(name, names[index + 1..].iter().map(String::as_str).collect());
        }
        assert!(cycles(&edges).is_empty());
        edges.insert(&names[1999], [names[0].as_str()].into());
        assert_eq!(cycles(&edges).iter().map(Vec::len).collect::<Vec<_>>(), [2000]);
    }
}
