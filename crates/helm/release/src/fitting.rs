//! What a record can do without: where it would be more than a Secret can hold, and while the release is on its way.

use serde_json::Value;

use crate::{Error, Release, Stamp, secret};

/// What a record can do without, the least missed first: what Helm shows or renders again comes before what it works from.
const DISPENSABLE: [fn(&mut Release) -> bool; 6] = [
    |release| without(release, "files"),
    |release| without(release, "templates"),
    |release| without(release, "schema"),
    |release| !std::mem::take(&mut release.info.notes).is_empty(),
    |release| without(release, "values"),
    // Helm then knows no object of the release, and neither upgrades nor removes any: that takes somebody who keeps them.
    |release| {
        let size = release.manifest.len();
        release.manifest =
            format!("# {size} bytes of manifests are more than a record holds; whoever wrote it has them\n");
        true
    },
];

/// The Secret of a release, as [`secret()`] makes it. Where it would be too large, the release loses what can be done without.
///
/// Of a release that is on its way, the chart's files are not in it: they are most of a record, and are written once, when
/// it has come to an end.
pub fn fitting_secret(release: &mut Release, stamp: Stamp) -> Result<Value, Error> {
    if !release.info.status.is_pending() {
        return fit(release, stamp);
    }
    let chart = release.chart.as_ref().map(|chart| chart.brief().clone());
    fit(&mut Release { chart, ..release.clone() }, stamp)
}

fn fit(release: &mut Release, stamp: Stamp) -> Result<Value, Error> {
    let mut rest = DISPENSABLE.iter();
    loop {
        match secret(release, stamp) {
            Err(error @ Error::TooLarge { .. }) => {
                if !rest.by_ref().any(|part| part(release)) {
                    return Err(error);
                }
            }
            made => return made,
        }
    }
}

/// Takes a part of the chart out; says whether there was one.
fn without(release: &mut Release, part: &str) -> bool {
    let Some(mut chart) = release.chart.as_deref().cloned() else { return false };
    let gone = chart.rest.get_mut(part).is_some_and(|part| !std::mem::take(part).is_null());
    release.chart = Some(chart.into());
    gone
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};
    use time::OffsetDateTime;

    use super::*;
    use crate::{Chart, Metadata, Status, from_secret};

    /// A text that does not shrink.
    fn noise(length: usize) -> String {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(33 + u8::try_from(state >> 33 & 63).unwrap())
        };
        (0..length).map(|_| next()).collect()
    }

    fn release(files: usize, templates: usize, manifest: usize) -> Release {
        let mut chart = Chart::new(Metadata::default(), Map::new());
        for (part, size) in [("files", files), ("templates", templates)] {
            chart.rest.insert(part.to_owned(), json!([{ "name": "a", "data": noise(size) }]));
        }
        Release { name: "web".into(), manifest: noise(manifest), chart: Some(chart.into()), ..Release::default() }
    }

    #[test]
    fn the_files_of_a_chart_come_when_a_release_has_come_to_an_end() {
        let mut release = release(1000, 1000, 1000);
        for (status, brief) in [
            (Status::PendingInstall, true),
            (Status::PendingUpgrade, true),
            (Status::Deployed, false),
            (Status::Failed, false),
        ] {
            release.info.status = status;
            let read = from_secret(&fitting_secret(&mut release, Stamp::Created(OffsetDateTime::UNIX_EPOCH)).unwrap());
            let read = read.unwrap();
            assert_eq!(read.chart.unwrap().is_brief(), brief, "{}", release.info.status);
            assert_eq!(read.manifest, release.manifest);
        }
    }

    #[test]
    fn no_more_goes_than_has_to() {
        let stamp = Stamp::Created(OffsetDateTime::UNIX_EPOCH);
        let mega = 1 << 20;
        // What is left of files, templates and manifest.
        let rows = [
            ((1000, 1000, 1000), [true, true, true]),
            ((2 * mega, 1000, 1000), [false, true, true]),
            ((1000, 2 * mega, 1000), [false, false, true]),
            ((1000, 1000, 2 * mega), [false, false, false]),
        ];
        for ((files, templates, manifest), left) in rows {
            let mut release = release(files, templates, manifest);
            let read = from_secret(&fitting_secret(&mut release, stamp).unwrap()).unwrap();
            let chart = read.chart.unwrap();
            let found =
                [!chart.rest["files"].is_null(), !chart.rest["templates"].is_null(), read.manifest.len() == manifest];
            assert_eq!(found, left, "{files} {templates} {manifest}");
        }
    }
}
