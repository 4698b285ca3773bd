//! The order in which Go writes the keys of a mapping: numbers in them count as numbers.

use std::cmp::Ordering;

/// Whether one key is written before another.
///
/// This is no order in the strict sense: `v10` is before `v1beta1`, that before `v2`, and that before `v10`. Where Go's
/// answer depends on chance, ours does not.
fn is_before(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let Some(at) = one.iter().zip(&other).position(|(a, b)| a != b) else { return one.len() < other.len() };
    match (one[at].is_alphabetic(), other[at].is_alphabetic()) {
        (true, true) => one[at] < other[at],
        (false, false) => numbers(&one, &other, at).then(one[at].cmp(&other[at])) == Ordering::Less,
        (_, second) => second,
    }
}

/// Compares the numbers that begin where two keys begin to differ: their value, then their length.
fn numbers(one: &[char], other: &[char], at: usize) -> Ordering {
    // A zero is only a digit where the number goes on; elsewhere it is in front of one and has no value.
    let zero = one[at] == '0' || other[at] == '0';
    let goes_on = one[..at].iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
    let start = i64::from(zero && goes_on);
    let number = |key: &[char]| {
        let digits = key[at..].iter().map_while(|c| c.to_digit(10));
        digits.fold((start, 0), |(value, length), digit| {
            (value.wrapping_mul(10).wrapping_add(i64::from(digit)), length + 1)
        })
    };
    number(one).cmp(&number(other))
}

/// Sorts keys. The standard library may panic where there is no strict order; this cannot.
pub(crate) fn sorted<T>(mut pairs: Vec<(&str, T)>) -> Vec<(&str, T)> {
    if pairs.len() < 2 {
        return pairs;
    }
    let second = sorted(pairs.split_off(pairs.len() / 2));
    let mut first = sorted(pairs).into_iter().peekable();
    let mut second = second.into_iter().peekable();
    let mut merged = Vec::with_capacity(first.len() + second.len());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        merged.extend(if is_before(other.0, one.0) { second.next() } else { first.next() });
    }
    merged.extend(first);
    merged.extend(second);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(keys: &[&'static str]) -> Vec<&'static str> {
        sorted(keys.iter().map(|key| (*key, ())).collect()).into_iter().map(|(key, ())| key).collect()
    }

    #[test]
    fn numbers_count_as_numbers() {
        assert_eq!(order(&["a10", "a9", "a1"]), ["a1", "a9", "a10"]);
        assert_eq!(order(&["a01", "a1"]), ["a1", "a01"]);
        assert_eq!(order(&["100", "10"]), ["10", "100"]);
    }

    #[test]
    fn letters_come_last() {
        assert_eq!(order(&["ab", "a-b", "a.b", "a"]), ["a", "a-b", "a.b", "ab"]);
        assert_eq!(order(&["b", "B", "a", "1"]), ["1", "B", "a", "b"]);
    }

    #[test]
    fn a_circle_of_keys_is_sorted_all_the_same() {
        let keys: Vec<_> = ["v10", "v1beta1", "v2"].into_iter().cycle().take(300).collect();
        assert_eq!(order(&keys).len(), 300);
    }
}
