//! The files that a definition names.

use super::Report;

/// The most bytes of a logo.
const LOGO: usize = 512 << 10;

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
