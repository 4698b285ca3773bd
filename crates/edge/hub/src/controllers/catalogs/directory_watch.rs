//! Changes of directories on the hub's disk, as the kernel reports them.
//!
//! A large directory takes long to look through. Where the kernel reports every change of it, the hub looks through it
//! once, and again only after a change.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use fitout_api::CatalogSource;
use fitout_model::Digest;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::sync::Notify;

/// The events that are changes. Opening and reading a file is none: the hub does so itself.
const CHANGES: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// The magic numbers of file systems that this kernel alone changes, so that it reports every change: ext4, XFS, Btrfs,
/// F2FS, ZFS, tmpfs and overlay. On others, such as NFS, somebody else may make a change.
const LOCAL: [u64; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630];

/// Watches the directories among the sources of a catalog.
pub(super) struct DirectoryWatch {
    shared: Arc<Shared>,
    /// The thread ends once it is closed.
    _running: Option<PipeWriter>,
}

#[derive(Default)]
struct Shared {
    /// None without a directory, or if the kernel allows no more watches.
    events: Option<OwnedFd>,
    known: Mutex<Known>,
    changed: Notify,
}

/// The knowledge of the directories since the last change.
#[derive(Default)]
struct Known {
    /// The number of changes so far. Several at once may count as one.
    changes: u64,
    /// The fingerprints of directories whose changes are all reported.
    fingerprints: BTreeMap<PathBuf, Fingerprint>,
}

struct Fingerprint {
    digest: Digest,
    /// Another one once the directory was replaced, which is a change of the directory above it.
    identity: (u64, u64),
}

impl DirectoryWatch {
    /// Watches the directories among these sources, each from its first fingerprint on.
    pub(super) fn of(sources: &[(String, CatalogSource)]) -> Self {
        let is_directory =
            |source: &CatalogSource| source.directory.as_ref().is_some_and(|directory| directory.path.is_some());
        let idle = || Self { shared: Arc::default(), _running: None };
        if !sources.iter().any(|(_, source)| is_directory(source)) {
            return idle();
        }
        Self::start().unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to watch directories");
            idle()
        })
    }

    fn start() -> io::Result<Self> {
        let events = Some(init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?);
        let (ended, running) = pipe()?;
        let shared = Arc::new(Shared { events, ..Shared::default() });
        let followed = Arc::clone(&shared);
        thread::Builder::new().name("directory watch".to_owned()).spawn(move || followed.follow(&ended))?;
        Ok(Self { shared, _running: Some(running) })
    }

    /// The fingerprint of a directory. Looks at no file if the kernel reports all changes of the directory and has
    /// reported none since the last fingerprint, unless all files are to be looked at afresh.
    pub(super) fn fingerprint(&self, path: &Path, afresh: bool) -> io::Result<Digest> {
        let root = fs::metadata(path)?;
        let identity = (root.dev(), root.ino());
        self.shared.note_changes();
        let changes = {
            let known = self.shared.known();
            match known.fingerprints.get(path).filter(|known| known.identity == identity && !afresh) {
                Some(known) => return Ok(known.digest.clone()),
                None => known.changes,
            }
        };
        let mut is_watched = self.shared.events.is_some() && is_local(path);
        let digest = fitout_catalogs::fingerprint(path, &mut |directory| {
            // Before it is listed, so that no change is missed.
            is_watched &= self.shared.watch(directory, root.dev());
        })?;
        let mut known = self.shared.known();
        if is_watched && known.changes == changes {
            known.fingerprints.insert(path.to_owned(), Fingerprint { digest: digest.clone(), identity });
        }
        Ok(digest)
    }

    /// Waits until a directory has changed.
    pub(super) async fn changed(&self) {
        self.shared.changed.notified().await;
    }
}

impl Shared {
    /// Notes changes as they are reported, until the other end of the pipe is closed.
    fn follow(&self, ended: &PipeReader) {
        let Some(events) = &self.events else { return };
        loop {
            let mut ready = [PollFd::new(events, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
            let polled = poll(&mut ready, None);
            if !ready[1].revents().is_empty() || polled.is_err_and(|error| error != rustix::io::Errno::INTR) {
                return;
            }
            self.note_changes();
        }
    }

    /// Notes the changes that were reported so far.
    fn note_changes(&self) {
        let Some(events) = &self.events else { return };
        let mut has_changed = false;
        while rustix::io::read(events, &mut [0; 4096]).is_ok_and(|read| read > 0) {
            has_changed = true;
        }
        if has_changed {
            let mut known = self.known();
            known.changes += 1;
            known.fingerprints.clear();
            self.changed.notify_one();
        }
    }

    /// Watches one directory. Returns whether all of its changes are reported.
    fn watch(&self, directory: &Path, device: u64) -> bool {
        let Some(events) = &self.events else { return false };
        let added = add_watch(events, directory, CHANGES);
        added.is_ok() && fs::metadata(directory).is_ok_and(|metadata| metadata.dev() == device)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_local(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|magic| LOCAL.contains(&magic)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fitout_api::DirectorySource;
    use tokio::time::timeout;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn watch(path: &Path) -> DirectoryWatch {
        let directory = DirectorySource { path: Some(path.display().to_string()), ..DirectorySource::default() };
        let source = CatalogSource { directory: Some(directory), ..CatalogSource::default() };
        DirectoryWatch::of(&[(String::new(), source)])
    }

    #[tokio::test]
    async fn every_change_is_reported_and_makes_another_fingerprint() {
        let dir = std::env::temp_dir().join(format!("fitout-directory-watch-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        write(&dir.join("web/1.0.0/definition.yaml"), "a");
        let watch = watch(&dir);
        let changed = async |limit: u64| timeout(Duration::from_millis(limit), watch.changed()).await.is_ok();
        let first = watch.fingerprint(&dir, false).unwrap();
        assert!(watch.shared.known().fingerprints.contains_key(&dir));
        // Neither the hub's own reads nor those of others are changes.
        assert_eq!(watch.fingerprint(&dir, true).unwrap(), first);
        fs::read(dir.join("web/1.0.0/definition.yaml")).unwrap();
        assert!(!changed(50).await);

        write(&dir.join("web/1.0.0/definition.yaml"), "aa");
        assert!(changed(5000).await && watch.shared.known().fingerprints.is_empty());
        let second = watch.fingerprint(&dir, false).unwrap();
        assert_ne!(second, first);

        // A file in a new folder, before its event was read.
        write(&dir.join("web/2.0.0/definition.yaml"), "b");
        let third = watch.fingerprint(&dir, false).unwrap();
        assert_ne!(third, second);
        write(&dir.join("web/2.0.0/definition.yaml"), "bb");
        assert!(changed(5000).await);
        let fourth = watch.fingerprint(&dir, false).unwrap();
        assert_ne!(fourth, third);

        // The directory itself is replaced.
        fs::rename(&dir, dir.with_extension("old")).unwrap();
        assert!(watch.fingerprint(&dir, false).is_err());
        fs::create_dir(&dir).unwrap();
        assert_ne!(watch.fingerprint(&dir, false).unwrap(), fourth);
        fs::remove_dir_all(dir.with_extension("old")).unwrap();
        fs::remove_dir_all(&dir).unwrap();
    }
}
