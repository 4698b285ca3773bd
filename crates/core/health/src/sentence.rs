//! Parts of messages.

/// `2 of 3 replicas are ready`.
pub(crate) fn share(have: i64, want: i64, thing: &str, state: &str) -> String {
    format!("{have} of {} {state}", several(want, thing))
}

/// `1 replica is`, `3 replicas are`.
pub(crate) fn several(count: i64, thing: &str) -> String {
    if count == 1 { format!("1 {thing} is") } else { format!("{count} {thing}s are") }
}

/// The sentence, followed by the message of a controller, the kubelet or a container in one line; alone where that is empty.
pub(crate) fn because(sentence: impl Into<String>, message: &str) -> String {
    let sentence = sentence.into();
    let words: Vec<_> = message.split_whitespace().collect();
    if words.is_empty() { sentence } else { format!("{sentence}: {}", words.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(share(2, 3, "replica", "ready"), "2 of 3 replicas are ready");
        assert_eq!(share(0, 1, "replica", "ready"), "0 of 1 replica is ready");
        assert_eq!(several(0, "pod"), "0 pods are");
    }

    #[test]
    fn an_appended_message_is_one_line() {
        assert_eq!(because("it waits", "no\n  room "), "it waits: no room");
        assert_eq!(because("it waits", " "), "it waits");
    }
}
