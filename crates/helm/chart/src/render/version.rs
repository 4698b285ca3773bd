//! Versions of Kubernetes, as Helm reads them.

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// All of it, such as `v1.36.3-gke.100`.
    pub version: String,
    /// Without what a distribution adds, such as `v1.36.3`: this is what ranges are checked against.
    pub normalized: String,
    /// The first number.
    pub major: String,
    /// The second number.
    pub minor: String,
}

impl KubeVersion {
    /// Reads a version: two numbers or more with dots between them, perhaps after a `v`, and whatever a distribution adds.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = || format!("could not parse {text:?} as version");
        let trimmed = text.trim_matches(char::is_whitespace);
        let numbers = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let end = numbers.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(numbers.len());
        // What a distribution adds begins with one of these; Go's own reader does not look at it.
        let numbers = numbers[..end].trim_end_matches('.');
        let parts: Vec<&str> = numbers.split('.').collect();
        if parts.len() < 2 || numbers.is_empty() {
            return Err(refused());
        }
        for part in &parts {
            if part.is_empty() {
                return Err(refused());
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(format!("illegal zero-prefixed version component {part:?} in {text:?}"));
            }
            part.parse::<u64>().map_err(|_| {
                format!("illegal non-numeric version component {part:?} in {text:?}: value out of range")
            })?;
        }
        Ok(Self {
            version: if text.starts_with('v') { text.to_owned() } else { format!("v{text}") },
            normalized: format!("v{}", parts.join(".")),
            major: parts[0].to_owned(),
            minor: parts[1].to_owned(),
        })
    }
}
