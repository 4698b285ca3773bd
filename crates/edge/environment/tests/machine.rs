//! What the machine does by chance is within its bounds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod known;

use std::collections::BTreeSet;
use std::time::SystemTime;

use anyhow::Result;
use fitout_environment::HostEnvironment;
use fitout_go_template::Value;
use fitout_helm_functions::Environment;
use known::run;

fn print(text: &str) -> String {
    run(HostEnvironment, text, &Value::Nil).unwrap()
}

#[test]
fn random_texts_have_every_character_of_their_kind_and_no_other() {
    let of = |text: &str| print(text).chars().collect::<BTreeSet<_>>();
    let range = |from: char, to: char| (from..=to).collect::<BTreeSet<_>>();
    assert_eq!(of("{{randNumeric 5000}}"), range('0', '9'));
    assert_eq!(of("{{randAlpha 5000}}"), &range('a', 'z') | &range('A', 'Z'));
    assert_eq!(of("{{randAlphaNum 9000}}"), &(&range('a', 'z') | &range('A', 'Z')) | &range('0', '9'));
    assert_eq!(of("{{randAscii 9000}}"), range(' ', '~'));
}

#[test]
fn random_numbers_are_all_numbers_of_their_range() {
    let numbers: BTreeSet<i64> = (0..2000).map(|_| print("{{randInt -2 5}}").parse().unwrap()).collect();
    assert_eq!(numbers, (-2..5).collect());
}

#[test]
fn a_text_that_is_shuffled_has_the_same_characters() {
    let mut orders = BTreeSet::new();
    for _ in 0..500 {
        let shuffled = print("{{shuffle \"aé日\"}}");
        let mut sorted: Vec<char> = shuffled.chars().collect();
        sorted.sort_unstable();
        assert_eq!(sorted, ['a', 'é', '日']);
        orders.insert(shuffled);
    }
    assert_eq!(orders.len(), 6);
}

#[test]
fn identifiers_are_of_version_4_and_never_the_same() {
    let all: BTreeSet<_> = (0..100).map(|_| print("{{uuidv4}}")).collect();
    assert_eq!(all.len(), 100);
    for one in &all {
        assert_eq!((one.len(), &one[14..15]), (36, "4"), "{one}");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}

#[test]
fn the_clock_is_the_machines() -> Result<()> {
    let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map(|since| since.as_secs());
    let before = seconds(SystemTime::now())?;
    let now: u64 = print("{{now.Unix}}").parse()?;
    assert!((before..=seconds(SystemTime::now())?).contains(&now), "{now}");
    assert_eq!(print("{{ago now}}"), "0s");
    assert!(!HostEnvironment.zone().is_empty());
    Ok(())
}
