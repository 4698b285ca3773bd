//! Templates nest as deeply as Go lets them, and end where Go ends them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[allow(dead_code, unused_imports, reason = "there are no rows")]
mod world;

use std::thread;

use fitout_go_template::{Error, MissingKey, Text, Value};

fn run(text: &str) -> Result<Text, Error> {
    world::run(text, &[], &Value::Nil, MissingKey::Default)
}

/// On the stack of an ordinary thread: what is deeper than that has to be asked for.
fn on_a_small_stack(task: fn()) {
    thread::Builder::new().stack_size(512 << 10).spawn(task).unwrap().join().unwrap();
}

#[test]
fn parentheses_nest_ten_thousand_deep() {
    on_a_small_stack(|| {
        let nested = |depth| format!("{{{{{}1{}}}}}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(*run(&nested(10_000)).unwrap(), *b"1");
        let error = run(&nested(10_001)).unwrap_err();
        assert_eq!(error.to_string(), "template: t:1: max expression depth exceeded");
    });
}

#[test]
fn actions_nest_without_a_limit() {
    on_a_small_stack(|| {
        let nested = "{{if true}}{{with 1}}".repeat(50_000) + "x" + &"{{end}}".repeat(100_000);
        assert_eq!(*run(&nested).unwrap(), *b"x");
        let chain = "{{if false}}".to_owned() + &"{{else if false}}".repeat(100_000) + "{{else}}x{{end}}";
        assert_eq!(*run(&chain).unwrap(), *b"x");
    });
}

#[test]
fn an_error_shows_all_that_is_nested() {
    on_a_small_stack(|| {
        let nested = "{{template `none` ".to_owned() + &"(print ".repeat(9000) + &")".repeat(9000) + "}}";
        assert!(run(&nested).unwrap_err().to_string().len() > 60_000);
    });
}

#[test]
fn templates_that_call_themselves_end() {
    on_a_small_stack(|| {
        let error = run("{{define `a`}}{{if true}}{{template `a` .}}{{end}}{{end}}{{template `a`}}").unwrap_err();
        let expected =
            "template: t:1:36: executing \"a\" at <{{template \"a\" .}}>: exceeded maximum template depth (100000)";
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn functions_and_templates_call_each_other_deeply() {
    on_a_small_stack(|| {
        let text =
            "{{define `a`}}{{if lt . 3000}}{{include `a` (add . 1)}}{{else}}{{.}}{{end}}{{end}}{{include `a` 0}}";
        assert_eq!(*run(text).unwrap(), *b"3000");
        let failing = text.replace("{{.}}", "{{fail `end`}}");
        let error = run(&failing).unwrap_err();
        assert!(error.to_string().ends_with("executing \"a\" at <fail `end`>: error calling fail: end"));
        assert_eq!(error.template(), Some("t"));
        assert_eq!(error.cause().and_then(Error::template), Some("a"));
    });
}

#[test]
fn values_nest_deeply() {
    on_a_small_stack(|| {
        let text = "{{$x := list}}{{range 50000}}{{$x = list $x}}{{end}}{{len (print $x)}}";
        assert_eq!(*run(text).unwrap(), *b"100002");
    });
}

#[test]
fn a_map_that_holds_itself_is_not_printed() {
    on_a_small_stack(|| {
        let error = run("{{$x := dict `a` 1}}{{$y := set $x `x` $x}}{{$x}}").unwrap_err();
        let expected = "template: t:1:45: executing \"t\" at <{{$x}}>: the value is nested too deeply to be printed: \
                        does it hold itself?";
        assert_eq!(error.to_string(), expected);
        let error = run("{{$x := dict `a` 1}}{{$y := set $x `x` $x}}{{printf `%v` $x}}").unwrap_err();
        assert!(error.to_string().contains("error calling printf: the value is nested too deeply"), "{error}");
    });
}
