//! Random values and the clock of the host are within their bounds.

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
fn random_text_has_exactly_the_characters_of_its_kind() {
    let characters = |text: &str| print(text).chars().collect::<BTreeSet<_>>();
    let range = |from: char, to: char| (from..=to).collect::<BTreeSet<_>>();
    assert_eq!(characters("{{randNumeric 5000}}"), range('0', '9'));
    assert_eq!(characters("{{randAlpha 5000}}"), &range('a', 'z') | &range('A', 'Z'));
    assert_eq!(characters("{{randAlphaNum 9000}}"), &(&range('a', 'z') | &range('A', 'Z')) | &range('0', '9'));
    assert_eq!(characters("{{randAscii 9000}}"), range(' ', '~'));
}

#[test]
fn random_numbers_cover_their_range() {
    let numbers: BTreeSet<i64> = (0..2000).map(|_| print("{{randInt -2 5}}").parse().unwrap()).collect();
    assert_eq!(numbers, (-2..5).collect());
}

#[test]
fn shuffled_text_has_the_same_characters() {
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
fn uuids_are_unique_and_of_version_4() {
    let all: BTreeSet<_> = (0..100).map(|_| print("{{uuidv4}}")).collect();
    assert_eq!(all.len(), 100);
    for one in &all {
        assert_eq!((one.len(), &one[14..15]), (36, "4"), "{one}");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}

#[test]
fn clock_is_that_of_the_host() -> Result<()> {
    let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map(|since| since.as_secs());
    let before = seconds(SystemTime::now())?;
    let now: u64 = print("{{now.Unix}}").parse()?;
    assert!((before..=seconds(SystemTime::now())?).contains(&now), "{now}");
    assert_eq!(print("{{ago now}}"), "0s");
    assert!(!HostEnvironment.zone().is_empty());
    Ok(())
}
