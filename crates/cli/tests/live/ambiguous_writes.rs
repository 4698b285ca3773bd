//! Answers that are not true.

#![allow(clippy::unwrap_used, reason = "a test")]

use anyhow::{Result, anyhow, ensure};
use fitout_testkit::{Fault, INSTANCES, Proxy, until};
use serde_json::json;

use crate::faults::{Faults, LIMIT};

#[test]
fn a_write_that_was_done_though_the_answer_says_otherwise_leaves_nothing_behind() -> Result<()> {
    let faults = Faults::start(1)?;
    let _hub = faults.run_hub_with("hub", &["--lease=15s", "--content-gc-grace=1s"])?;
    let records = "/api/v1/secrets?labelSelector=owner%3Dhelm";
    let belie = |proxy: &Proxy, part: &'static str| {
        let mut once = false;
        proxy.decide(move |asked| {
            let now = !once && asked.method == "POST" && asked.path.contains(part);
            once |= now;
            if now { Fault::LieAboutFailure } else { Fault::Pass }
        });
    };
    let writes = [("record", &faults.proxies[0], "/secrets"), ("revision", &faults.hub_proxy, "/extensionrevisions")];
    for (name, proxy, part) in writes {
        // One that is wanted gets what it needs all the same.
        belie(proxy, part);
        faults.want_plain(name, 0, 1)?;
        faults.dropped(LIMIT).ok_or_else(|| anyhow!("{name}: nothing was written"))?;
        faults.until_ready(name, 1, LIMIT)?;
        // One that is not wanted any more by then goes with all that was written.
        belie(proxy, part);
        let goes = format!("{name}-goes");
        faults.want_plain(&goes, 0, 1)?;
        faults.dropped(LIMIT).ok_or_else(|| anyhow!("{goes}: nothing was written"))?;
        faults.hub.client().delete(&format!("{INSTANCES}/{goes}"))?;
        until("it is gone", LIMIT, || {
            ensure!(faults.instance(&goes)?.is_none(), "it is there");
            Ok(())
        })?;
    }
    let found = faults.targets[0].client().get(records)?;
    let mut names: Vec<_> = found["items"].as_array().unwrap().iter().map(|found| &found["metadata"]["name"]).collect();
    names.sort_by_key(|name| name.as_str());
    assert_eq!(names, [&json!("sh.helm.release.v1.record.v1"), &json!("sh.helm.release.v1.revision.v1")]);
    let revisions = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    assert_eq!(revisions["items"].as_array().map(Vec::len), Some(2), "{revisions}");
    Ok(())
}
