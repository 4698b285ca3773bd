//! `states.yaml`: the states of versions as a source declares them.

use fitout_model::VersionStateRule;
use serde_json::Value;

/// The file with the states, beside the extensions.
pub const STATES: &str = "states.yaml";

/// The reason why the states cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{STATES}: {0}")]
pub struct StatesError(String);

/// Parses the states: a list of rules under `states`.
pub fn parse_states(text: &[u8]) -> Result<Vec<VersionStateRule>, StatesError> {
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
        let rules = parse_states(text.as_bytes()).unwrap();
        assert_eq!((rules[0].state, rules[0].note.as_deref()), (VersionState::Withdrawn, Some("CVE-1")));
        assert_eq!(parse_states(b"").unwrap(), []);
        let problem = |text: &str| parse_states(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(problem("state: []"), "states.yaml: unknown field `state`; the only field is `states`");
        let unknown = problem("states: [{ extension: web, state: Gone }]");
        assert!(unknown.starts_with("states.yaml: states[0].state: unknown variant `Gone`"), "{unknown}");
    }
}
