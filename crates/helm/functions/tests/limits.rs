//! What has no end in Go ends here with a sentence, and what nests deeply needs no deep stack.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod world;

use std::thread;

use fitout_go_template::Value;
use world::World;

/// What a template makes of nothing on a small stack, or why it fails.
fn run(text: &'static str) -> Result<String, String> {
    let run = move || {
        let output = world::run(text, &[], &Value::Nil, &World::default());
        output.map(|text| text.to_str().into_owned()).map_err(|error| error.to_string())
    };
    thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap()
}

fn refused(text: &'static str, reason: &str) {
    let message = run(text).unwrap_err();
    assert!(message.ends_with(reason), "{message}");
}

#[test]
fn what_nests_deeply_is_copied_compared_and_merged() {
    let nested = "{{$x := dict \"z\" 1}}{{range until 40000}}{{$x = dict \"a\" (list $x) \"b\" 1}}{{end}}\
        {{$y := deepCopy $x}}{{deepEqual $x $y}}{{$_ := merge $x $y}}{{$_ = mergeOverwrite $x $y}}{{has $x (list $y)}}";
    assert_eq!(run(nested), Ok("truetrue".to_owned()));
    let maps = "{{$x := dict \"z\" 1}}{{range until 90000}}{{$x = dict \"a\" $x}}{{end}}\
        {{$y := deepCopy $x}}{{$_ := merge $x $y}}{{$_ = mergeOverwrite $x $y}}{{deepEqual $x $y}}";
    assert_eq!(run(maps), Ok("true".to_owned()));
}

#[test]
fn what_holds_itself_is_refused() {
    refused("{{$x := dict}}{{$_ := set $x \"a\" $x}}{{$y := deepCopy $x}}", "copied: does it hold itself?");
    refused(
        "{{$x := dict}}{{$_ := set $x \"a\" $x}}{{$y := dict}}{{$_ = set $y \"a\" $y}}{{$z := merge $x $y}}",
        "merged: does it hold itself?",
    );
    let compared = "{{$x := dict}}{{$_ := set $x \"a\" $x}}{{$y := dict}}{{$_ = set $y \"a\" $y}}{{deepEqual $x $y}}";
    assert_eq!(run(compared), Ok("true".to_owned()));
}

#[test]
fn what_would_take_all_memory_is_refused() {
    refused("{{until 9223372036854775807}}", "more than 10000000 numbers");
    refused("{{untilStep 0 1000000000000 1}}", "more than 10000000 numbers");
    refused("{{seq 1 1000000000000}}", "more than 10000000 numbers");
    refused("{{repeat 4000000000 \"ab\"}}", "longer than 268435456 bytes");
    refused("{{indent 4000000000 \"ab\"}}", "longer than 268435456 bytes");
    refused("{{indent 1000000 (repeat 1000 \"\\n\")}}", "longer than 268435456 bytes");
    refused("{{replace \"a\" (repeat 1000000 \"b\") (repeat 1000 \"a\")}}", "longer than 268435456 bytes");
}

#[test]
fn patterns_are_forgotten_before_there_are_too_many() {
    let many = "{{range $i, $e := until 1000}}{{regexReplaceAll (printf \"^%d$\" $i) (toString $i) \"\"}}{{end}}";
    assert_eq!(run(many), Ok(String::new()));
}
