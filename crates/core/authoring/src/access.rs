//! RBAC rules: merged into few, and compared right by right.

use std::collections::{BTreeMap, BTreeSet};

use fitout_model::AccessRule;

/// The verbs in the order in which definitions list them; others follow alphabetically.
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// A permission: one verb on one resource, or on one URL path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Right {
    target: Target,
    verb: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Resource {
        /// None for the whole cluster.
        namespace: Option<String>,
        group: String,
        resource: String,
        /// None for all names.
        name: Option<String>,
    },
    Url(String),
}

/// The same rights in few rules: sorted, without duplicates and without rules that another one contains.
pub(crate) fn merge_rules(rules: &[AccessRule]) -> Vec<AccessRule> {
    let all: BTreeSet<Right> = rules.iter().flat_map(rights).collect();
    let by_target = |rights: &BTreeSet<Right>| {
        let mut verbs: BTreeMap<Target, BTreeSet<String>> = BTreeMap::new();
        for right in rights {
            verbs.entry(right.target.clone()).or_default().insert(right.verb.clone());
        }
        verbs
    };
    let wide = by_target(&all);
    let all: BTreeSet<Right> = all.into_iter().filter(|right| !is_contained(right, &wide)).collect();
    grouped(by_target(&all))
}

/// Whether a wider right contains it: the same for the whole cluster, for all names or for all verbs.
fn is_contained(right: &Right, all: &BTreeMap<Target, BTreeSet<String>>) -> bool {
    let has = |target: &Target, own: bool| {
        all.get(target)
            .is_some_and(|verbs| (!own && verbs.contains(&right.verb)) || (right.verb != "*" && verbs.contains("*")))
    };
    let Target::Resource { namespace, group, resource, name } = &right.target else { return has(&right.target, true) };
    let namespaces = [Some(namespace.clone()), namespace.as_ref().map(|_| None)];
    let names = [Some(name.clone()), name.as_ref().map(|_| None)];
    namespaces.iter().flatten().any(|namespace| {
        names.iter().flatten().any(|name| {
            let target = Target::Resource {
                namespace: namespace.clone(),
                group: group.clone(),
                resource: resource.clone(),
                name: name.clone(),
            };
            has(&target, target == right.target)
        })
    })
}

/// The fields of a rule that targets must share to be in one rule: namespaces, group, names and verbs.
type Key = (Vec<String>, String, Vec<String>, Vec<String>);

/// Namespace, group, resource and verbs: targets that differ only in their names.
type Named = (Option<String>, String, String, Vec<String>);

/// Group, resource, names and verbs: targets that differ only in their namespaces.
type Placed = (String, String, Vec<String>, Vec<String>);

fn grouped(verbs: BTreeMap<Target, BTreeSet<String>>) -> Vec<AccessRule> {
    let mut urls: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    // One place first: the names of a resource with the same verbs, then the namespaces.
    let mut names: BTreeMap<Named, BTreeSet<Option<String>>> = BTreeMap::new();
    for (target, verbs) in verbs {
        let verbs = in_order(verbs);
        match target {
            Target::Url(url) => urls.entry(verbs).or_default().push(url),
            Target::Resource { namespace, group, resource, name } => {
                names.entry((namespace, group, resource, verbs)).or_default().insert(name);
            }
        }
    }
    let mut places: BTreeMap<Placed, BTreeSet<String>> = BTreeMap::new();
    for ((namespace, group, resource, verbs), names) in names {
        let (all, some): (Vec<_>, Vec<_>) = names.into_iter().partition(Option::is_none);
        let some: Vec<String> = some.into_iter().flatten().collect();
        let lists = [(!all.is_empty()).then(Vec::new), (!some.is_empty()).then_some(some)];
        for names in lists.into_iter().flatten() {
            let place = places.entry((group.clone(), resource.clone(), names, verbs.clone())).or_default();
            place.extend(namespace.clone());
        }
    }
    let mut rules: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    for ((group, resource, names, verbs), namespaces) in places {
        rules.entry((namespaces.into_iter().collect(), group, names, verbs)).or_default().push(resource);
    }
    let mut rules: Vec<AccessRule> = rules
        .into_iter()
        .map(|((namespaces, group, resource_names, verbs), resources)| AccessRule {
            api_groups: vec![group],
            resources,
            resource_names,
            verbs,
            namespaces,
            non_resource_urls: vec![],
        })
        .collect();
    rules.sort_by(|one, other| {
        let key = |rule: &AccessRule| {
            (rule.namespaces.clone(), rule.api_groups.clone(), rule.resources.clone(), rule.resource_names.clone())
        };
        key(one).cmp(&key(other))
    });
    rules.extend(urls.into_iter().map(|(verbs, urls)| AccessRule {
        non_resource_urls: urls,
        verbs,
        ..AccessRule::default()
    }));
    rules
}

pub(crate) fn in_order(verbs: BTreeSet<String>) -> Vec<String> {
    let mut verbs: Vec<String> = verbs.into_iter().collect();
    verbs.sort_by_key(|verb| VERBS.iter().position(|known| known == verb).unwrap_or(VERBS.len()));
    verbs
}

/// The rights of `used` that `declared` does not contain, in few rules.
pub(crate) fn uncovered(used: &[AccessRule], declared: &[AccessRule]) -> Vec<AccessRule> {
    let rights: BTreeSet<Right> = used.iter().flat_map(rights).collect();
    let left = rights.into_iter().filter(|right| !declared.iter().any(|rule| covers(rule, right)));
    let left: Vec<AccessRule> = left.map(as_rule).collect();
    merge_rules(&left)
}

/// A rule in words, such as `secrets: get, list in namespace web`.
pub(crate) fn describe(rule: &AccessRule) -> String {
    let group = rule.api_groups.first().filter(|group| !group.is_empty());
    let resources: Vec<String> = rule
        .resources
        .iter()
        .map(|resource| group.map_or_else(|| resource.clone(), |group| format!("{resource}.{group}")))
        .chain(rule.non_resource_urls.iter().cloned())
        .collect();
    let names = match rule.resource_names.as_slice() {
        [] => String::new(),
        names => format!(" named {}", names.join(", ")),
    };
    let place = match rule.namespaces.as_slice() {
        [] => "cluster-wide".to_owned(),
        [one] => format!("in namespace {one}"),
        many => format!("in namespaces {}", many.join(", ")),
    };
    format!("{}{names}: {} {place}", resources.join(", "), rule.verbs.join(", "))
}

/// Each of a list, or once none where the list is empty and means all.
fn each(list: &[String]) -> Vec<Option<String>> {
    if list.is_empty() { vec![None] } else { list.iter().cloned().map(Some).collect() }
}

fn rights(rule: &AccessRule) -> Vec<Right> {
    let mut targets: Vec<Target> = rule.non_resource_urls.iter().cloned().map(Target::Url).collect();
    let core = [String::new()];
    let groups = if rule.api_groups.is_empty() { &core[..] } else { &rule.api_groups };
    for namespace in each(&rule.namespaces) {
        for group in groups {
            for resource in &rule.resources {
                targets.extend(each(&rule.resource_names).into_iter().map(|name| Target::Resource {
                    namespace: namespace.clone(),
                    group: group.clone(),
                    resource: resource.clone(),
                    name,
                }));
            }
        }
    }
    let right = |target: &Target, verb: &String| Right { target: target.clone(), verb: verb.clone() };
    targets.iter().flat_map(|target| rule.verbs.iter().map(move |verb| right(target, verb))).collect()
}

fn as_rule(right: Right) -> AccessRule {
    let verbs = vec![right.verb];
    match right.target {
        Target::Url(url) => AccessRule { non_resource_urls: vec![url], verbs, ..AccessRule::default() },
        Target::Resource { namespace, group, resource, name } => AccessRule {
            api_groups: vec![group],
            resources: vec![resource],
            resource_names: name.into_iter().collect(),
            namespaces: namespace.into_iter().collect(),
            verbs,
            non_resource_urls: vec![],
        },
    }
}

fn covers(rule: &AccessRule, right: &Right) -> bool {
    let has = |list: &[String], one: &str| list.iter().any(|each| each == "*" || each == one);
    let within = |list: &[String], one: Option<&String>| list.is_empty() || one.is_some_and(|one| list.contains(one));
    if !has(&rule.verbs, &right.verb) {
        return false;
    }
    match &right.target {
        Target::Url(url) => rule
            .non_resource_urls
            .iter()
            .any(|known| known == url || known.strip_suffix('*').is_some_and(|beginning| url.starts_with(beginning))),
        Target::Resource { namespace, group, resource, name } => {
            let is_core = rule.api_groups.is_empty() && group.is_empty();
            within(&rule.namespaces, namespace.as_ref())
                && within(&rule.resource_names, name.as_ref())
                && (is_core || has(&rule.api_groups, group))
                && has(&rule.resources, resource)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(value: Value) -> Vec<AccessRule> {
        serde_json::from_value(value).unwrap()
    }

    fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
        json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
    }

    #[test]
    fn rules_with_the_same_verbs_become_one() {
        let given = rules(json!([
            rule(&["apps"], &["deployments"], &["watch", "get"]),
            rule(&["apps"], &["daemonsets"], &["get"]),
            rule(&["apps"], &["daemonsets"], &["watch", "escalate"]),
            rule(&["", "apps"], &["deployments"], &["get"]),
        ]));
        let expected = rules(json!([
            rule(&[""], &["deployments"], &["get"]),
            rule(&["apps"], &["daemonsets"], &["get", "watch", "escalate"]),
            rule(&["apps"], &["deployments"], &["get", "watch"]),
        ]));
        assert_eq!(merge_rules(&given), expected);
    }

    #[test]
    fn rules_that_a_wider_one_contains_disappear() {
        let given = rules(json!([
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"] },
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "delete"], "namespaces": ["a"] },
            { "apiGroups": [""], "resources": ["pods"], "resourceNames": ["x"], "verbs": ["list"] },
            { "apiGroups": ["b.c"], "resources": ["d"], "verbs": ["*", "get"] },
        ]));
        let expected = rules(json!([
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"] },
            { "apiGroups": ["b.c"], "resources": ["d"], "verbs": ["*"] },
            { "apiGroups": [""], "resources": ["pods"], "verbs": ["delete"], "namespaces": ["a"] },
        ]));
        assert_eq!(merge_rules(&given), expected);
    }

    #[test]
    fn merged_rules_have_the_same_rights() {
        let given = rules(json!([
            { "apiGroups": ["", "a"], "resources": ["x", "y"], "resourceNames": ["n", "m"], "verbs": ["get", "use"] },
            { "apiGroups": ["a"], "resources": ["x"], "verbs": ["list"], "namespaces": ["one", "two"] },
            { "nonResourceURLs": ["/metrics", "/healthz"], "verbs": ["get"] },
        ]));
        let merged = merge_rules(&given);
        assert_eq!(uncovered(&given, &merged), []);
        assert_eq!(uncovered(&merged, &given), []);
    }

    #[test]
    fn uncovered_rights_are_described() {
        let declared =
            rules(json!([{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "namespaces": ["a"] }]));
        let used = rules(json!([
            { "apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"], "namespaces": ["a"] },
            { "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"] },
            { "nonResourceURLs": ["/metrics"], "verbs": ["get"] },
        ]));
        let described: Vec<String> = uncovered(&used, &declared).iter().map(describe).collect();
        let expected =
            ["deployments.apps: get cluster-wide", "secrets: list in namespace a", "/metrics: get cluster-wide"];
        assert_eq!(described, expected);
    }
}
