//! `fitout test`.

use std::time::Duration;

use clap::Args;
use fitout_api::TestResult;
use serde_json::Value;

use super::{change, decode};
use crate::Answer;
use crate::connection::Session;
use crate::display::Display;
use crate::durations;
use crate::failure::Failure;
use crate::wait::{Until, wait_for};

#[derive(Args)]
pub(crate) struct Test {
    /// The name of the instance
    instance: String,
    /// Do not wait until the tests have ended
    #[arg(long)]
    no_wait: bool,
    /// How long to wait
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = durations::parse)]
    timeout: Duration,
}

pub(crate) async fn run(session: &Session, test: &Test) -> Result<Answer, Failure> {
    let name = &test.instance;
    let changed = change(session, name, false, |object| {
        request_test_run(object);
        Ok(())
    });
    let instance = decode(&changed.await?)?;
    let run = instance.spec.test_run.unwrap_or_default();
    if test.no_wait {
        let begun =
            || format!("changed instance {name}: the hub runs its tests and reports the result in the status\n");
        return Ok(session.output.object(&instance, begun)?.into());
    }
    let seen = wait_for(session, instance, Until::Tested(run), test.timeout, &Display::for_people(name)).await?;
    let Some(test) = seen.status.as_ref().and_then(|status| status.test.clone()) else {
        return Ok(String::new().into());
    };
    if test.result == TestResult::Failed {
        return Err(
            Failure::new(format!("instance {name}: {}", test.message)).hint("the installed release was not changed")
        );
    }
    Ok(session.output.object(&seen, || format!("tested {name}: {}\n", test.message))?.into())
}

/// Asks the hub for one more test run.
fn request_test_run(instance: &mut Value) {
    let run = instance["spec"]["testRun"].as_u64().unwrap_or_default() + 1;
    if let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("testRun".to_owned(), run.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn test_runs_are_counted() {
        let mut instance = json!({ "spec": {} });
        request_test_run(&mut instance);
        request_test_run(&mut instance);
        assert_eq!(instance, json!({ "spec": { "testRun": 2 } }));
    }
}
