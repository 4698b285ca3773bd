//! Whether a history goes on, or was rewritten.

use std::collections::HashSet;

use gix_hash::ObjectId;

use crate::Cause;
use crate::connection::{Connection, Fetch};

/// Whether the new commit contains the known one.
///
/// The server sends the commits between both, and what it sends is followed from the new commit to the known one. A commit
/// is identified by the hash of its content, which has the ids of its parents, so a server cannot make up a connection. One
/// that leaves out commits makes a history look rewritten, never the other way round.
pub(crate) fn contains(connection: &mut Connection<'_>, new: ObjectId, known: ObjectId) -> Result<bool, Cause> {
    let fetch = Fetch { wants: &[new], have: Some(known), is_shallow: false, filter: Some("tree:0") };
    let Some(mut pack) = connection.fetch(fetch)? else { return Ok(false) };
    let mut seen = HashSet::from([new]);
    let mut next = vec![new];
    while let Some(commit) = next.pop() {
        // Commits that are not in the pack are contained in the known one.
        let parents = pack.parents(&commit)?.unwrap_or_default();
        if parents.contains(&known) {
            return Ok(true);
        }
        next.extend(parents.into_iter().filter(|parent| seen.insert(*parent)));
    }
    Ok(false)
}
