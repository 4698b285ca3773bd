//! The form that versions have in common, wherever they are written: `v1.2.3-pre.1+build.5`, cut short anywhere.

/// What is written where in a version. Nothing is said yet about whether the numbers are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape<'a> {
    /// All of it, with a leading `v` if there is one.
    pub(crate) text: &'a str,
    pub(crate) major: &'a str,
    pub(crate) minor: Option<&'a str>,
    pub(crate) patch: Option<&'a str>,
    /// Without the `-`.
    pub(crate) prerelease: Option<&'a str>,
    /// Without the `+`.
    pub(crate) metadata: Option<&'a str>,
}

/// The longest version that the text begins with. `number` says which bytes a number is made of: in a range these are
/// more than digits.
///
/// There is never a choice to come back to: what ends a version, be it a space, a comma or the end, cannot be a part
/// of one.
pub(crate) fn leading(text: &str, number: fn(u8) -> bool) -> Option<Shape<'_>> {
    let mut rest = text.strip_prefix('v').unwrap_or(text);
    let major = take(&mut rest, number)?;
    let minor = after(&mut rest, '.', |rest| take(rest, number));
    // When there was no minor version there is no further dot either, or nothing after it.
    let patch = minor.and_then(|_| after(&mut rest, '.', |rest| take(rest, number)));
    let prerelease = after(&mut rest, '-', identifiers);
    let metadata = after(&mut rest, '+', identifiers);
    let text = &text[..text.len() - rest.len()];
    Some(Shape { text, major, minor, patch, prerelease, metadata })
}

/// Whether a part of a pre-release or of metadata may have this byte.
pub(crate) fn identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Takes the mark and what follows it, or nothing at all.
fn after<'a>(rest: &mut &'a str, mark: char, follows: impl FnOnce(&mut &'a str) -> Option<&'a str>) -> Option<&'a str> {
    let mut ahead = rest.strip_prefix(mark)?;
    let taken = follows(&mut ahead)?;
    *rest = ahead;
    Some(taken)
}

/// Takes as many bytes as are wanted, if there is at least one. The wanted ones are ASCII.
fn take<'a>(rest: &mut &'a str, wanted: fn(u8) -> bool) -> Option<&'a str> {
    let end = rest.bytes().position(|byte| !wanted(byte)).unwrap_or(rest.len());
    let (taken, remaining) = rest.split_at(end);
    *rest = remaining;
    (!taken.is_empty()).then_some(taken)
}

/// Takes identifiers with dots between them.
fn identifiers<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let all = *rest;
    take(rest, identifier)?;
    while after(rest, '.', |rest| take(rest, identifier)).is_some() {}
    Some(&all[..all.len() - rest.len()])
}

#[cfg(test)]
mod tests {
    use super::leading;

    fn text(text: &str) -> Option<&str> {
        leading(text, |byte| byte.is_ascii_digit()).map(|shape| shape.text)
    }

    #[test]
    fn a_version_ends_where_it_can_go_no_further() {
        assert_eq!(text("v1.2.3-a.b+c.d, 2"), Some("v1.2.3-a.b+c.d"));
        assert_eq!(text("1.2.3.4"), Some("1.2.3"));
        assert_eq!(text("1..3"), Some("1"));
        assert_eq!(text("1.2-"), Some("1.2"));
        assert_eq!(text("1-a..b"), Some("1-a"));
        assert_eq!(text("1+é"), Some("1"));
    }

    #[test]
    fn a_version_begins_with_a_number() {
        assert_eq!(text(""), None);
        assert_eq!(text("v"), None);
        assert_eq!(text("vv1"), None);
        assert_eq!(text("-1"), None);
    }

    #[test]
    fn every_part_is_told_apart() {
        let shape = leading("v1.2-rc.1+x-y", |byte| byte.is_ascii_digit()).unwrap();
        assert_eq!((shape.major, shape.minor, shape.patch), ("1", Some("2"), None));
        assert_eq!((shape.prerelease, shape.metadata), (Some("rc.1"), Some("x-y")));
    }
}
