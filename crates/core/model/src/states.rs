//! `states.yaml`: the states of versions as the source of a catalog declares them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::definition::{check_field, deserialize, schema};
use crate::{Problem, VersionStateRule, nearest};

/// The file with the states, beside the extensions.
pub const STATES: &str = "states.yaml";

/// The states of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// The rules that can be applied, in their order.
    pub rules: Vec<VersionStateRule>,
    /// The problems of rules that were left out or changed.
    pub problems: Vec<StatesProblem>,
    /// The places of the rules in the list.
    places: Vec<usize>,
    text: String,
}

/// The schema of a rule.
static RULE: LazyLock<Value> = LazyLock::new(schema::<VersionStateRule>);

/// The length of a note in an Extension, in characters.
const NOTE: usize = 512;

/// A problem of the file: its line, where it has one, and the field, which is empty for the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatesProblem {
    /// The line, from 1.
    pub line: Option<usize>,
    /// The problem.
    pub problem: Problem,
}

impl From<StatesProblem> for Problem {
    /// The problem with the file and the line in its field.
    fn from(StatesProblem { line, problem }: StatesProblem) -> Self {
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        let field = if problem.field.is_empty() { String::new() } else { format!(": {}", problem.field) };
        Self { field: format!("{STATES}{line}{field}"), ..problem }
    }
}

fn problem(line: Option<usize>, field: &str, message: impl Into<String>, hint: &str) -> StatesProblem {
    let problem = Problem { field: field.to_owned(), message: message.into(), hint: Some(hint.to_owned()) };
    StatesProblem { line, problem }
}

impl States {
    /// Parses the file strictly: a list of rules under `states`. A rule with an invalid range is left out, and a note that is
    /// too long is shortened; both are problems, and the other rules stay.
    pub fn parse(content: &[u8]) -> Result<Self, StatesProblem> {
        let text =
            std::str::from_utf8(content).map_err(|_| problem(None, "", "it is not UTF-8", "save it as UTF-8"))?;
        let document = fitout_go_yaml::from_yaml_strict(text)
            .map_err(|error| problem(error.line(), "", error.problem(), "fix the YAML"))?;
        if document.is_null() {
            return Ok(Self::default());
        }
        if !document.is_object() {
            return Err(problem(Some(1), "", "it is not a mapping", "write the rules as a list under `states:`"));
        }
        let mut states = Self { text: text.to_owned(), ..Self::default() };
        states.read(&document).map_err(|problem| states.at_line(problem, "correct it"))?;
        Ok(states)
    }

    fn read(&mut self, document: &Value) -> Result<(), Problem> {
        check_field("", document, &json!({ "properties": { "states": {} } }))?;
        let rules: Vec<Value> = match &document["states"] {
            Value::Null => vec![],
            rules => deserialize("states", rules)?,
        };
        for (place, mut rule) in rules.into_iter().enumerate() {
            let field = format!("states[{place}]");
            if let Some(note) = rule["note"].as_str().filter(|note| note.chars().count() > NOTE) {
                let short: String = note.chars().take(NOTE - 1).chain(['…']).collect();
                let message = format!(
                    "it has {} characters, and {NOTE} is the limit; the rest is left out",
                    note.chars().count()
                );
                let problem = Problem { field: format!("{field}.note"), message, hint: Some("shorten it".to_owned()) };
                self.problems.push(self.at_line(problem, ""));
                rule["note"] = json!(short);
            }
            match check_field(&field, &rule, &RULE) {
                Err(problem) if problem.field == format!("{field}.version") => {
                    let left_out = "correct it; until then the rule is left out";
                    self.problems.push(self.at_line(Problem { hint: None, ..problem }, left_out));
                }
                checked => {
                    checked?;
                    self.rules.push(deserialize(&field, &rule)?);
                    self.places.push(place);
                }
            }
        }
        Ok(())
    }

    /// The problem with its line, and with this hint if it has none.
    fn at_line(&self, Problem { field, message, hint }: Problem, or_hint: &str) -> StatesProblem {
        let hint = hint.unwrap_or_else(|| or_hint.to_owned());
        problem(fitout_go_yaml::line(&self.text, &field), &field, message, &hint)
    }

    /// The rules of extensions that are not among these, but have a name like one of these: a version is probably offered
    /// that should not be.
    pub fn misspelt(&self, extensions: &BTreeSet<&str>) -> Vec<StatesProblem> {
        self.unknown(extensions).filter_map(|(meant, problem)| meant.is_some().then_some(problem)).collect()
    }

    /// The rules of extensions that are not among these, and have a name of their own: perhaps that of an extension that was
    /// removed, whose instances the rule is for.
    pub fn removed(&self, extensions: &BTreeSet<&str>) -> Vec<StatesProblem> {
        self.unknown(extensions).filter_map(|(meant, problem)| meant.is_none().then_some(problem)).collect()
    }

    /// The rules of extensions that are not among these, each with the name that is probably meant.
    fn unknown<'a>(
        &'a self,
        extensions: &'a BTreeSet<&str>,
    ) -> impl Iterator<Item = (Option<&'a str>, StatesProblem)> + 'a {
        let rules = self.places.iter().zip(&self.rules);
        let unknown = rules.filter(|(_, rule)| !extensions.contains(rule.extension.as_str()));
        unknown.map(|(place, VersionStateRule { extension, .. })| {
            let field = format!("states[{place}].extension");
            let meant = nearest(extension, extensions.iter().copied());
            let hint = meant.map_or_else(
                || "correct the name, unless the extension was removed".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            let message = format!("there is no extension {extension}");
            (meant, self.at_line(Problem { field, message, hint: None }, &hint))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VersionState;

    #[test]
    fn states_are_a_list_of_rules() {
        let text = "states:\n- { extension: web, version: <1.2, state: Withdrawn, note: CVE-1 }\n";
        let rules = States::parse(text.as_bytes()).unwrap().rules;
        assert_eq!((rules[0].state, rules[0].note.as_deref()), (VersionState::Withdrawn, Some("CVE-1")));
        for empty in ["", "# nothing yet\n", "states:\n", "states: []\n"] {
            assert_eq!(States::parse(empty.as_bytes()).unwrap().rules, [], "{empty}");
        }
    }

    #[test]
    fn a_bad_rule_is_a_problem_and_the_others_stay() {
        let text = format!(
            "states:\n- {{ extension: web, version: one, state: Yanked }}\n- {{ extension: web, state: Withdrawn,\n    \
             note: {} }}\n- {{ extension: db, state: Yanked }}\n",
            "é".repeat(600)
        );
        let States { rules, problems, .. } = States::parse(text.as_bytes()).unwrap();
        let found: Vec<_> = rules.iter().map(|rule| (rule.extension.as_str(), rule.state)).collect();
        assert_eq!(found, [("web", VersionState::Withdrawn), ("db", VersionState::Yanked)]);
        assert_eq!(rules[0].note.as_ref().unwrap().chars().count(), 512);
        let problems: Vec<String> = problems.into_iter().map(|problem| Problem::from(problem).to_string()).collect();
        assert!(
            problems[0].starts_with("states.yaml:2: states[0].version: a range of versions is expected"),
            "{problems:?}"
        );
        assert!(problems[0].ends_with("; correct it; until then the rule is left out"), "{problems:?}");
        assert_eq!(
            problems[1..],
            [
                "states.yaml:4: states[1].note: it has 600 characters, and 512 is the limit; the rest is left out; shorten it"
            ]
        );
    }

    #[test]
    fn rules_of_other_extensions_are_problems() {
        let text = "states:\n- { extension: web, state: Yanked }\n- extension: wep\n  state: Yanked\n- extension: x\n  state: Yanked\n";
        let states = States::parse(text.as_bytes()).unwrap();
        let shown = |problems: Vec<StatesProblem>| -> Vec<String> {
            problems.into_iter().map(|problem| Problem::from(problem).to_string()).collect()
        };
        let known = ["db", "web"].into();
        assert_eq!(
            shown(states.misspelt(&known)),
            ["states.yaml:3: states[1].extension: there is no extension wep; did you mean web?"]
        );
        assert_eq!(
            shown(states.removed(&known)),
            [
                "states.yaml:5: states[2].extension: there is no extension x; correct the name, unless the extension was removed"
            ]
        );
    }
}
