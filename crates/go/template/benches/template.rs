//! Templates like those of charts, against Go's own: parsing, and executing what is parsed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "../tests/oracle/mod.rs"]
#[allow(dead_code, reason = "only times are asked for")]
mod oracle;
#[path = "../tests/rows/mod.rs"]
#[allow(dead_code, reason = "there are no rows")]
mod rows;
#[path = "../tests/world/mod.rs"]
#[allow(dead_code, reason = "templates are run step by step")]
mod world;

use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fitout_go_template::{MissingKey, Set};
use rows::Question;
use serde_json::json;

/// How much faster than Go executing has to be, on the mean of all templates.
const BAR: f64 = 4.0;
/// How often each is done at a time, and how often in turn with Go; the best turn counts.
const TIMES: usize = 20;
const TURNS: usize = 60;

fn main() -> Result<()> {
    let mut oracle = oracle::start()?;
    println!("{:10} {:>12} {:>12} {:>6}   {:>12} {:>12} {:>6}", "", "parse Go", "ours", "", "execute Go", "ours", "");
    let mut ratios = Vec::new();
    for (name, question) in questions() {
        let (mut theirs, mut ours) = ([f64::MAX; 2], [f64::MAX; 2]);
        for _ in 0..TURNS {
            let answers = oracle.ask(&[question.to_json("time", TIMES)])?;
            let answer: [f64; 2] = serde_json::from_value(answers[0]["nanos"].clone())
                .with_context(|| format!("{name}: {}", answers[0]))?;
            let measured = measure(&question)?;
            for step in 0..2 {
                theirs[step] = theirs[step].min(answer[step] / 1000.0);
                ours[step] = ours[step].min(measured[step]);
            }
        }
        let [parse, execute] = [theirs[0] / ours[0], theirs[1] / ours[1]];
        println!(
            "{name:10} {:>9.1} us {:>9.1} us {parse:>5.1}x   {:>9.1} us {:>9.1} us {execute:>5.1}x",
            theirs[0], ours[0], theirs[1], ours[1]
        );
        ratios.push(execute);
    }
    let count = f64::from(u32::try_from(ratios.len())?);
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count).exp();
    println!("executing is {mean:.1} times as fast as in Go");
    ensure!(mean >= BAR, "it has to be {BAR} times as fast");
    Ok(())
}

/// Microseconds for parsing and for executing.
fn measure(question: &Question) -> Result<[f64; 2]> {
    let functions = Rc::new(world::functions());
    let parse = || {
        let set = Set::new("root", Rc::clone(&functions), MissingKey::Default);
        for (name, text) in &question.others {
            set.parse(name.as_str(), text.as_str())?;
        }
        set.parse("t", question.text.as_str())?;
        Ok::<_, fitout_go_template::Error>(set)
    };
    let micros = |began: Instant| began.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(TIMES).unwrap_or(1));
    let began = Instant::now();
    for _ in 0..TIMES {
        parse()?;
    }
    let parsing = micros(began);
    let (set, data) = (parse()?, world::decode(&question.data));
    let began = Instant::now();
    for _ in 0..TIMES {
        set.execute(b"t", &data)?;
    }
    Ok([parsing, micros(began)])
}

fn questions() -> Vec<(&'static str, Question)> {
    let question = |text: &str, others: &[(&str, &str)], data| Question {
        text: text.to_owned(),
        others: others.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
        data,
        missing_key: "default",
    };
    let items: Vec<_> =
        (0..100).map(|i| json!({"name": format!("item-{i}"), "port": 8000 + i, "on": i % 3 == 0})).collect();
    let values = json!({"Values": {"name": "web", "replicas": 3, "items": items, "labels": {"app": "web", "tier": "front"},
        "image": {"repository": "registry/web", "tag": "v1.2.3"}, "resources": {"cpu": "100m", "memory": "64Mi"}},
        "Release": {"Name": "rel", "Namespace": "ns"}});
    vec![
        ("loop", question(LOOP, &[], values.clone())),
        ("include", question(INCLUDE, &[("_helpers.tpl", HELPERS)], values.clone())),
        ("printf", question(PRINTF, &[], values.clone())),
        ("manifest", question(MANIFEST, &[("_helpers.tpl", HELPERS)], values)),
    ]
}

const LOOP: &str = r"items:
{{- range $i, $item := .Values.items }}
- name: {{ $item.name }}
  index: {{ $i }}
  {{- if .on }}
  port: {{ .port }}
  {{- else if eq .port 8001 }}
  port: first
  {{- end }}
{{- end }}
";

const INCLUDE: &str = r#"{{- range .Values.items }}
- {{ include "fullname" $ }}-{{ .name }}
  {{- template "labels" $ }}
{{- end }}
"#;

const HELPERS: &str = r#"{{/* Helpers. */}}
{{- define "fullname" -}}
{{- if .Values.fullnameOverride -}}{{ .Values.fullnameOverride }}{{- else -}}{{ printf "%s-%s" .Release.Name .Values.name }}{{- end -}}
{{- end -}}
{{- define "labels" }}
  app.kubernetes.io/name: {{ include "fullname" . }}
  {{- range $key, $value := .Values.labels }}
  {{ $key }}: {{ $value }}
  {{- end }}
{{- end -}}
"#;

const PRINTF: &str = r#"{{- range .Values.items }}
{{ printf "%-20s|%5d|%v|%q|%x" .name .port .on .name .port }}
{{- end }}
"#;

const MANIFEST: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels: {{- template "labels" . }}
spec:
  {{- if not .Values.autoscaling }}
  replicas: {{ .Values.replicas }}
  {{- end }}
  template:
    spec:
      containers:
      - name: {{ .Values.name }}
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        {{- with .Values.resources }}
        resources:
          requests: { cpu: {{ .cpu }}, memory: {{ .memory }} }
        {{- end }}
        {{- if and .Values.name (or .Values.none .Values.replicas) (eq .Release.Name "rel") }}
        ports:
        {{- range .Values.items }}
        {{- if and .on (gt .port 8050) }}
        - { name: {{ .name }}, containerPort: {{ .port }} }
        {{- end }}
        {{- end }}
        {{- end }}
"#;
