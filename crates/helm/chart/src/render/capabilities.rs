//! What templates are told of the cluster.

use std::rc::Rc;
use std::sync::Arc;

use fitout_go_template::{Fields, Function, Host, List, Shape, Text, Type, Value};

use super::version::KubeVersion;

/// What a cluster can do.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Its Kubernetes version.
    pub kube_version: KubeVersion,
    /// The API versions that it serves, such as `apps/v1`, and kinds of these, such as `apps/v1/Deployment`.
    pub api_versions: Arc<[String]>,
}

/// The version of Helm whose behaviour this is.
pub const HELM_VERSION: &str = "v4.3.1";

/// What Helm was built with, which templates may ask for.
const GO_VERSION: &str = "go1.26.8";
const KUBE_CLIENT_VERSION: &str = "v1.37";

/// What Helm takes for granted where it knows no cluster.
const KNOWN: [&str; 57] = [
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

impl Capabilities {
    /// What Helm takes for granted where it knows no cluster, at this version of Kubernetes.
    pub fn assumed(kube_version: KubeVersion) -> Self {
        Self { kube_version, api_versions: KNOWN.map(str::to_owned).into() }
    }

    /// Capabilities as templates see them.
    pub(crate) fn value(&self) -> Value {
        let versions = self.api_versions.iter().map(|version| Value::string(version.as_str())).collect();
        let versions = Rc::new(List::of(Type::STRINGS, versions));
        Value::Host(Rc::new(Seen {
            kube_version: Value::Host(Rc::new(self.kube_version.clone())),
            api_versions: Value::Host(Rc::new(Versions(versions))),
            helm_version: Value::Host(Rc::new(Build)),
        }))
    }
}

#[derive(Debug)]
struct Seen {
    kube_version: Value,
    api_versions: Value,
    helm_version: Value,
}

impl Host for Seen {
    fn type_name(&self) -> &'static str {
        "*common.Capabilities"
    }

    fn shape(&self) -> Shape {
        Shape::Pointer(vec![
            ("KubeVersion", self.kube_version.clone()),
            ("APIVersions", self.api_versions.clone()),
            ("HelmVersion", self.helm_version.clone()),
        ])
    }
}

/// A method without arguments.
fn getter(text: &str) -> Rc<Function> {
    let text = Text::from(text);
    Function::plain(&[], Type::String, move |_, _| Value::String(text.clone()))
}

impl Host for KubeVersion {
    fn type_name(&self) -> &'static str {
        "common.KubeVersion"
    }

    fn shape(&self) -> Shape {
        let field = |text: &str| Value::string(text);
        Shape::Struct(vec![
            ("Version", field(&self.version)),
            ("normalizedVersion", field(&self.normalized)),
            ("Major", field(&self.major)),
            ("Minor", field(&self.minor)),
        ])
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        match name {
            b"String" => Some(getter(&self.normalized)),
            b"GitVersion" => Some(getter(&self.version)),
            _ => None,
        }
    }

    fn field(&self, name: &[u8]) -> Option<fitout_go_template::Field> {
        let value = match name {
            b"Version" => &self.version,
            b"Major" => &self.major,
            b"Minor" => &self.minor,
            _ => return None,
        };
        Some(fitout_go_template::Field { value: Value::string(value.as_str()), any: false })
    }

    fn text(&self) -> Option<Text> {
        Some(self.normalized.as_str().into())
    }
}

#[derive(Debug)]
struct Versions(Rc<List>);

impl Host for Versions {
    fn type_name(&self) -> &'static str {
        "common.VersionSet"
    }

    fn shape(&self) -> Shape {
        Shape::Like(Value::List(Rc::clone(&self.0)))
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let versions = Rc::clone(&self.0);
        (name == b"Has").then(|| {
            Function::plain(&[Type::String], Type::Bool, move |_, arguments| {
                let Value::String(asked) = &arguments[0] else { return Value::Bool(false) };
                let has = |version: &Value| matches!(version, Value::String(version) if version == asked);
                Value::Bool(versions.items().iter().any(has))
            })
        })
    }

    fn like(&self, value: &Value) -> Option<Value> {
        match value {
            Value::List(list) => Some(Value::Host(Rc::new(Self(Rc::clone(list))))),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Build;

impl Host for Build {
    fn type_name(&self) -> &'static str {
        "version.BuildInfo"
    }

    fn shape(&self) -> Shape {
        let fields: Fields = vec![
            ("Version", HELM_VERSION.into()),
            ("GitCommit", "".into()),
            ("GitTreeState", "".into()),
            ("GoVersion", GO_VERSION.into()),
            ("KubeClientVersion", KUBE_CLIENT_VERSION.into()),
        ];
        Shape::Struct(fields)
    }
}
