//! Dependencies: which are there, under which names, and what their charts take over from them.

mod enabled;
mod imports;

use fitout_gotmpl::Map;

use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;

/// Leaves of a chart's dependencies those that these values want, each under its alias, and imports what charts want of
/// their dependencies' values into their own.
pub fn process(chart: &mut Chart, values: &Map, warnings: &mut Warnings) -> Result<(), Error> {
    enabled::process(chart, values, "", warnings)?;
    imports::process(chart, warnings)
}
