//! The files that a definition names.

use fitout_model::check_package_size;

use super::{Report, Severity};

/// The most bytes of a logo.
const LOGO: usize = 512 << 10;

/// The hub refuses a definition with more files than it stores.
pub(super) fn check_size(report: &mut Report) {
    if let Err(problem) = check_package_size("", &report.subject.directory.files) {
        let remedy = problem.hint.unwrap_or_default();
        // A large logo is a finding of its own.
        if report.definition().logo.as_ref() != Some(&problem.field) {
            report.in_file(Severity::Error, &problem.field, None, problem.message, &remedy);
        }
    }
}

pub(super) fn check(report: &mut Report) {
    let definition = report.definition();
    let named = [
        ("spec.logo", &definition.logo),
        ("spec.description", &definition.description),
        ("spec.changelog", &definition.changelog),
    ];
    for (field, path) in named {
        let Some(path) = path else { continue };
        match report.file(path) {
            None => report.error(field, format!("file {path} not found"), "add it beside the definition"),
            Some(content) if field == "spec.logo" && content.len() > LOGO => {
                let message = format!("{path} has {} KB, and {} KB is the limit", content.len() >> 10, LOGO >> 10);
                report.error(field, message, "use a smaller picture, such as an SVG");
            }
            Some(_) => {}
        }
    }
}
