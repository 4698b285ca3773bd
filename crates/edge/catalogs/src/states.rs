//! `states.yaml`: the states of versions as a source declares them.

use fitout_helm_ranges::Range;
use fitout_model::VersionStateRule;
use serde_json::Value;

/// The file with the states, beside the extensions.
pub const STATES: &str = "states.yaml";

/// The reason why the states cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{STATES}: {0}")]
pub struct StatesError(String);

/// The states that a source declares.
#[derive(Debug, Default)]
pub struct States {
    /// The rules that can be applied.
    pub rules: Vec<VersionStateRule>,
    /// The problems of rules, each as a sentence that begins with the file.
    pub problems: Vec<String>,
}

/// The length of a range and of a note in an Extension, in characters.
const MAX_RANGE: usize = 256;
const MAX_NOTE: usize = 512;

/// Parses the states: a list of rules under `states`. A rule with an invalid range is left out, and a note that is too long
/// is shortened; both are problems, and the other rules stay.
pub fn parse_states(text: &[u8]) -> Result<States, StatesError> {
    let mut states = States::default();
    for (index, mut rule) in parse_rules(text)?.into_iter().enumerate() {
        let at = format!("{STATES}: states[{index}]");
        if let Some(range) = &rule.version {
            if let Err(error) = Range::parse(range) {
                states.problems.push(format!("{at}.version: {error}; the rule is left out"));
                continue;
            }
            if range.chars().count() > MAX_RANGE {
                states
                    .problems
                    .push(format!("{at}.version: it has more than {MAX_RANGE} characters; the rule is left out"));
                continue;
            }
        }
        if let Some(note) = &mut rule.note
            && note.chars().count() > MAX_NOTE
        {
            states.problems.push(format!("{at}.note: it has more than {MAX_NOTE} characters; the rest is left out"));
            *note = note.chars().take(MAX_NOTE - 1).chain(['…']).collect();
        }
        states.rules.push(rule);
    }
    Ok(states)
}

fn parse_rules(text: &[u8]) -> Result<Vec<VersionStateRule>, StatesError> {
    let text = std::str::from_utf8(text).map_err(|_| StatesError("it is not UTF-8; save it as UTF-8".to_owned()))?;
    let document = fitout_go_yaml::from_yaml_strict(text).map_err(|error| StatesError(error.to_string()))?;
    let mut rules = match document {
        Value::Null => return Ok(vec![]),
        Value::Object(fields) => fields,
        _ => return Err(StatesError("expected the field `states`".to_owned())),
    };
    let states = rules.remove("states").unwrap_or(Value::Array(vec![]));
    if let Some(field) = rules.keys().next() {
        return Err(StatesError(format!("unknown field `{field}`; the only field is `states`")));
    }
    serde_path_to_error::deserialize(&states)
        .map_err(|error| StatesError(format!("states{}: {}", error.path(), error.inner())))
}

#[cfg(test)]
mod tests {
    use fitout_model::VersionState;

    use super::*;

    #[test]
    fn states_are_a_list_of_rules() {
        let text = "states:\n- { extension: web, version: <1.2, state: Withdrawn, note: CVE-1 }\n";
        let rules = parse_states(text.as_bytes()).unwrap().rules;
        assert_eq!((rules[0].state, rules[0].note.as_deref()), (VersionState::Withdrawn, Some("CVE-1")));
        assert_eq!(parse_states(b"").unwrap().rules, []);
        let problem = |text: &str| parse_states(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(problem("state: []"), "states.yaml: unknown field `state`; the only field is `states`");
        let unknown = problem("states: [{ extension: web, state: Gone }]");
        assert!(unknown.starts_with("states.yaml: states[0].state: unknown variant `Gone`"), "{unknown}");
    }

    #[test]
    fn a_bad_rule_is_a_problem_and_the_others_stay() {
        let note = "é".repeat(600);
        let text = format!(
            "states:\n- {{ extension: web, version: one, state: Yanked }}\n\
             - {{ extension: web, state: Withdrawn, note: {note} }}\n- {{ extension: db, state: Yanked }}\n"
        );
        let States { rules, problems } = parse_states(text.as_bytes()).unwrap();
        let found: Vec<_> = rules.iter().map(|rule| (rule.extension.as_str(), rule.state)).collect();
        assert_eq!(found, [("web", VersionState::Withdrawn), ("db", VersionState::Yanked)]);
        assert_eq!(rules[0].note.as_ref().unwrap().chars().count(), 512);
        assert!(problems[0].starts_with("states.yaml: states[0].version: "), "{problems:?}");
        assert_eq!(problems[1], "states.yaml: states[1].note: it has more than 512 characters; the rest is left out");
        assert_eq!(problems.len(), 2);
    }
}
