//! `image`: the hub as a container image, made without a container engine.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use fitout_testkit::Image;

use crate::hub;

#[derive(Args)]
pub(crate) struct Options {
    /// The archive to write: an OCI layout, as `ctr images import` and `skopeo` read it
    #[arg(long, short, value_name = "FILE", default_value = "fitout.tar")]
    output: PathBuf,
    /// The name that is written into it
    #[arg(long, value_name = "NAME", default_value = concat!("localhost/fitout:", env!("CARGO_PKG_VERSION")))]
    reference: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    println!("building fitout: minutes the first time");
    let program = hub::build_static()?;
    let digest = Image::hub(&options.reference, &program)?.write(&options.output)?;
    let size = options.output.metadata()?.len();
    println!("{} ({} MB)", options.output.display(), size / 1_000_000);
    println!("{}@{digest}", options.reference);
    Ok(())
}
