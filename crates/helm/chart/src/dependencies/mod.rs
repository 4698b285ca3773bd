//! Dependencies: which are there, under which names, and what their charts take over from them.

mod enabled;
mod imports;
mod missing;

use fitout_go_template::Map;

use crate::Warnings;
use crate::chart::Chart;
use crate::error::Error;

pub use missing::check;

/// Leaves of a chart's dependencies those that these values want, each under its alias, and imports what charts want of
/// their dependencies' values into their own.
pub fn process(chart: &mut Chart, values: &Map, warnings: &mut Warnings) -> Result<(), Error> {
    choose(chart, values, warnings)?;
    import(chart, warnings)
}

/// The first half: leaves those that are wanted.
pub(crate) fn choose(chart: &mut Chart, values: &Map, warnings: &mut Warnings) -> Result<(), Error> {
    enabled::process(chart, values, "", warnings)
}

/// The second half: imports values.
pub(crate) fn import(chart: &mut Chart, warnings: &mut Warnings) -> Result<(), Error> {
    imports::process(chart, warnings)
}
