//! `fitout status`.

use std::time::Duration;

use clap::Args;

use super::{find, withdrawal};
use crate::connection::Session;
use crate::display::Display;
use crate::failure::Failure;
use crate::wait::{Until, wait_for};
use crate::wait_outcome::exit_code;
use crate::{Answer, durations, progress};

#[derive(Args)]
pub(crate) struct Status {
    /// The name of the instance
    instance: String,
    /// Follow the instance until it is ready or stalled
    #[arg(long, short)]
    watch: bool,
    /// How long to follow the instance
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = durations::parse, requires = "watch")]
    timeout: Duration,
}

pub(crate) async fn run(session: &Session, status: &Status) -> Result<Answer, Failure> {
    let mut instance = find(session, &status.instance).await?;
    if status.watch && !session.output.is_table() {
        // Each state is printed as it is seen, so the last one is not repeated.
        wait_for(session, instance, Until::Ready, status.timeout, &Display::for_programs(session.output)).await?;
        return Ok(String::new().into());
    }
    if status.watch {
        let display = Display::for_people(&status.instance);
        instance = wait_for(session, instance, Until::Ready, status.timeout, &display).await?;
    }
    let marked = if session.output.is_table() { std::slice::from_ref(&instance) } else { &[] };
    let withdrawn = withdrawal::of_instances(session, marked).await;
    let view = || progress::view(&instance, withdrawn.get(&status.instance), session.now, session.paint);
    let text = session.output.object(&instance, view)?;
    Ok(Answer { text, code: exit_code(&instance) })
}
