//! Kinds that bring other kinds: custom resource definitions and aggregated APIs.

use crate::sentence::because;
use crate::view::View;
use crate::{Health, reasons};

pub(crate) fn definition(object: View<'_>) -> Health {
    for condition in object.conditions() {
        if condition.is("NamesAccepted", "False") {
            let sentence = because("its names are refused", condition.message);
            return Health::failed(condition.reason_or(reasons::NAMES_REFUSED), sentence);
        }
        // While it is installing, it is also not established.
        if condition.is("Established", "False") && condition.reason != "Installing" {
            let sentence = because("its kind cannot be served", condition.message);
            return Health::failed(condition.reason_or(reasons::NOT_ESTABLISHED), sentence);
        }
        if condition.is("Established", "True") {
            return Health::Current;
        }
    }
    Health::in_progress(reasons::NOT_ESTABLISHED, "its kind is not served yet")
}

/// An API that is served by somebody else can come and go with that server, so it is never given up.
pub(crate) fn api_service(object: View<'_>) -> Health {
    let Some(condition) = object.condition("Available") else {
        return Health::in_progress(reasons::NOT_AVAILABLE, "nobody has looked for its server yet");
    };
    if condition.status == "True" {
        return Health::Current;
    }
    let service = object.text("/spec/service/name");
    let sentence = if service.is_empty() {
        "its API is not available".to_owned()
    } else {
        let namespace = object.text("/spec/service/namespace");
        format!("its API is not available from Service {namespace}/{service}")
    };
    Health::in_progress(condition.reason_or(reasons::NOT_AVAILABLE), because(sentence, condition.message))
}
