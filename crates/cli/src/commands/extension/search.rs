//! `fitout extension search`.

use clap::Args;
use fitout_api::{Extension, ExtensionSpec};

use super::list::in_order;
use crate::Answer;
use crate::commands::list_objects;
use crate::connection::Session;
use crate::failure::Failure;
use crate::tables;

#[derive(Args)]
pub(crate) struct Search {
    /// Words that the name, the summary, the publisher, a category or a keyword contains
    #[arg(required_unless_present = "category")]
    words: Vec<String>,
    /// Only extensions of this category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
}

pub(crate) async fn run(session: &Session, search: &Search) -> Result<Answer, Failure> {
    let extensions = in_order(session).await?;
    let mut found: Vec<(u32, Extension)> = extensions
        .into_iter()
        .filter(|extension| {
            let category = search.category.as_deref();
            category.is_none_or(|category| {
                extension.spec.categories.iter().any(|found| found.eq_ignore_ascii_case(category))
            })
        })
        .filter_map(|extension| Some((score(&extension.spec, &search.words)?, extension)))
        .collect();
    // The sort is stable: equally good ones stay in the order of the list.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let found: Vec<Extension> = found.into_iter().map(|(_, extension)| extension).collect();
    let table = || tables::extensions(&found, session.layout, session.paint, session.now);
    list_objects(session, &found, "no extension matches; `fitout extension list` lists all", table)
}

/// How well an extension matches; none if it lacks a word.
fn score(spec: &ExtensionSpec, words: &[String]) -> Option<u32> {
    let lower = |text: &String| text.to_lowercase();
    let name = lower(&spec.extension);
    let titles: Vec<String> =
        spec.display_name.iter().chain(&spec.categories).chain(&spec.keywords).map(lower).collect();
    let texts: Vec<String> = spec.summary.iter().chain(&spec.publisher).map(lower).collect();
    let of_word = |word: &String| {
        let word = lower(word);
        let in_any = |texts: &[String]| texts.iter().any(|text| text.contains(&word));
        match () {
            () if name == word => Some(8),
            () if name.contains(&word) => Some(4),
            () if in_any(&titles) => Some(2),
            () if in_any(&texts) => Some(1),
            () => None,
        }
    };
    words.iter().map(of_word).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_names_count_most() {
        let spec: ExtensionSpec = serde_json::from_value(serde_json::json!({
            "catalog": "community", "extension": "cert-manager", "summary": "X.509 certificates for workloads",
            "categories": ["security"], "keywords": ["tls"],
        }))
        .unwrap();
        let score = |words: &[&str]| score(&spec, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(score(&["cert-manager"]), Some(8));
        assert_eq!(score(&["CERT"]), Some(4));
        assert_eq!(score(&["Security", "workloads"]), Some(3));
        assert_eq!(score(&["tls", "storage"]), None);
        assert_eq!(score(&[]), Some(0));
    }
}
