//! One read of a repository, on a thread for blocking work.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use fitout_repositories::Http;
use gix_hash::ObjectId;

use crate::address::Address;
use crate::connection::{Connection, Fetch};
use crate::guard::Guard;
use crate::pack::Pack;
use crate::references::{self, Target, Wanted};
use crate::{Admit, Answer, Cause, Credentials, Limits, ReferenceKind, history, tree};

/// A request, and the means to answer it.
pub(crate) struct Job {
    pub(crate) address: Address,
    pub(crate) reference: Wanted,
    pub(crate) path: Vec<String>,
    pub(crate) known: Option<ObjectId>,
    pub(crate) accept: bool,
    pub(crate) credentials: Credentials,
    pub(crate) http: Arc<Http>,
    pub(crate) limits: Limits,
    pub(crate) directory: PathBuf,
    pub(crate) admit: Admit,
}

/// Reads a repository.
pub(crate) fn run(job: &Job, guard: &Guard) -> Result<Answer, Cause> {
    fs::create_dir_all(&job.directory).map_err(Cause::Disk)?;
    let directory = tempfile::Builder::new().prefix("fitout-git-").tempdir_in(&job.directory).map_err(Cause::Disk)?;
    let mut connection = Connection::open(job, guard, directory.path())?;
    let target = references::resolve(&mut connection, &job.reference)?;
    if let Some(known) = job.known {
        if known == target.commit {
            return Ok(Answer::Unchanged);
        }
        if !job.accept {
            check_history(&mut connection, &job.reference, &target, known)?;
        }
    }
    let files = read(job, guard, &mut connection, &target)?;
    Ok(Answer::Read { commit: target.commit.to_string(), files })
}

/// Fails if the commit does not follow the known one.
fn check_history(
    connection: &mut Connection<'_>,
    reference: &Wanted,
    target: &Target,
    known: ObjectId,
) -> Result<(), Cause> {
    let (known_text, found) = (known.to_string(), target.commit.to_string());
    match reference {
        // Another commit was asked for.
        Wanted::Commit(_) => Ok(()),
        Wanted::Tag(tag) => Err(Cause::TagMoved { tag: tag.clone(), known: known_text, found }),
        Wanted::Default | Wanted::Branch(_) if history::contains(connection, target.commit, known)? => Ok(()),
        Wanted::Default | Wanted::Branch(_) => {
            Err(Cause::Rewritten { branch: target.name.clone(), known: known_text, found })
        }
    }
}

fn read(
    job: &Job,
    guard: &Guard,
    connection: &mut Connection<'_>,
    target: &Target,
) -> Result<BTreeMap<String, Vec<u8>>, Cause> {
    // All files are needed without a path.
    let is_filtered = !job.path.is_empty() && connection.can_filter() && connection.can_want_any();
    let filter = is_filtered.then_some("blob:none");
    let mut pack = fetch(connection, &[target.want], true, filter).map_err(|cause| match (&job.reference, cause) {
        (Wanted::Commit(commit), Cause::Reported(reason)) if is_unknown(&reason) => {
            Cause::Unknown { kind: ReferenceKind::Commit, name: commit.to_string(), existing: Vec::new() }
        }
        (_, cause) => cause,
    })?;
    let folder = tree::folder(&mut pack, &target.commit, &job.path)?;
    let folder = folder.ok_or_else(|| Cause::NotACommit(target.name.clone()))?;
    let files = tree::files(&mut pack, folder, guard, &job.limits)?;
    if is_filtered && !files.is_empty() {
        let wants: BTreeSet<ObjectId> = files.values().copied().collect();
        pack = fetch(connection, &wants.into_iter().collect::<Vec<_>>(), false, None)?;
    }
    (job.admit)(job.limits.total);
    tree::read(&mut pack, files, guard, &job.limits)
}

fn fetch(
    connection: &mut Connection<'_>,
    wants: &[ObjectId],
    is_shallow: bool,
    filter: Option<&'static str>,
) -> Result<Pack, Cause> {
    let fetched = connection.fetch(Fetch { wants, have: None, is_shallow, filter })?;
    fetched.ok_or_else(|| Cause::Malformed("it has no pack".to_owned()))
}

/// Whether a server says that it has no such object, in the words of git and of others.
fn is_unknown(reason: &str) -> bool {
    ["not our ref", "bad object", "not found", "unadvertised object", "not valid"]
        .iter()
        .any(|text| reason.contains(text))
}
