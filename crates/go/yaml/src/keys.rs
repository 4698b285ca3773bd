//! The order in which Go writes the keys of a mapping: numbers in them count as numbers.

use std::cmp::Ordering;

use crate::writer::Dialect;

/// Whether one key is written before another.
///
/// This is no order in the strict sense: `v10` is before `v1beta1`, that before `v2`, and that before `v10`. Where Go's
/// answer depends on chance, ours does not.
fn is_before(one: &str, other: &str, dialect: Dialect) -> bool {
    let same = common(one, other);
    let (mut rest, mut others) = (one[same..].chars(), other[same..].chars());
    let (first, second) = match (rest.next(), others.next()) {
        (Some(first), Some(second)) => (first, second),
        (first, _) => return first.is_none() && one.len() < other.len(),
    };
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => first < second,
        (false, false) => {
            let before = &one[..same];
            // A zero is only a digit where the number goes on; elsewhere it is in front of one and has no value.
            let zero = first == '0' || second == '0';
            let goes_on = before.bytes().rev().take_while(u8::is_ascii_digit).any(|c| c != b'0');
            let start = i64::from(zero && goes_on);
            number(&one[same..], start).cmp(&number(&other[same..], start)).then(first.cmp(&second)) == Ordering::Less
        }
        // The third version of the library has numbers after words that go on.
        (letter, _) if dialect == Dialect::Three && one[..same].ends_with(|c: char| c.is_numeric()) => letter,
        (_, letter) => letter,
    }
}

/// How many bytes two keys have in common at their beginning, in whole characters.
fn common(one: &str, other: &str) -> usize {
    let mut same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    while !one.is_char_boundary(same) {
        same -= 1;
    }
    same
}

/// The number at the beginning of a text: its value, then its length.
fn number(text: &str, start: i64) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((start, 0), |(value, length), digit| {
        (value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
    })
}

/// Sorts what has keys into the order in which they are written.
pub fn sort_keys<T>(pairs: &mut Vec<T>, dialect: Dialect, key: impl Fn(&T) -> &str + Copy) {
    // Mostly they are in order, for that of bytes is mostly the same.
    if !are_sorted(pairs, dialect, key) {
        *pairs = merged(std::mem::take(pairs), dialect, key);
    }
}

/// Whether what has keys is in the order in which they are written.
pub fn are_sorted<T>(pairs: &[T], dialect: Dialect, key: impl Fn(&T) -> &str) -> bool {
    pairs.is_sorted_by(|one, other| !is_before(key(other), key(one), dialect))
}

/// The standard library may panic where there is no strict order; this cannot.
fn merged<T>(mut pairs: Vec<T>, dialect: Dialect, key: impl Fn(&T) -> &str + Copy) -> Vec<T> {
    if pairs.len() < 2 {
        return pairs;
    }
    let second = merged(pairs.split_off(pairs.len() / 2), dialect, key);
    let mut first = merged(pairs, dialect, key).into_iter().peekable();
    let mut second = second.into_iter().peekable();
    let mut all = Vec::with_capacity(first.len() + second.len());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        all.extend(if is_before(key(other), key(one), dialect) { second.next() } else { first.next() });
    }
    all.extend(first);
    all.extend(second);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(keys: &[&'static str]) -> Vec<&'static str> {
        let mut keys = keys.to_vec();
        sort_keys(&mut keys, Dialect::Two, |key| *key);
        keys
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
