//! Certificates are those that Go makes, byte for byte, where key, time and random bytes are the same; and Go reads what
//! this machine makes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod known;

use anyhow::{Context, Result, ensure};
use fitout_environment::HostEnvironment;
use fitout_go_template::Value;
use fitout_helm_functions::{Environment, Replay};
use fitout_testkit::Oracle;
use known::{Known, run};
use serde_json::{Value as Json, json};
use x509_parser::pem::Pem;

const SEED: u64 = 5;

/// Go's output, or its reason.
fn go(oracle: &mut Oracle, text: &str, data: &Json) -> Result<Result<String, String>> {
    let question = json!({"op": "run", "text": text, "data": data, "missingkey": "zero", "seed": SEED});
    let answer = oracle.ask(&[question])?.remove(0);
    let field = |name: &str| answer[name].as_str().map(str::to_owned);
    field("text").map(Ok).or_else(|| field("error").map(Err)).context("an answer has one of two")
}

fn value(data: &Json) -> Value {
    match data {
        Json::String(text) => text.as_str().into(),
        Json::Number(number) => Value::int(number.as_i64().unwrap()),
        Json::Array(items) => Value::list(items.iter().map(value)),
        Json::Object(entries) => Value::map(entries.iter().map(|(key, item)| (key.as_str(), value(item)))),
        _ => Value::Nil,
    }
}

/// All certificates and keys in a text.
fn blocks(text: &str) -> Result<Vec<Pem>> {
    Pem::iter_from_buffer(text.as_bytes()).map(|block| Ok(block?)).collect()
}

/// When the certificates begin, if all do at the same second.
fn begin(blocks: &[Pem]) -> Result<Option<i64>> {
    let mut begins = Vec::new();
    for block in blocks.iter().filter(|block| block.label == "CERTIFICATE") {
        begins.push(block.parse_x509()?.validity().not_before.timestamp());
    }
    begins.dedup();
    Ok(if let [only] = begins[..] { Some(only) } else { None })
}

/// What a signature vouches for: with some keys, no two signatures are the same.
fn content(block: &Pem) -> Result<Vec<u8>> {
    Ok(match block.label.as_str() {
        "CERTIFICATE" => block.parse_x509()?.tbs_certificate.as_ref().to_vec(),
        _ => block.contents.clone(),
    })
}

const TEMPLATES: [&str; 4] = [
    "{{$c := genCAWithKey .n .d .key}}{{$c.Cert}}{{$c.Key}}",
    "{{$c := genSelfSignedCertWithKey .n .a .h .d .key}}{{$c.Cert}}{{$c.Key}}",
    "{{$ca := genCAWithKey \"the-ca\" 3650 .ca}}{{$c := genSignedCertWithKey .n .a .h .d $ca .key}}{{$ca.Cert}}{{$c.Cert}}{{$c.Key}}",
    "{{$ca := genCAWithKey .n 3650 .ca}}{{$c := genSignedCertWithKey .n .a .h .d $ca .key}}{{$ca.Cert}}{{$c.Cert}}{{$c.Key}}",
];

#[test]
fn certificates_are_those_that_go_makes() -> Result<()> {
    let mut oracle = Oracle::start("oracle-functions")?;
    let key = |kind: &str| HostEnvironment.private_key(kind).unwrap();
    // A key in PKCS#8 is written as Go writes its kind.
    let keys = [key("rsa"), key("ecdsa"), key("ed25519")];
    let hosts = [
        ("plain", json!([]), json!([]), 365),
        ("it is, (so) 'printable'", json!(["10.0.0.1", "::1", "::ffff:1.2.3.4"]), json!(["a.example", "*.b"]), 1),
        ("*.star&.é", json!(["fe80::1"]), json!([]), 40_000),
        ("", json!([]), json!(["only.a.host"]), -5),
        ("long", json!([]), json!((0..60).map(|n| format!("host-{n}.example")).collect::<Vec<_>>()), 100_000),
    ];
    let mut compared = 0;
    for (place, key) in keys.iter().enumerate() {
        let ca = &keys[(place + 1) % keys.len()];
        for (name, addresses, names, days) in &hosts {
            let data = json!({"n": name, "a": addresses, "h": names, "d": days, "key": key, "ca": ca});
            for template in TEMPLATES {
                compared += compare(&mut oracle, template, &data)?;
            }
        }
    }
    ensure!(compared > 100, "only {compared} blocks were compared");
    Ok(())
}

fn compare(oracle: &mut Oracle, template: &str, data: &Json) -> Result<usize> {
    loop {
        let theirs = go(oracle, template, data)?.map_err(anyhow::Error::msg)?;
        let theirs = blocks(&theirs)?;
        // A second may have passed between two of them.
        let Some(now) = begin(&theirs)? else { continue };
        let world = Known { stream: Replay::new(SEED), now };
        let ours = blocks(&run(world, template, &value(data))?)?;
        assert_eq!(ours.len(), theirs.len(), "{template} {data}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours.label, theirs.label, "{template} {data}");
            assert_eq!(content(ours)?, content(theirs)?, "{template} {data}");
            let signed_at_random = theirs.label == "CERTIFICATE"
                && theirs.parse_x509()?.signature_algorithm.algorithm.to_id_string() == "1.2.840.10045.4.3.2";
            assert!(signed_at_random || ours.contents == theirs.contents, "{template} {data}");
        }
        return Ok(theirs.len());
    }
}

#[test]
fn what_is_wrong_with_a_certificate_is_said_as_go_says_it() -> Result<()> {
    let mut oracle = Oracle::start("oracle-functions")?;
    let (one, other, dsa) = (
        HostEnvironment.private_key("ed25519"),
        HostEnvironment.private_key("ecdsa"),
        HostEnvironment.private_key("dsa"),
    );
    let data = json!({"one": one.unwrap(), "other": other.unwrap(), "dsa": dsa.unwrap()});
    for template in [
        "{{genCAWithKey \"n\" 1 \"x\"}}",
        "{{genCAWithKey \"n\" 1 (.one | replace \"PRIVATE KEY\" \"CERTIFICATE\")}}",
        "{{genCAWithKey \"n\" 1 (.one | replace \"PRIVATE KEY\" \"FOO PRIVATE KEY\")}}",
        "{{genCAWithKey \"n\" 1 .dsa}}",
        "{{$ca := genCAWithKey \"ca\" 1 .one}}{{genSignedCertWithKey \"n\" nil nil 1 $ca .dsa}}",
        "{{$ca := buildCustomCert (b64enc (genCAWithKey \"ca\" 1 .one).Cert) (b64enc .other)}}{{genSignedCertWithKey \"n\" nil nil 1 $ca .one}}",
        "{{genSelfSignedCertWithKey \"n\" nil (list \"é\") 1 .one}}",
        "{{genSelfSignedCertWithKey \"n\" (list \"x\") nil 1 \"y\"}}",
        "{{genSelfSignedCertWithKey \"n\" (list \"x\") nil 1 .one}}",
        "{{buildCustomCert (b64enc \"x\") (b64enc .one)}}",
        "{{buildCustomCert (b64enc (genCAWithKey \"ca\" 1 .one).Cert) (b64enc \"x\")}}",
        "{{buildCustomCert (b64enc \"-----BEGIN CERTIFICATE-----\\neA==\\n-----END CERTIFICATE-----\") (b64enc .one)}}",
    ] {
        let theirs = go(&mut oracle, template, &data)?;
        let ours = run(HostEnvironment, template, &value(&data)).map_err(|error| error.to_string());
        ensure!(theirs.is_err(), "Go has no objection to {template}");
        assert_eq!(ours, theirs, "{template}");
    }
    Ok(())
}

#[test]
fn go_reads_what_this_machine_makes() -> Result<()> {
    let mut oracle = Oracle::start("oracle-functions")?;
    for kind in ["", "rsa", "ecdsa", "ed25519"] {
        let key = HostEnvironment.private_key(kind).unwrap();
        let read = go(&mut oracle, "{{(genCAWithKey \"n\" 1 .key).Key}}", &json!({"key": key}))?;
        assert_eq!(read, Ok(key), "{kind}");
    }
    let key = HostEnvironment.private_key("dsa").unwrap();
    let read = go(&mut oracle, "{{genCAWithKey \"n\" 1 .key}}", &json!({"key": key}))?;
    assert!(read.unwrap_err().ends_with("does not implement crypto.Signer"));
    // An authority of ours, by which Go signs: it looks whether key and certificate belong together.
    let made = "{{$ca := genCA \"ca\" 10}}{{$c := genSignedCert \"n\" (list \"1.2.3.4\") (list \"h\") 5 $ca}}{{$s := genSelfSignedCert \"s\" nil nil 5}}";
    let list = made.to_owned() + "{{toJson (list $ca.Cert $ca.Key $c.Cert $c.Key $s.Cert $s.Key)}}";
    let made: Vec<String> = serde_json::from_str(&run(HostEnvironment, &list, &Value::Nil)?)?;
    for pair in made.chunks(2) {
        let data = json!({"c": pair[0], "k": pair[1]});
        let signed = go(
            &mut oracle,
            "{{$ca := buildCustomCert (b64enc .c) (b64enc .k)}}{{(genSignedCertWithKey \"x\" nil nil 1 $ca .k).Cert}}",
            &data,
        )?;
        assert!(signed.unwrap().starts_with("-----BEGIN CERTIFICATE-----\n"));
    }
    Ok(())
}
