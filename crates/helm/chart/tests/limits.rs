//! What is hostile is refused, or done, in time and with the stack there is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use fitout_go_template::{Map, Type};
use fitout_helm_chart::values::{UserValues, coalesce_values, load, strvals};
use fitout_helm_chart::{Chart, Error, File, Warnings, dependencies};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

const CHART: &str = "apiVersion: v2\nname: root\nversion: 1.0.0\n";

fn archive(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, data) in files {
        let mut header = Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, format!("root/{name}"), &data[..]).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn refused_in_time(bytes: &[u8]) -> Error {
    let begun = Instant::now();
    let error = Chart::from_archive(bytes, &mut Warnings::new()).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(1), "it took {:?}", begun.elapsed());
    error
}

const TOO_LARGE: &str = "unable to load chart archive: decompressed chart is larger than the maximum size 104857600";

#[test]
fn a_bomb_is_refused_in_time() {
    let zeros = (0..12).map(|number| (format!("files/{number}"), vec![0; 10 << 20]));
    let bomb = archive([("Chart.yaml".to_owned(), CHART.into())].into_iter().chain(zeros));
    assert!(bomb.len() < 1 << 20);
    assert_eq!(refused_in_time(&bomb).to_string(), TOO_LARGE);
}

#[test]
fn a_bomb_of_nothing_but_headers_is_refused_in_time() {
    let mut header = Header::new_gnu();
    header.set_path("root/a").unwrap();
    header.set_size(0);
    header.set_mode(0o644);
    header.set_cksum();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..300_000 {
        bomb.write_all(header.as_bytes()).unwrap();
    }
    assert_eq!(refused_in_time(&bomb.finish().unwrap()).to_string(), TOO_LARGE);
}

#[test]
fn a_file_that_claims_to_be_large_is_refused_before_it_is_read() {
    let mut header = Header::new_gnu();
    header.set_path("root/a").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(header.as_bytes()).unwrap();
    assert_eq!(refused_in_time(&bomb.finish().unwrap()).to_string(), TOO_LARGE);
}

/// On a stack that is small for what is done there.
fn on_a_small_stack<R: Send + 'static>(task: impl FnOnce() -> R + Send + 'static) -> R {
    thread::Builder::new().stack_size(256 << 10).spawn(task).unwrap().join().unwrap()
}

#[test]
fn lists_in_lists_may_be_as_deep_as_a_flag_is_long() {
    let items = on_a_small_stack(|| {
        let map = Map::of(Type::MAP, []);
        strvals::set(&format!("a{}=1", "[0]".repeat(100_000)), &map).unwrap();
        map.len()
    });
    assert_eq!(items, 1);
}

#[test]
fn values_may_nest_as_deeply_as_go_lets_them() {
    on_a_small_stack(|| {
        let deep = format!("a: {}1{}\n", "{a: ".repeat(9_000), "}".repeat(9_000));
        let files = vec![
            File::new(
                "Chart.yaml",
                format!("{CHART}annotations: {{}}\nx: {}\n", "[".repeat(9_000) + &"]".repeat(9_000)),
            ),
            File::new("values.yaml", deep.clone()),
        ];
        let mut chart = Chart::from_files(files, &mut Warnings::new()).unwrap();
        let user = load(deep.as_bytes()).unwrap();
        dependencies::process(&mut chart, &user, &mut Warnings::new()).unwrap();
        coalesce_values(&chart, &user, &mut Warnings::new()).unwrap();
        let json = format!("{}1{}", "{\"a\":".repeat(9_000), "}".repeat(9_000));
        let flags = UserValues { set_json: vec![json], ..UserValues::default() };
        flags.merged(&mut |_| Err("no file".to_owned())).unwrap();
    });
}

#[test]
fn what_is_imported_into_itself_is_refused() {
    let declared = "dependencies: [{name: sub, import-values: [data, {child: exports.data, parent: a.b}]}]\n";
    let files = vec![
        File::new("Chart.yaml", format!("{CHART}{declared}").replace("{name: sub", "{name: sub, version: '*'")),
        File::new("charts/sub/Chart.yaml", CHART.replace("root", "sub")),
        File::new("charts/sub/values.yaml", "exports: {data: {a: {c: 1}}}\n"),
    ];
    let mut chart = Chart::from_files(files, &mut Warnings::new()).unwrap();
    let error = dependencies::process(&mut chart, &Map::of(Type::MAP, []), &mut Warnings::new()).unwrap_err();
    assert_eq!(error.to_string(), "values contain themselves: a chart imports values into what they come from");
}

#[test]
fn a_directory_is_loaded_in_the_order_in_which_it_is_walked_and_without_what_it_ignores() {
    let names = [
        "templates/a.yaml",
        "templates/a/b.yaml",
        "templates/.hidden",
        "b.txt",
        "secret/x/y",
        "docs/a.md",
        "templates/a-b.yaml",
    ];
    let mut files: Vec<_> = names.into_iter().map(|name| File::new(name, "")).collect();
    files.push(File::new("Chart.yaml", format!("\u{feff}{CHART}")));
    files.push(File::new(".helmignore", "secret/\n*.md\n"));
    let chart = Chart::from_directory(files, &mut Warnings::new()).unwrap();
    let names = |files: &[File]| files.iter().map(|file| file.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&chart.templates), ["templates/a/b.yaml", "templates/a-b.yaml", "templates/a.yaml"]);
    assert_eq!(names(&chart.files), [".helmignore", "b.txt"]);
}

/// A chart with so many declared subcharts, each with values and globals of its own.
fn broad(count: usize) -> Vec<File> {
    let declared: Vec<_> = (0..count)
        .map(|number| format!("{{name: sub{number}, version: '*', condition: sub{number}.enabled}}"))
        .collect();
    let mut files = vec![
        File::new("Chart.yaml", format!("{CHART}dependencies: [{}]\n", declared.join(", "))),
        File::new("values.yaml", "global: {a: {b: {c: 1}}, d: x}\ntags: {x: true}\n"),
    ];
    for number in 0..count {
        let table: Vec<_> = (0..20).map(|key| format!("key{key}: {{a: {key}, b: [1, {{c: d}}], e: null}}\n")).collect();
        files.push(File::new(format!("charts/sub{number}/Chart.yaml"), CHART.replace("root", &format!("sub{number}"))));
        files.push(File::new(format!("charts/sub{number}/values.yaml"), table.concat()));
    }
    files
}

fn work(files: &[File]) -> Duration {
    let begun = Instant::now();
    let mut chart = Chart::from_files(files.to_vec(), &mut Warnings::new()).unwrap();
    let user = load(b"sub1: {key1: {a: null}}\nglobal: {z: {y: 1}}\n").unwrap();
    dependencies::process(&mut chart, &user, &mut Warnings::new()).unwrap();
    coalesce_values(&chart, &user, &mut Warnings::new()).unwrap();
    begun.elapsed()
}

#[test]
fn twice_the_subcharts_cost_about_twice() {
    let (few, many) = (broad(50), broad(100));
    // Others are on the machine: what it costs is the least of what it took, each in turn.
    let (mut half, mut whole) = (work(&few), work(&many));
    for round in 1..40 {
        (half, whole) = (half.min(work(&few)), whole.min(work(&many)));
        if round >= 4 && whole.as_secs_f64() <= 2.2 * half.as_secs_f64() {
            println!("50 and 100 subcharts: {half:?}, {whole:?}");
            return;
        }
    }
    panic!("it grows too fast: {half:?}, {whole:?}");
}

#[test]
fn values_of_a_hundred_megabytes_are_refused_at_once() {
    let text = "key: value\n".repeat(100 << 20 >> 3);
    let begin = std::time::Instant::now();
    let refused = fitout_helm_chart::values::load(text.as_bytes()).unwrap_err().to_string();
    assert!(begin.elapsed().as_secs_f64() < 1.0, "{:?}", begin.elapsed());
    assert!(refused.contains("at most 16777216 are read"), "{refused}");
}
