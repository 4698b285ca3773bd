//! Certificates equal those of Go byte for byte, for the same key, time and random bytes; and Go parses our keys and
//! certificates.

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

/// Go's output, or its error.
fn go(oracle: &mut Oracle, text: &str, data: &Json) -> Result<Result<String, String>> {
    let request = json!({"op": "run", "text": text, "data": data, "missingkey": "zero", "seed": SEED});
    let response = oracle.ask(&[request])?.remove(0);
    let field = |name: &str| response[name].as_str().map(str::to_owned);
    field("text").map(Ok).or_else(|| field("error").map(Err)).context("a response has a text or an error")
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

/// The `notBefore` of the certificates, if it is the same for all.
fn not_before(blocks: &[Pem]) -> Result<Option<i64>> {
    let mut times = Vec::new();
    for block in blocks.iter().filter(|block| block.label == "CERTIFICATE") {
        times.push(block.parse_x509()?.validity().not_before.timestamp());
    }
    times.dedup();
    Ok(if let [only] = times[..] { Some(only) } else { None })
}

/// The signed content: signatures of some kinds of keys are random.
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
fn certificates_equal_those_of_go() -> Result<()> {
    let mut oracle = Oracle::start("oracle-functions")?;
    let key = |kind: &str| HostEnvironment.private_key(kind).unwrap();
    // Go encodes a key in PKCS#8 by its kind.
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
        // A second may have passed between two certificates.
        let Some(now) = not_before(&theirs)? else { continue };
        let environment = Known { stream: Replay::new(SEED), now };
        let ours = blocks(&run(environment, template, &value(data))?)?;
        assert_eq!(ours.len(), theirs.len(), "{template} {data}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours.label, theirs.label, "{template} {data}");
            assert_eq!(content(ours)?, content(theirs)?, "{template} {data}");
            let has_random_signature = theirs.label == "CERTIFICATE"
                && theirs.parse_x509()?.signature_algorithm.algorithm.to_id_string() == "1.2.840.10045.4.3.2";
            assert!(has_random_signature || ours.contents == theirs.contents, "{template} {data}");
        }
        return Ok(theirs.len());
    }
}

#[test]
fn certificate_errors_equal_those_of_go() -> Result<()> {
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
        ensure!(theirs.is_err(), "Go accepts {template}");
        assert_eq!(ours, theirs, "{template}");
    }
    Ok(())
}

#[test]
fn go_parses_our_keys_and_certificates() -> Result<()> {
    let mut oracle = Oracle::start("oracle-functions")?;
    for kind in ["", "rsa", "ecdsa", "ed25519"] {
        let key = HostEnvironment.private_key(kind).unwrap();
        let read = go(&mut oracle, "{{(genCAWithKey \"n\" 1 .key).Key}}", &json!({"key": key}))?;
        assert_eq!(read, Ok(key), "{kind}");
    }
    let key = HostEnvironment.private_key("dsa").unwrap();
    let read = go(&mut oracle, "{{genCAWithKey \"n\" 1 .key}}", &json!({"key": key}))?;
    assert!(read.unwrap_err().ends_with("does not implement crypto.Signer"));
    // Go signs with our authority, and verifies that its key and certificate belong together.
    let create = "{{$ca := genCA \"ca\" 10}}{{$c := genSignedCert \"n\" (list \"1.2.3.4\") (list \"h\") 5 $ca}}{{$s := genSelfSignedCert \"s\" nil nil 5}}";
    let list = create.to_owned() + "{{toJson (list $ca.Cert $ca.Key $c.Cert $c.Key $s.Cert $s.Key)}}";
    let created: Vec<String> = serde_json::from_str(&run(HostEnvironment, &list, &Value::Nil)?)?;
    for pair in created.chunks(2) {
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
