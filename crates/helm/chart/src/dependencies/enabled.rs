//! Which dependencies are there: by tags and conditions, under their aliases.

use std::collections::HashSet;
use std::rc::Rc;

use fitout_go_template::{Map, Value};
use fitout_helm_ranges::{Range, Version};

use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;
use crate::metadata::Dependency;
use crate::values::{coalesce_values, path_value, table, with_stack};

/// Leaves of the dependencies those that are wanted, here and below. The path is that of the chart's values, with a dot.
pub(crate) fn process(chart: &mut Chart, values: &Map, path: &str, warnings: &mut Warnings) -> Result<(), Error> {
    let Some(mut declared) = chart.metadata.dependencies.take() else { return Ok(()) };
    choose(chart, &declared);
    for dependency in &mut declared {
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
        dependency.enabled = true;
    }
    // Nothing that is looked for here needs the metadata.
    let values = coalesce_values(chart, values, warnings)?;
    by_tags(&mut declared, &values, warnings);
    by_conditions(&mut declared, &values, path, warnings);

    let unwanted: HashSet<String> =
        declared.iter().filter(|dependency| !dependency.enabled).map(|dependency| dependency.name.clone()).collect();
    declared.retain(|dependency| !unwanted.contains(&dependency.name));
    chart.dependencies.retain(|dependency| !unwanted.contains(dependency.name()));
    for dependency in &mut chart.dependencies {
        let path = format!("{path}{}.", dependency.name());
        with_stack(|| process(dependency, &values, &path, warnings))?;
    }
    chart.metadata.dependencies = (!declared.is_empty()).then_some(declared);
    Ok(())
}

/// Leaves the charts that nobody declares, and adds for each declaration the chart that it is for, under its alias.
fn choose(chart: &mut Chart, declared: &[Dependency]) {
    let there = std::mem::take(&mut chart.dependencies);
    let fits = |chart: &Chart, dependency: &Dependency| {
        chart.name() == dependency.name && is_compatible(&dependency.version, &chart.metadata.version)
    };
    let undeclared = |chart: &&Chart| !declared.iter().any(|dependency| fits(chart, dependency));
    let mut chosen: Vec<_> = there.iter().filter(undeclared).cloned().collect();
    let first = chosen.len();
    for dependency in declared {
        let Some(found) = there.iter().find(|chart| fits(chart, dependency)) else { continue };
        let mut chart = found.clone();
        if !dependency.alias.is_empty() {
            chart.metadata.name.clone_from(&dependency.alias);
        }
        chosen.push(chart);
    }
    chart.adopt(chosen);
    // Helm tells those right below a copy where they are now, and nobody below them.
    for copy in &mut chart.dependencies[first..] {
        let below = std::mem::take(&mut copy.dependencies);
        copy.adopt(below);
    }
}

fn is_compatible(range: &str, version: &str) -> bool {
    Version::parse(version).is_ok_and(|version| Range::parse(range).is_ok_and(|range| range.matches(&version)))
}

fn by_tags(declared: &mut [Dependency], values: &Rc<Map>, warnings: &mut Warnings) {
    let Ok(tags) = table(values, "tags") else { return };
    for dependency in declared {
        let (mut wanted, mut unwanted) = (false, false);
        for tag in &dependency.tags {
            match tags.get(tag.as_bytes()) {
                Some(Value::Bool(true)) => wanted = true,
                Some(Value::Bool(false)) => unwanted = true,
                Some(_) => warnings.push(format!("returned non-bool value tag={tag} chart={}", dependency.name)),
                None => {}
            }
        }
        dependency.enabled = wanted || !unwanted;
    }
}

fn by_conditions(declared: &mut [Dependency], values: &Rc<Map>, path: &str, warnings: &mut Warnings) {
    for dependency in declared {
        for condition in dependency.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            match path_value(values, &format!("{path}{condition}")) {
                Some(Value::Bool(wanted)) => {
                    dependency.enabled = wanted;
                    break;
                }
                Some(_) => {
                    warnings.push(format!("returned non-bool value path={condition} chart={}", dependency.name));
                }
                None => {}
            }
        }
    }
}
