//! Whether `Chart.yaml` says what it must, in Helm's words where it does not.

use std::collections::HashSet;

use fitout_go_template::{is_print, quote};
use fitout_helm_ranges::Version;

use super::{Dependency, Draft, Maintainer, Metadata};
use crate::error::Error;

impl Draft {
    /// What it says, once it is known to be right. Texts lose what cannot be printed.
    pub(crate) fn checked(self) -> Result<Metadata, Error> {
        let metadata = Metadata {
            name: sanitized(self.name),
            home: sanitized(self.home),
            sources: self.sources.into_iter().flatten().map(sanitized).collect(),
            version: self.version,
            description: sanitized(self.description),
            keywords: self.keywords.into_iter().flatten().map(sanitized).collect(),
            maintainers: Vec::new(),
            icon: sanitized(self.icon),
            api_version: self.api_version,
            condition: sanitized(self.condition),
            tags: sanitized(self.tags),
            app_version: sanitized(self.app_version),
            deprecated: self.deprecated,
            annotations: self.annotations,
            kube_version: sanitized(self.kube_version),
            dependencies: None,
            kind: self.kind,
        };
        check(&metadata)?;
        let maintainers = self.maintainers.into_iter().flatten().map(maintainer).collect::<Result<_, _>>()?;
        let dependencies = self.dependencies.map(dependencies).transpose()?;
        Ok(Metadata { maintainers, dependencies, ..metadata })
    }
}

fn check(metadata: &Metadata) -> Result<(), Error> {
    let Metadata { api_version, name, version, kind, .. } = metadata;
    let problem = if api_version.is_empty() {
        "chart.metadata.apiVersion is required".to_owned()
    } else if name.is_empty() {
        "chart.metadata.name is required".to_owned()
    } else if name == "." || name == ".." {
        format!("chart.metadata.name {} is not allowed", quote(name.as_bytes()))
    } else if name.contains('/') && name != "/" {
        format!("chart.metadata.name {} is invalid", quote(name.as_bytes()))
    } else if version.is_empty() {
        "chart.metadata.version is required".to_owned()
    } else if Version::parse(version).is_err() {
        format!("chart.metadata.version {} is invalid", quote(version.as_bytes()))
    } else if !matches!(&**kind, "" | "application" | "library") {
        "chart.metadata.type must be application or library".to_owned()
    } else {
        return Ok(());
    };
    refuse(&problem)
}

fn refuse<R>(problem: &str) -> Result<R, Error> {
    Err(Error::new(format!("validation: {problem}")))
}

fn maintainer(maintainer: Option<Maintainer>) -> Result<Maintainer, Error> {
    let Some(Maintainer { name, email, url }) = maintainer else {
        return refuse("maintainers must not contain empty or null nodes");
    };
    Ok(Maintainer { name: sanitized(name), email: sanitized(email), url: sanitized(url) })
}

fn dependencies(all: Vec<Option<Dependency>>) -> Result<Vec<Dependency>, Error> {
    let mut names = HashSet::new();
    let mut checked = Vec::with_capacity(all.len());
    for dependency in all {
        let Some(dependency) = dependency else {
            return refuse("dependencies must not contain empty or null nodes");
        };
        let dependency = Dependency {
            name: sanitized(dependency.name),
            version: sanitized(dependency.version),
            repository: sanitized(dependency.repository),
            condition: sanitized(dependency.condition),
            tags: dependency.tags.into_iter().map(sanitized).collect(),
            ..dependency
        };
        let Dependency { name, alias, .. } = &dependency;
        if !alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            let name = quote(name.as_bytes());
            return refuse(&format!("dependency {name} has disallowed characters in the alias"));
        }
        let known_as = if alias.is_empty() { name } else { alias };
        if !names.insert(known_as.clone()) {
            let name = quote(known_as.as_bytes());
            return refuse(&format!("more than one dependency with name or alias {name}"));
        }
        checked.push(dependency);
    }
    Ok(checked)
}

/// Every kind of space is a space, and what cannot be printed is gone.
fn sanitized(text: String) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text;
    }
    text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| *c == ' ' || is_print(*c)).collect()
}

/// Whether a text is a time as RFC 3339 has it.
pub(crate) fn time(text: &str) -> Result<(), Error> {
    if is_rfc3339(text.as_bytes()) {
        return Ok(());
    }
    let shown = quote(text.as_bytes());
    let problem = format!("parsing time {shown} as \"2006-01-02T15:04:05Z07:00\": cannot parse {shown} as \"2006\"");
    Err(Error::new(problem))
}

fn is_rfc3339(text: &[u8]) -> bool {
    let digits = |from: usize, to: usize| -> Option<u32> {
        let digits = text.get(from..to)?;
        digits.iter().all(u8::is_ascii_digit).then(|| digits.iter().fold(0, |n, d| n * 10 + u32::from(d - b'0')))
    };
    let at = |place: usize, byte: u8| text.get(place) == Some(&byte);
    let within =
        |from, range: std::ops::RangeInclusive<u32>| digits(from, from + 2).is_some_and(|n| range.contains(&n));
    let plain = digits(0, 4).is_some()
        && at(4, b'-')
        && within(5, 1..=12)
        && at(7, b'-')
        && within(8, 1..=31)
        && at(10, b'T')
        && within(11, 0..=23)
        && at(13, b':')
        && within(14, 0..=59)
        && at(16, b':')
        && within(17, 0..=59);
    if !plain {
        return false;
    }
    let mut place = 19;
    if at(place, b'.') {
        let fraction = text[place + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if fraction == 0 {
            return false;
        }
        place += 1 + fraction;
    }
    match text.get(place) {
        Some(b'Z') => text.len() == place + 1,
        Some(b'+' | b'-') => {
            within(place + 1, 0..=24) && at(place + 3, b':') && within(place + 4, 0..=60) && text.len() == place + 6
        }
        _ => false,
    }
}
