//! Dependencies that are declared and not there.

use crate::Chart;

/// Refuses a chart without one of the charts that it says it depends on.
pub fn check(chart: &Chart) -> Result<(), String> {
    let there = |name: &str| chart.dependencies.iter().any(|dependency| dependency.name() == name);
    let declared = chart.metadata.dependencies.iter().flatten().map(|dependency| dependency.name.as_str());
    let missing: Vec<&str> = declared.filter(|name| !there(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("found in Chart.yaml, but missing in charts/ directory: {}", missing.join(", ")))
}
