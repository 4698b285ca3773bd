//! Deterministic archives of charts, definitions and catalogs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fitout_helm_chart::{Chart, dependencies};
use fitout_model::Problem;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// A gzipped tar of these files, by path. Equal files have equal archives: they are sorted, belong to no one and have no
/// time.
pub fn archive(files: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<u8>> {
    // 255 stands for no particular operating system.
    let gzip = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    let mut tar = Builder::new(gzip);
    for (path, content) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        tar.append_data(&mut header, path, content.as_slice())?;
    }
    let mut gzip = tar.into_inner()?;
    gzip.flush()?;
    gzip.finish()
}

/// A packaged chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagedChart {
    /// The name of the file, as `helm package` names it.
    pub file_name: String,
    /// The archive.
    pub archive: Vec<u8>,
}

/// Packages a chart as `helm package` lays it out: all files of the chart that `.helmignore` does not exclude, in a directory
/// with its name. A new version or application version is written to `Chart.yaml`.
pub fn package_chart(
    chart: &Chart,
    version: Option<&str>,
    app_version: Option<&str>,
) -> Result<PackagedChart, Problem> {
    let problem = |field: &str, message: &str, hint: &str| Problem {
        field: field.to_owned(),
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    };
    let name = chart.name();
    dependencies::check(chart).map_err(|error| {
        problem(&format!("chart {name}"), &error, "run `helm dependency build` in the chart's directory")
    })?;
    let mut metadata = chart.metadata.clone();
    metadata.version = version.unwrap_or(&metadata.version).to_owned();
    metadata.app_version = app_version.unwrap_or(&metadata.app_version).to_owned();
    if fitout_helm_ranges::Version::parse(&metadata.version).is_err() {
        let hint = "give three numbers, such as 1.2.3";
        return Err(problem(&format!("chart {name}"), &format!("`{}` is not a version", metadata.version), hint));
    }
    let is_changed = version.is_some() || app_version.is_some();
    let mut files = BTreeMap::new();
    for file in chart.raw.iter() {
        let is_metadata = &*file.name == "Chart.yaml";
        let content = if is_metadata && is_changed { metadata.to_yaml().into_bytes() } else { file.data.to_vec() };
        files.insert(format!("{name}/{}", file.name), content);
    }
    let archive = archive(&files).map_err(|error| {
        problem(&format!("chart {name}"), &format!("cannot archive it: {error}"), "shorten the paths of its files")
    })?;
    Ok(PackagedChart { file_name: format!("{name}-{}.tgz", metadata.version), archive })
}

#[cfg(test)]
mod tests {
    use fitout_helm_chart::{File, Warnings};

    use super::*;

    fn chart(ignored: &str) -> Chart {
        let files = vec![
            File::new("templates/a.yaml", "a: 1\n"),
            File::new("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0 # comment\n"),
            File::new(".helmignore", ignored),
            File::new("notes.tmp", "x"),
        ];
        Chart::from_directory(files, &mut Warnings::new()).unwrap()
    }

    #[test]
    fn equal_files_have_equal_archives() {
        let files: BTreeMap<String, Vec<u8>> = [("b/c".to_owned(), b"1".to_vec()), ("a".to_owned(), vec![])].into();
        assert_eq!(archive(&files).unwrap(), archive(&files.clone()).unwrap());
    }

    #[test]
    fn a_packaged_chart_is_the_chart() {
        let packaged = package_chart(&chart("*.tmp\n"), None, None).unwrap();
        assert_eq!(packaged.file_name, "web-1.0.0.tgz");
        let read = Chart::from_archive(&packaged.archive, &mut Warnings::new()).unwrap();
        let names: Vec<&str> = read.raw.iter().map(|file| &*file.name).collect();
        assert_eq!(names, [".helmignore", "Chart.yaml", "templates/a.yaml"]);
    }

    #[test]
    fn versions_are_written_to_the_metadata() {
        let packaged = package_chart(&chart(""), Some("2.0.0"), Some("v2")).unwrap();
        assert_eq!(packaged.file_name, "web-2.0.0.tgz");
        let read = Chart::from_archive(&packaged.archive, &mut Warnings::new()).unwrap();
        assert_eq!((read.metadata.version.as_str(), read.metadata.app_version.as_str()), ("2.0.0", "v2"));
        let wrong = package_chart(&chart(""), Some("new"), None).unwrap_err();
        assert_eq!(wrong.to_string(), "chart web: `new` is not a version; give three numbers, such as 1.2.3");
    }
}
