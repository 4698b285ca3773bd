//! The `WWW-Authenticate` challenge of a registry.

/// The authentication that a registry requires.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// A user and a password.
    Basic,
    /// A token from a token server.
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    /// Parses these headers; prefers a token where the registry offers both.
    pub(crate) fn parse<'h>(headers: impl Iterator<Item = &'h str>) -> Option<Self> {
        let all: Vec<(String, Vec<(String, String)>)> = headers.flat_map(challenges).collect();
        let bearer =
            all.iter().find(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).and_then(|(_, parameters)| {
                let get = |name: &str| {
                    let found = parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.clone())
                };
                Some(Self::Bearer { realm: get("realm")?, service: get("service"), scope: get("scope") })
            });
        let basic = || all.iter().any(|(scheme, _)| scheme.eq_ignore_ascii_case("basic")).then_some(Self::Basic);
        bearer.or_else(basic)
    }
}

/// Splits a header into schemes with their parameters.
fn challenges(header: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for part in parts(header) {
        let (head, value) = part.split_once('=').map_or((part, None), |(head, value)| (head.trim_end(), Some(value)));
        // A space before the name means that a scheme begins here.
        let name = match head.split_once(' ') {
            Some((scheme, name)) => {
                found.push((scheme.to_owned(), Vec::new()));
                name.trim_start()
            }
            None if value.is_none() => {
                found.push((head.to_owned(), Vec::new()));
                continue;
            }
            None => head,
        };
        if let (Some((_, parameters)), Some(value)) = (found.last_mut(), value) {
            parameters.push((name.to_owned(), unquoted(value.trim())));
        }
    }
    found
}

/// Splits a header at commas outside of quotes.
fn parts(header: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    let parts = header.split(move |c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        c == ',' && !quoted
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut characters = inner.chars();
    let mut plain = String::new();
    while let Some(c) = characters.next() {
        plain.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Challenge::Bearer { realm: realm.to_owned(), service: owned(service), scope: owned(scope) }
    }

    #[test]
    fn challenges_of_registries_are_parsed() {
        let rows = [
            (
                r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:x/y:pull,push""#,
                Some(bearer(
                    "https://auth.docker.io/token",
                    Some("registry.docker.io"),
                    Some("repository:x/y:pull,push"),
                )),
            ),
            (r#"bearer realm = "https://a/t\"x""#, Some(bearer("https://a/t\"x", None, None))),
            (
                r#"Basic realm="Registry", Bearer realm="https://a/t",service=s"#,
                Some(bearer("https://a/t", Some("s"), None)),
            ),
            (r#"Basic realm="Registry Realm""#, Some(Challenge::Basic)),
            ("Basic", Some(Challenge::Basic)),
            (r#"Bearer service="x""#, None),
            ("Negotiate", None),
            ("", None),
        ];
        for (header, expected) in rows {
            assert_eq!(Challenge::parse([header].into_iter()), expected, "{header}");
        }
        let two = ["Negotiate", r#"Basic realm="x""#];
        assert_eq!(Challenge::parse(two.into_iter()), Some(Challenge::Basic));
    }
}
