//! Suggestions for misspelt names.

/// The most similar name, if one is similar enough: at most one typo for every three letters, and one more.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = written.chars().count() / 3 + 1;
    let distances = names.into_iter().map(|name| (distance(written, name), name));
    distances.filter(|(distance, _)| *distance <= limit).min().map(|(_, name)| name)
}

/// The Levenshtein distance, ignoring case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in right.iter().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_the_nearest_name() {
        let names = ["kubernetes", "extension", "summary"];
        assert_eq!(nearest("kubernets", names), Some("kubernetes"));
        assert_eq!(nearest("Summary", names), Some("summary"));
        assert_eq!(nearest("extensoin", names), Some("extension"));
        assert_eq!(nearest("colour", names), None);
    }
}
