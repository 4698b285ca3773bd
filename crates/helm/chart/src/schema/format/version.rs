//! Semantic versions.

use super::{Checked, refuse, shown};

pub(super) fn semantic(text: &str) -> Checked {
    let mut core = text;
    if let Some((before, build)) = core.split_once('+') {
        if build.is_empty() {
            return refuse("build is empty");
        }
        for identifier in build.split('.') {
            if identifier.is_empty() {
                return refuse("build identifier is empty");
            }
            characters(identifier, "build")?;
        }
        core = before;
    }
    if let Some((before, prerelease)) = core.split_once('-') {
        for identifier in prerelease.split('.') {
            if identifier.is_empty() {
                return refuse("pre-release identifier is empty");
            }
            characters(identifier, "pre-release")?;
            let number = identifier.bytes().all(|byte| byte.is_ascii_digit());
            if number && identifier.len() > 1 && identifier.starts_with('0') {
                return refuse("pre-release numeric identifier starts with zero");
            }
        }
        core = before;
    }
    let numbers: Vec<_> = core.split('.').collect();
    if numbers.len() != 3 {
        return refuse("versionCore must have 3 numbers separated by dot");
    }
    for (number, name) in numbers.iter().zip(["major", "minor", "patch"]) {
        if number.is_empty() {
            return refuse(format!("{name} is empty"));
        }
        if number.len() > 1 && number.starts_with('0') {
            return refuse(format!("{name} starts with zero"));
        }
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return refuse(format!("{name} contains non-digit"));
        }
    }
    Ok(())
}

fn characters(identifier: &str, of: &str) -> Checked {
    match identifier.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
        Some(c) => refuse(format!("invalid character {} in {of} identifier", shown(c))),
        None => Ok(()),
    }
}
