//! Kinds that register other kinds: `CustomResourceDefinition` and `APIService`.

use crate::sentence::because;
use crate::view::View;
use crate::{Health, reasons};

pub(crate) fn custom_resource_definition(object: View<'_>) -> Health {
    for condition in object.conditions() {
        if condition.is("NamesAccepted", "False") {
            let sentence = because("its names are not accepted", condition.message);
            return Health::failed(condition.reason_or(reasons::NAMES_REFUSED), sentence);
        }
        // `Installing` is also `Established=False`, and passes.
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

/// An aggregated API becomes available whenever its server does, so it never counts as failed.
pub(crate) fn api_service(object: View<'_>) -> Health {
    let Some(condition) = object.condition("Available") else {
        return Health::in_progress(reasons::NOT_AVAILABLE, "the API server has not checked its availability yet");
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
