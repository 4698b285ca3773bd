//! Building the testbed, with a progress bar.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fitout_testkit::{Flux, Programs, Progress};
use indicatif::{ProgressBar, ProgressStyle};

/// The testbed's programs, built first where they have to be.
pub(crate) fn build() -> Result<Programs> {
    match Programs::find()? {
        Some(programs) => Ok(programs),
        None => show("the testbed: once, about 15 minutes on two cores where nothing is cached", |bar| {
            Programs::build(|step| advance(bar, step))
        }),
    }
}

/// Flux, built first where it has to be.
pub(crate) fn build_flux() -> Result<Flux> {
    match Flux::find()? {
        Some(flux) => Ok(flux),
        None => show("flux: once, about 6 minutes on two cores where nothing is cached", |bar| {
            Flux::build(|step| advance(bar, step))
        }),
    }
}

fn show<T>(what: &str, build: impl FnOnce(&ProgressBar) -> Result<T>) -> Result<T> {
    println!("building {what}");
    let began = Instant::now();
    let bar = ProgressBar::no_length();
    let style = "{prefix:>7} {msg:16} {bar:32} {pos:>4}/{len:<4} packages {elapsed}";
    bar.set_style(ProgressStyle::with_template(style).context("the bar's template")?);
    bar.enable_steady_tick(Duration::from_millis(200));
    let made = build(&bar)?;
    bar.finish_and_clear();
    println!("built it in {:.0} s", began.elapsed().as_secs_f32());
    Ok(made)
}

fn advance(bar: &ProgressBar, step: Progress) {
    match step {
        Progress::Begin { name, index, of, packages } => {
            bar.reset();
            bar.set_prefix(format!("{index}/{of}"));
            bar.set_length(packages);
            bar.set_message(name);
        }
        Progress::Compiled => bar.inc(1),
        Progress::Done => {
            // What was compiled for an earlier program is not compiled again.
            let line = format!("  built {} in {:.0} s", bar.message(), bar.elapsed().as_secs_f32());
            // Where there is no terminal the bar shows nothing, not even this.
            if bar.is_hidden() { println!("{line}") } else { bar.println(line) }
        }
    }
}
