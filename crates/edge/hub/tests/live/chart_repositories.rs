//! Charts from a repository: fetched once, kept, and had again when the repository is gone.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, anyhow};
use fitout_testkit::{apply, condition, object, until, write_example_chart};
use serde_json::json;

use crate::repository::Repository;
use crate::world::{LIMIT, World};

#[test]
fn what_was_installed_once_needs_no_repository_any_more() -> Result<()> {
    let world = World::start_with(false)?;
    write_example_chart(&world.catalog)?;
    let (source, folder) = (world.catalog.join("thing/3.0.0/chart"), world.hub.sandbox().dir().join("repository"));
    fs::create_dir_all(&folder)?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path");
    let helm = world.hub.helm();
    helm.run(&["package", &text(&source)?, "--destination", &text(&folder)?])?;
    helm.run(&["repo", "index", &text(&folder)?])?;
    fs::remove_dir_all(&source)?;
    let repository = Repository::start_guarded(folder.clone());
    let definition = format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: thing-3 }}\n\
         spec: {{ extension: thing, version: 3.0.0, bootstrap: true, helm: {{ chart: thing, version: 3.0.0, repository: \
         \"{}\", values: {{ color: green }} }} }}\n",
        repository.address
    );
    fs::write(world.catalog.join("thing/3.0.0/definition.yaml"), definition)?;
    world.offer()?;

    // Nobody is let in who is not known, and that is said; with the secret it goes on by itself.
    world.want(&json!({ "version": "3.x" }))?;
    let told = |part: &str| {
        until(part, LIMIT, || {
            let ready = condition(&world.instance()?, "Ready");
            if ready["message"].as_str().is_some_and(|message| message.contains(part)) {
                Ok(())
            } else {
                Err(anyhow!("{ready}"))
            }
        })
    };
    told("401")?;
    let secret = json!({
        "type": "fitout.dev/repository",
        "stringData": { "repository": repository.address, "username": "charts", "password": "secret" },
    });
    apply(&world.hub, &object("v1", "Secret", "fitout-system", "charts", &secret))?;
    world.ready(1)?;

    // The repository is gone, and so is all that the hub held in memory.
    repository.down.store(true, Ordering::Relaxed);
    let world = world.restart_hub()?;
    world.want(&json!({ "version": "3.x", "values": { "color": "blue" } }))?;
    world.ready(2)?;
    assert_eq!(world.config_map("thing")?.context("thing")?["data"]["color"], "blue");

    // What is kept is lost too, and another archive has the same version: what is installed stays, and that is said.
    let kept = "/api/v1/namespaces/fitout-system/secrets";
    let revisions = world.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensionrevisions")?;
    let digest = revisions["items"][0]["spec"]["chartDigest"].as_str().context("a digest")?.to_owned();
    let all = world.hub.client().get(&format!("{kept}?fieldSelector=type%3Dfitout.dev/content"))?;
    for part in all["items"].as_array().context("a list")? {
        let name = part["metadata"]["name"].as_str().context("a name")?;
        if name.contains(&digest[7..19]) {
            world.hub.client().delete(&format!("{kept}/{name}"))?;
        }
    }
    let definition = fs::read(world.catalog.join("thing/3.0.0/definition.yaml"))?;
    write_example_chart(&world.catalog)?;
    fs::write(source.join("templates/map.yaml"), "kind: {{ \"changed\" }}\n")?;
    helm.run(&["package", &text(&source)?, "--destination", &text(&folder)?])?;
    helm.run(&["repo", "index", &text(&folder)?])?;
    fs::remove_dir_all(&source)?;
    repository.down.store(false, Ordering::Relaxed);
    fs::write(world.catalog.join("thing/3.0.0/definition.yaml"), definition)?;
    let world = world.restart_hub()?;
    world.want(&json!({ "version": "3.x", "values": { "color": "gold" } }))?;
    until("it is refused", LIMIT, || {
        let ready = condition(&world.instance()?, "Ready");
        if ready["message"].as_str().is_some_and(|message| message.contains(&digest)) {
            Ok(())
        } else {
            Err(anyhow!("{ready}"))
        }
    })?;
    assert_eq!(world.config_map("thing")?.context("thing")?["data"]["color"], "blue");
    Ok(())
}
