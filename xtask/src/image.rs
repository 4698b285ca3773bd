//! `image`: builds the container image of the hub without a container engine.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use fitout_testkit::Image;

use crate::hub;

#[derive(Args)]
pub(crate) struct Options {
    /// The archive to write: an OCI layout, which `ctr images import` and `skopeo` read
    #[arg(long, short, value_name = "FILE", default_value = "fitout.tar")]
    output: PathBuf,
    /// The image reference in the archive
    #[arg(long, value_name = "NAME", default_value = concat!("localhost/fitout:", env!("CARGO_PKG_VERSION")))]
    reference: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    println!("building fitout, which takes minutes the first time");
    let program = hub::build_static()?;
    let digest = Image::hub(&options.reference, &program)?.write(&options.output)?;
    let size = options.output.metadata()?.len();
    println!("{} ({} MB)", options.output.display(), size / 1_000_000);
    println!("{}@{digest}", options.reference);
    Ok(())
}
