//! However a test ends, nothing is left of its clusters; and while they run, they keep to their own addresses.
//!
//! Each test runs this program again, to start a cluster and to come to its end in one of many ways.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use fitout_testkit::{Cluster, Programs, Spec, leak_check, pods_cannot_run, skip, sweep, until};

/// The other side of these tests. Run with `FITOUT_ENDING`, otherwise there is nothing to do.
#[test]
#[ignore = "run by the other tests"]
fn runner() {
    static KEPT: OnceLock<Cluster> = OnceLock::new();
    let ending = std::env::var("FITOUT_ENDING").unwrap();
    let node = ending.contains("node");
    let cluster = Cluster::start(Spec { node, ..Spec::default() }).unwrap();
    println!("bed {}", cluster.sandbox().dir().display());
    match ending.trim_end_matches(" with a node") {
        "panic" => panic!("as asked"),
        "exit without destructors" => std::process::exit(0),
        "shared by all tests" => drop(KEPT.set(cluster)),
        "be ended" => std::thread::sleep(Duration::from_mins(2)),
        "be ended while frozen" => {
            cluster.freeze_api_server(0).unwrap();
            println!("frozen");
            std::thread::sleep(Duration::from_mins(2));
        }
        other => panic!("no such ending: {other}"),
    }
}

/// Whoever starts a cluster first cleans up after others. One test is about what happens before that.
static STARTS: RwLock<()> = RwLock::new(());

struct Runner {
    child: Child,
    output: BufReader<ChildStdout>,
    bed: PathBuf,
}

fn start(ending: &str) -> Result<Runner> {
    let _others_may_too = STARTS.read().unwrap_or_else(PoisonError::into_inner);
    start_alone(ending)
}

fn start_alone(ending: &str) -> Result<Runner> {
    // Whoever started these tests in the background has told them to ignore Ctrl-C, and that is handed down.
    let mut child = Command::new("env")
        .arg("--default-signal=INT")
        .arg(std::env::current_exe()?)
        .args(["cleanup::runner", "--exact", "--ignored", "--nocapture"])
        .env("FITOUT_ENDING", ending)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut output = BufReader::new(child.stdout.take().context("piped")?);
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        if let Some(bed) = line.trim().strip_prefix("bed ") {
            return Ok(Runner { child, output, bed: bed.into() });
        }
        line.clear();
    }
    bail!("the runner started no cluster: {:?}", child.wait_with_output()?)
}

fn gone(bed: &Path) -> Result<()> {
    until("nothing is left", Duration::from_secs(30), || match leak_check::of(bed)? {
        left if left.is_empty() => Ok(()),
        left => Err(anyhow!("{}", left.join("\n"))),
    })
}

fn signal(runner: &Runner, name: &str) -> Result<()> {
    let sent = Command::new("kill").args([name, &runner.child.id().to_string()]).status()?;
    anyhow::ensure!(sent.success(), "kill {name}");
    Ok(())
}

#[test]
fn after_a_panic_nothing_is_left_but_the_logs() -> Result<()> {
    let runner = start("panic")?;
    let output = runner.child.wait_with_output()?;
    assert!(!output.status.success());
    gone(&runner.bed)?;
    let said = String::from_utf8(output.stderr)?;
    let kept = said.lines().find_map(|line| line.split_once(" are in ")).context(said.clone())?.1;
    let log = fs::read_to_string(Path::new(kept).join("kube-apiserver-0.log"))?;
    assert!(log.contains("Serving securely"), "{log}");
    Ok(())
}

#[test]
fn after_an_exit_without_destructors_nothing_is_left() -> Result<()> {
    let mut runner = start("exit without destructors")?;
    assert!(runner.child.wait()?.success());
    gone(&runner.bed)
}

#[test]
fn a_cluster_that_is_shared_by_all_tests_goes_with_the_last() -> Result<()> {
    let mut runner = start("shared by all tests")?;
    assert!(runner.child.wait()?.success());
    gone(&runner.bed)
}

#[test]
fn after_an_interrupt_nothing_is_left() -> Result<()> {
    let mut runner = start("be ended")?;
    assert!(!leak_check::of(&runner.bed)?.is_empty());
    signal(&runner, "-INT")?;
    assert!(!runner.child.wait()?.success());
    gone(&runner.bed)
}

#[test]
fn after_a_kill_nothing_is_left_not_even_what_was_frozen() -> Result<()> {
    let mut runner = start("be ended while frozen")?;
    let mut line = String::new();
    runner.output.read_line(&mut line)?;
    assert_eq!(line, "frozen\n");
    signal(&runner, "-KILL")?;
    runner.child.wait()?;
    gone(&runner.bed)
}

/// The reaper that waits for the runner's end is killed as well: only the next start is left to clean up.
#[test]
fn what_even_the_keeper_could_not_end_the_next_start_does() -> Result<()> {
    let _nobody_else = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    let mut runner = start_alone("be ended")?;
    let reapers = children(runner.child.id(), "reaper\0watch")?;
    assert_eq!(reapers.len(), 1);
    for reaper in reapers {
        Command::new("kill").args(["-KILL", &reaper]).status()?;
    }
    signal(&runner, "-KILL")?;
    runner.child.wait()?;
    assert!(!leak_check::of(&runner.bed)?.is_empty(), "somebody else cleaned up, so this shows nothing");
    sweep(&Programs::get()?)?;
    gone(&runner.bed)
}

/// The number of a bed is free the moment it is gone, and whoever else was about to end that bed must not end the next.
#[test]
fn a_number_that_is_taken_again_is_left_alone_by_those_who_still_clean_up() -> Result<()> {
    let programs = Programs::get()?;
    let beds = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("beds-{}", std::process::id()));
    let sweep = || Command::new(programs.tool("reaper")).arg("sweep").arg(&beds).spawn();
    let (left, fresh) = (beds.join("1"), beds.join(".new"));
    for round in 0..30 {
        fs::create_dir_all(&beds)?;
        fs::create_dir(&left)?;
        for file in 0..200 {
            fs::write(left.join(file.to_string()), "")?;
        }
        fs::create_dir(&fresh)?;
        fs::write(fresh.join("round"), round.to_string())?;
        // No process has this identity: its owner is gone.
        fs::write(left.join("owner"), "1 0")?;
        let mut sweepers = [sweep()?, sweep()?, sweep()?];
        let deadline = Instant::now() + Duration::from_secs(30);
        while fs::rename(&fresh, &left).is_err() {
            assert!(Instant::now() < deadline, "the number is not given back");
        }
        for sweeper in &mut sweepers {
            assert!(sweeper.wait()?.success());
        }
        assert_eq!(fs::read_to_string(left.join("round"))?, round.to_string());
        fs::remove_dir_all(&left)?;
        assert_eq!(fs::read_dir(&beds)?.count(), 0);
    }
    Ok(fs::remove_dir(&beds)?)
}

/// A process may be on its way when its bed is ended, and not on record yet.
#[test]
fn what_is_only_just_started_ends_with_its_bed() -> Result<()> {
    let programs = Programs::get()?;
    let beds = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("just-{}", std::process::id()));
    let bed = beds.join("1");
    let reaper = || {
        let mut command = Command::new(programs.tool("reaper"));
        command.stderr(Stdio::null());
        command
    };
    let run = |name: &str| reaper().arg("run").arg(&bed).args([name, "sleep", "60"]).spawn();
    for round in 0..100 {
        fs::create_dir_all(&bed)?;
        // Somebody to wait for, so that there is time between the reading of the record and the end of the bed.
        let mut first = run("first")?;
        until("the first is on record", Duration::from_secs(30), || {
            fs::read_to_string(bed.join("processes")).map_err(|_| anyhow!("it is not"))
        })?;
        // No process has this identity: its owner is gone.
        fs::write(bed.join("owner"), "1 0")?;
        let mut sweeper = reaper().arg("sweep").arg(&beds).spawn()?;
        std::thread::sleep(Duration::from_micros(100 * (round % 40)));
        let mut late = run("late")?;
        assert!(sweeper.wait()?.success());
        first.wait()?;
        let ended =
            until("it has ended", Duration::from_secs(2), || late.try_wait()?.context("it runs, and its bed is gone"));
        late.kill()?;
        late.wait()?;
        ended.with_context(|| format!("round {round}"))?;
    }
    Ok(())
}

/// A tool that nobody has on record, such as Helm, may go on for a moment after its bed has gone, and write there.
#[test]
fn what_was_written_after_a_bed_had_gone_goes_too() -> Result<()> {
    let programs = Programs::get()?;
    let beds = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("late-{}", std::process::id()));
    let [late, kept, fresh] = ["1", "2", "3"].map(|number| beds.join(number));
    for bed in [&late, &kept, &fresh] {
        fs::create_dir_all(bed.join("home"))?;
    }
    fs::write(kept.join("processes"), "1 0 etcd")?;
    let long_ago = SystemTime::now() - Duration::from_mins(2);
    for bed in [&late, &kept] {
        fs::File::open(bed)?.set_modified(long_ago)?;
    }
    assert!(Command::new(programs.tool("reaper")).arg("sweep").arg(&beds).status()?.success());
    let there = [&late, &kept, &fresh].map(|bed| bed.exists());
    fs::remove_dir_all(&beds)?;
    assert_eq!(there, [false, true, true], "late, kept, fresh");
    Ok(())
}

#[test]
fn a_node_and_its_pods_leave_nothing_either() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let mut runner = start("be ended with a node")?;
    let before = leak_check::of(&runner.bed)?;
    for kind in ["directory", "process", "link", "cgroup"] {
        assert!(before.iter().any(|trace| trace.starts_with(kind)), "no {kind} to be left: {before:#?}");
    }
    signal(&runner, "-KILL")?;
    runner.child.wait()?;
    gone(&runner.bed)
}

#[test]
fn control_planes_listen_on_their_own_addresses_only() -> Result<()> {
    let _others_may_too = STARTS.read().unwrap_or_else(PoisonError::into_inner);
    let cluster = Cluster::start(Spec { api_servers: 2, ..Spec::default() })?;
    let record = fs::read_to_string(cluster.sandbox().dir().join("processes"))?;
    let mut ports = BTreeSet::new();
    for line in record.lines() {
        let pid = line.split(' ').next().context("a process id")?;
        for (address, port) in listening(pid)? {
            assert_eq!(address, cluster.sandbox().address_block().loopback(), "{line}");
            ports.insert(port);
        }
    }
    assert_eq!(ports, [2379, 2380, 6443, 6444].into());
    Ok(())
}

fn children(parent: u32, command: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{parent}/task"))? {
        let children = fs::read_to_string(task?.path().join("children"))?;
        found.extend(children.split_whitespace().map(str::to_owned));
    }
    found.retain(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(command)));
    Ok(found)
}

/// The addresses a process listens on, as the kernel tells. One that listens on IPv6 listens on all addresses.
fn listening(pid: &str) -> Result<Vec<(Ipv4Addr, u16)>> {
    let mut sockets = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        let target = fs::read_link(entry?.path()).unwrap_or_default();
        let inode = target.to_string_lossy();
        sockets.extend(inode.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')).map(str::to_owned));
    }
    let mut found = Vec::new();
    for (table, any) in [("tcp", false), ("tcp6", true)] {
        for line in fs::read_to_string(format!("/proc/{pid}/net/{table}"))?.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // 0A is the state of a socket that listens.
            if fields[3] == "0A" && sockets.contains(fields[9]) {
                let (address, port) = fields[1].split_once(':').context("an address and a port")?;
                let address = if any { 0 } else { u32::from_str_radix(address, 16)?.swap_bytes() };
                found.push((address.into(), u16::from_str_radix(port, 16)?));
            }
        }
    }
    Ok(found)
}
