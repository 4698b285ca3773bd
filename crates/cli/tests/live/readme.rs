//! The README's five minutes, word for word.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use fitout_testkit::{Cluster, Image, Spec, install_dns, paths, pods_cannot_run, skip, start_hub, until};

/// The commands in the README's section, but for those that start and end the cluster.
fn commands() -> Result<Vec<String>> {
    let readme = std::fs::read_to_string(paths::checkout().join("README.md"))?;
    let section = readme.split("## Five minutes").nth(1).context("a section `Five minutes`")?;
    let section = section.split("\n## ").next().context("its end")?;
    let in_blocks = section.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    let lines = in_blocks.flat_map(str::lines).map(str::to_owned);
    Ok(lines.filter(|line| !line.starts_with("cargo xtask")).collect())
}

#[test]
fn the_five_minutes_of_the_readme_work_as_written() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let mut cluster = Cluster::start(Spec { node: true, ..Spec::default() })?;
    let podinfo = Image::podinfo(cluster.sandbox().programs());
    cluster.node().context("a node")?.import(&podinfo)?;
    install_dns(&cluster)?;
    start_hub(&mut cluster, Path::new(env!("CARGO_BIN_EXE_fitout")))?;
    let bin = cluster.bin()?;

    let commands = commands()?;
    ensure!(commands.len() >= 9, "{commands:#?}");
    let mut said = Vec::new();
    for command in &commands {
        let output = Command::new("sh")
            .args(["-c", command])
            .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH")?))
            .env("KUBECONFIG", cluster.kubeconfig())
            .output()?;
        let text = String::from_utf8([output.stdout, output.stderr].concat())?;
        println!("$ {command}\n{text}");
        ensure!(output.status.success(), "{command}: {text}");
        said.push((command.as_str(), text));
    }
    let first = |start: &str| {
        let found = said.iter().find(|(command, _)| command.starts_with(start));
        found.map(|(_, text)| text.as_str()).with_context(|| start.to_owned())
    };
    ensure!(first("fitout extension list")?.contains("hello"));
    ensure!(first("fitout status")?.contains("1.0.0"));
    ensure!(first("kubectl get pods")?.contains("Running"));
    ensure!(first("fitout history")?.contains("Upgrade"));
    let history = first("helm history")?;
    ensure!(history.matches("superseded").count() == 3 && history.contains("deployed"), "{history}");
    until("nothing is left", Duration::from_secs(30), || {
        let deployments = cluster.client().get("/apis/apps/v1/namespaces/hello/deployments")?;
        if deployments["items"] == serde_json::json!([]) { Ok(()) } else { Err(anyhow!("{deployments}")) }
    })
}
