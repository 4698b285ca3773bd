//! No value and no text makes a format use more than it is worth: of the stack, of memory, of time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[allow(dead_code, unused_imports, reason = "only templates are run here")]
mod world;

use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use fitout_go_template::Value;
use world::World;

/// What a template makes of a value; on a stack that is as small as a thread's may be.
fn on_a_small_stack(template: &'static str, make: impl FnOnce() -> Value + Send + 'static) -> Result<usize, String> {
    let run = move || {
        let output = world::run(template, &[], &make(), &World::default());
        output.map(|text| text.len()).map_err(|error| error.to_string())
    };
    thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap()
}

fn nested(depth: usize) -> Value {
    let wrap = |value, level| if level % 2 == 0 { Value::list([value]) } else { Value::map([("a", value)]) };
    (0..depth).fold(Value::Nil, wrap)
}

#[test]
fn what_is_nested_deeply_is_written_or_refused() {
    let json = on_a_small_stack("{{toJson .}}", || nested(100_000));
    assert_eq!(json, Ok(50_000 * "[]".len() + 50_000 * "{\"a\":}".len() + "null".len()));
    let refusal = on_a_small_stack("{{mustToYaml .}}", || nested(100_000)).unwrap_err();
    assert!(refusal.ends_with("exceeded max depth of 10000"), "{refusal}");
    for template in ["{{toYaml .}}", "{{toYamlPretty .}}", "{{toToml .}}"] {
        // Refused as Go does it, or with an error of our own where Go would go on until its stack ends.
        let made = on_a_small_stack(template, || nested(100_000));
        assert!(made.is_err() || made.is_ok_and(|length| length < 100), "{template}");
    }
}

#[test]
fn what_holds_itself_ends() {
    const CIRCLE: &str = "{{$d := dict}}{{$_ := set $d \"a\" (list 1 $d)}}";
    for (function, ending) in [
        ("mustToJson", "json: unsupported value: encountered a cycle via map[string]interface {}"),
        ("mustToYaml", "json: unsupported value: encountered a cycle via map[string]interface {}"),
        ("toYamlPretty", "exceeded max depth of 10000"),
        ("mustToToml", "exceeded max depth of 1000"),
    ] {
        let template = Box::leak(format!("{CIRCLE}{{{{{function} $d}}}}").into_boxed_str());
        let refusal = on_a_small_stack(template, || Value::Nil).unwrap_err();
        assert!(refusal.ends_with(ending), "{function}: {refusal}");
    }
}

#[test]
fn texts_that_nest_without_end_are_refused() {
    let deep = |opening: &str| Value::string(opening.repeat(1_000_000));
    for (template, opening) in [
        ("{{fromJson .}}", "["),
        ("{{fromJson .}}", "{\"a\":"),
        ("{{fromYaml .}}", "["),
        ("{{fromYaml .}}", "{a: "),
        ("{{fromYaml .}}", "- "),
        ("{{fromYaml .}}", "? "),
        ("{{fromToml .}}", "a=["),
        ("{{fromToml .}}", "a={a="),
        ("{{fromToml .}}", "a."),
    ] {
        let begun = Instant::now();
        let length = on_a_small_stack(template, move || deep(opening)).unwrap();
        assert!(length < 20_000, "{template} of {opening}: {length} bytes");
        // Without optimisation, and beside other tests: what is meant is that it does not grow with the square.
        assert!(begun.elapsed() < Duration::from_secs(20), "{template} of {opening}: {:?}", begun.elapsed());
    }
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let before = format!("*a{}", level - 1);
        writeln!(text, "a{level}: &a{level} [{}]", vec![before; 9].join(", ")).unwrap();
    }
    let length = on_a_small_stack("{{fromYaml .}}", move || Value::string(text));
    assert_eq!(
        length,
        Ok("map[Error:error converting YAML to JSON: yaml: document contains excessive aliasing]".len())
    );
}

#[test]
fn time_grows_with_the_size_of_a_text() {
    let part = "- name: a\n  value: 'b c'\n  list: [1, 2, {d: \"e\\n\"}]\n  text: |\n    one\n    two\n  # a comment\n";
    let text = part.repeat(20_000);
    let length = on_a_small_stack("{{fromYamlArray . | toYaml | len}}", move || Value::string(text)).unwrap();
    assert_eq!(length, "1959999".len());
}
