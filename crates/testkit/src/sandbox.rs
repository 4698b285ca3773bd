//! A sandbox: the directory, the addresses and the processes of one cluster, which end together.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result, bail};

use crate::{Programs, logs, paths};

/// The addresses of a sandbox. Every sandbox has its own number on the machine and with it its own addresses, so no port is
/// guessed and clusters run side by side.
///
/// All are loopback addresses or from 198.18.0.0/15, the range reserved for tests of network equipment, so they are in use
/// neither on the internet nor in a company's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressBlock(u8);

impl AddressBlock {
    const LAST: u8 = 250;

    /// The address of the control plane on the host.
    pub fn loopback(self) -> Ipv4Addr {
        Ipv4Addr::new(127, 77, self.0, 1)
    }

    /// The host's end of the link to the node.
    pub fn host(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 19, self.0, 253)
    }

    /// The node's end of that link.
    pub fn node(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 19, self.0, 254)
    }

    /// The addresses of pods.
    pub fn pods(self) -> String {
        format!("198.19.{}.0/25", self.0)
    }

    /// The addresses of Services.
    pub fn services(self) -> String {
        format!("198.18.{}.0/24", self.0)
    }

    /// The Service `kubernetes`: Kubernetes gives it the first address of the range.
    pub fn kubernetes_service(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, self.0, 1)
    }

    /// The Service of the cluster's DNS.
    pub fn dns_service(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, self.0, 10)
    }
}

/// A directory under [`paths::sandboxes`] with everything that belongs to it. Dropping it ends its processes and removes it.
#[derive(Debug)]
pub struct Sandbox {
    dir: PathBuf,
    address_block: AddressBlock,
    programs: Programs,
    kept: bool,
}

impl Sandbox {
    /// A new sandbox, owned by this process. It is removed after this process has ended, in whatever way.
    pub(crate) fn claim() -> Result<Self> {
        let programs = Programs::get()?;
        start_reaper(&programs)?;
        let sandboxes = paths::sandboxes();
        let me = std::process::id();
        let fresh = sandboxes.join(format!(".new-{me}-{:?}", std::thread::current().id()));
        // Twice: a cleanup may have removed the empty directory of all sandboxes in between.
        fs::create_dir_all(&fresh)
            .or_else(|_| fs::create_dir_all(&fresh))
            .with_context(|| format!("create {}", fresh.display()))?;
        fs::write(fresh.join("owner"), identity(me)?)?;
        for number in 1..=AddressBlock::LAST {
            let dir = sandboxes.join(number.to_string());
            match fs::rename(&fresh, &dir) {
                // Another user has this number, and with it the addresses: try the next one.
                Ok(()) if is_of_another_user(&sandboxes, number) => fs::rename(&dir, &fresh)?,
                Ok(()) => {
                    logs::watch(&dir);
                    return Ok(Self { dir, address_block: AddressBlock(number), programs, kept: false });
                }
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                Err(error) => return Err(error).with_context(|| format!("claim {}", dir.display())),
            }
        }
        fs::remove_dir_all(&fresh)?;
        bail!("{} clusters of the testbed are running, which is the limit: end some of them", AddressBlock::LAST)
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its addresses.
    pub fn address_block(&self) -> AddressBlock {
        self.address_block
    }

    /// The programs that it runs.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// A path in the sandbox as text, for command lines and configuration files.
    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.join(name).to_string_lossy().into_owned()
    }

    /// Writes a file of the sandbox.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
        let path = self.dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content).with_context(|| format!("write {}", path.display()))
    }

    /// Starts a process that ends with the sandbox. Its output is in `NAME.log`.
    pub(crate) fn spawn(&self, name: &str, command: &[String]) -> Result<Child> {
        let log = fs::File::options().create(true).append(true).open(self.dir.join(format!("{name}.log")))?;
        Command::new(self.programs.tool("reaper"))
            .args(["run".as_ref(), self.dir.as_os_str(), name.as_ref()])
            .args(command)
            .env_clear()
            .envs(environment(&self.dir))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .current_dir("/")
            .spawn()
            .with_context(|| format!("start {name}"))
    }

    /// Keeps the sandbox running under a name after this process has ended.
    pub(crate) fn keep(&mut self, name: &str) -> Result<()> {
        self.write("name", name)?;
        fs::remove_file(self.dir.join("owner"))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if !self.kept {
            logs::unwatch(&self.dir);
            if let Err(error) = end(&self.programs, &self.dir) {
                eprintln!("{error:#}");
            }
        }
    }
}

/// The environment of a program of the testbed: no proxy, no configuration of the user.
pub(crate) fn environment(home: &Path) -> BTreeMap<&'static str, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    // Debian keeps ip, nft and containerd where an ordinary user's PATH does not look.
    let path = format!("{path}:/usr/local/sbin:/usr/sbin:/sbin");
    BTreeMap::from([("PATH", path), ("HOME", home.to_string_lossy().into_owned())])
}

/// The sandbox that is kept under this name, if any.
pub fn find_kept(name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(paths::sandboxes()).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|dir| fs::read_to_string(dir.join("name")).is_ok_and(|found| found == name))
}

/// Ends the processes of the sandbox in this directory, and removes it.
pub fn end(programs: &Programs, dir: &Path) -> Result<()> {
    reaper(programs, "end", dir)
}

/// Ends sandboxes whose owner has ended.
pub fn sweep(programs: &Programs) -> Result<()> {
    reaper(programs, "sweep", &paths::sandboxes())
}

fn reaper(programs: &Programs, verb: &str, path: &Path) -> Result<()> {
    let output = Command::new(programs.tool("reaper")).arg(verb).arg(path).output().context("run the reaper")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Sweeps, and starts a reaper that waits for the end of this process: a test that aborts, is interrupted or killed runs no
/// destructor, and neither does a cluster in a static.
fn start_reaper(programs: &Programs) -> Result<()> {
    static WATCH: OnceLock<Mutex<Option<Child>>> = OnceLock::new();
    let mut watch = WATCH.get_or_init(|| Mutex::new(None)).lock().unwrap_or_else(PoisonError::into_inner);
    if watch.is_some() {
        return Ok(());
    }
    sweep(programs)?;
    let mut command = Command::new(programs.tool("reaper"));
    command.arg("watch").arg(paths::sandboxes()).stdin(Stdio::piped()).stdout(Stdio::null());
    // In its own process group: Ctrl-C ends this process, not the reaper that cleans up after it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    *watch = Some(command.spawn().context("run the reaper")?);
    Ok(())
}

/// Whether another user of this machine has a sandbox with this number.
fn is_of_another_user(sandboxes: &Path, number: u8) -> bool {
    let (Some(above), Some(own)) = (sandboxes.parent(), sandboxes.file_name()) else { return false };
    let all = fs::read_dir(above).into_iter().flatten().flatten();
    let others = all.filter(|entry| entry.file_name() != own).filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(paths::SANDBOXES)
    });
    others.into_iter().any(|entry| entry.path().join(number.to_string()).exists())
}

/// Whether the process that owns a sandbox still runs.
pub(crate) fn in_use(dir: &Path) -> bool {
    let owner = fs::read_to_string(dir.join("owner")).unwrap_or_default();
    let pid = owner.split(' ').next().and_then(|pid| pid.parse().ok());
    pid.is_some_and(|pid| identity(pid).is_ok_and(|now| now == owner))
}

/// The identity of a process, as the reaper writes it: its id and its start time, because ids are reused.
fn identity(pid: u32) -> Result<String> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = line.rsplit_once(')').map_or("", |(_, rest)| rest);
    let start = after_name.split_whitespace().nth(19).context("the kernel's line on a process is too short")?;
    Ok(format!("{pid} {start}"))
}
