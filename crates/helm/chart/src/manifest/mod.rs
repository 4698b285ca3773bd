//! What is rendered, as documents in the order in which they are installed.

mod head;
mod kinds;
mod split;

use fitout_go_template::Text;

use crate::render::is_partial;

pub use head::Head;
pub use kinds::{INSTALL_ORDER, UNINSTALL_ORDER, in_order};
pub use split::documents;

/// A document that is an object of the release.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The path of the template it came from.
    pub path: String,
    /// The document as it was rendered.
    pub text: String,
    /// What it says it is.
    pub head: Head,
}

/// A document that is applied at some event and belongs to no release.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The document itself.
    pub manifest: Manifest,
    /// When it is applied, in Helm's words, such as `pre-install`.
    pub events: Vec<&'static str>,
    /// Its place among the hooks of an event: the lightest comes first.
    pub weight: i64,
    /// When it is deleted, in Helm's words, such as `before-hook-creation`.
    pub delete_policies: Vec<String>,
    /// When its logs are shown, in Helm's words, such as `hook-failed`.
    pub log_policies: Vec<String>,
}

/// All documents of all files: hooks, and what the release is made of. Both in the order of their kinds.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// What is applied at some event.
    pub hooks: Vec<Hook>,
    /// What the release is made of.
    pub objects: Vec<Manifest>,
}

const EVENTS: [&str; 9] = [
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
];

/// Sorts what was rendered into hooks and objects. Helm's message says which file is no YAML.
pub(crate) fn sort(files: &[(String, Text)]) -> Result<Manifests, String> {
    let mut by_path: Vec<_> = files.iter().filter(|(path, _)| !is_partial(path)).collect();
    by_path.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut sorted = Manifests::default();
    for (path, content) in by_path {
        let content = std::str::from_utf8(content)
            .map_err(|_| format!("YAML parse error on {path}: error converting YAML to JSON: {NOT_UTF_8}"))?;
        for text in documents(content) {
            let head = Head::read(text).map_err(|why| format!("YAML parse error on {path}: {why}"))?;
            sorted.add(Manifest { path: path.clone(), text: text.to_owned(), head });
        }
    }
    in_order(&mut sorted.hooks, &INSTALL_ORDER, |hook| &hook.manifest.head.kind);
    in_order(&mut sorted.objects, &INSTALL_ORDER, |object| &object.head.kind);
    Ok(sorted)
}

const NOT_UTF_8: &str = "yaml: invalid leading UTF-8 octet";

impl Manifests {
    fn add(&mut self, manifest: Manifest) {
        let annotations = &manifest.head.annotations;
        let Some(asked) = annotations.get("helm.sh/hook") else { return self.objects.push(manifest) };
        // A hook of an event that nobody knows is never applied.
        let Some(events) = events(asked) else { return };
        let policies = |annotation: &str| annotations.get(annotation).map(|all| words(all).collect());
        self.hooks.push(Hook {
            events,
            weight: annotations.get("helm.sh/hook-weight").and_then(|weight| weight.parse().ok()).unwrap_or_default(),
            delete_policies: policies("helm.sh/hook-delete-policy").unwrap_or_default(),
            log_policies: policies("helm.sh/hook-output-log-policy").unwrap_or_default(),
            manifest,
        });
    }
}

fn words(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|word| word.trim().to_lowercase())
}

/// The events of an annotation, unless one of them is none.
pub(crate) fn events(annotation: &str) -> Option<Vec<&'static str>> {
    words(annotation).map(|word| event(&word)).collect()
}

fn event(word: &str) -> Option<&'static str> {
    // What Helm 2 called it.
    let word = if word == "test-success" { "test" } else { word };
    EVENTS.into_iter().find(|event| *event == word)
}
