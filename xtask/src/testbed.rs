//! Building the testbed, with a progress bar.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fitout_testkit::{Flux, Part, Programs, Progress};
use indicatif::{ProgressBar, ProgressStyle};

/// The testbed, with these parts built where they are missing.
pub(crate) fn build(parts: &[Part]) -> Result<Programs> {
    match Programs::find(parts)? {
        Some(programs) => Ok(programs),
        None => show("the testbed: once, about 15 minutes on two cores where Go has nothing cached", |bar| {
            Programs::build(parts, |step| advance(bar, step))
        }),
    }
}

/// Flux, built where it is missing.
pub(crate) fn build_flux() -> Result<Flux> {
    match Flux::find()? {
        Some(flux) => Ok(flux),
        None => show("flux: once, about 6 minutes on two cores where Go has nothing cached", |bar| {
            Flux::build(|step| advance(bar, step))
        }),
    }
}

fn show<T>(what: &str, build: impl FnOnce(&ProgressBar) -> Result<T>) -> Result<T> {
    println!("building {what}");
    let began = Instant::now();
    let bar = ProgressBar::no_length();
    let style = "  {prefix} {msg:18} {bar:28} {pos:>4} of {len} packages compiled, {elapsed}";
    bar.set_style(ProgressStyle::with_template(style).context("the bar's template")?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let result = build(&bar)?;
    bar.finish_and_clear();
    println!("built it in {:.0} s", began.elapsed().as_secs_f32());
    Ok(result)
}

fn advance(bar: &ProgressBar, step: Progress) {
    match step {
        Progress::Begin { name, index, of, packages } => {
            bar.reset();
            bar.set_prefix(format!("{index:>2} of {of}"));
            bar.set_length(packages);
            bar.set_message(name);
        }
        Progress::Compiled => bar.inc(1),
        Progress::Done => {
            let (place, name, took) = (bar.prefix(), bar.message(), bar.elapsed().as_secs_f32());
            let line = format!("  {place} {name:18} built in {took:.0} s");
            // Without a terminal the bar shows nothing, not even this.
            if bar.is_hidden() { println!("{line}") } else { bar.println(line) }
        }
    }
}
