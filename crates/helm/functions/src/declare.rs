//! Declaring functions as Go declares them.

use fitout_go_template::{Error, Function, Functions, Signature, Type, Value};

/// Where functions are declared. The result's type comes last in each declaration, as in Go.
pub(crate) struct Declare<'f> {
    functions: &'f mut Functions,
}

impl<'f> Declare<'f> {
    pub(crate) fn new(functions: &'f mut Functions) -> Self {
        Self { functions }
    }

    /// `func(params) result`
    pub(crate) fn plain(
        &mut self,
        names: &[&str],
        params: &[Type],
        result: Type,
        body: impl Fn(&[Value]) -> Value + 'static,
    ) {
        self.declare(names, params, false, result, false, move |arguments| Ok(body(arguments)));
    }

    /// `func(params) (result, error)`
    pub(crate) fn fallible(
        &mut self,
        names: &[&str],
        params: &[Type],
        result: Type,
        body: impl Fn(&[Value]) -> Result<Value, Error> + 'static,
    ) {
        self.declare(names, params, false, result, true, body);
    }

    /// `func(params) result`, which panics where it fails: Go says the same of both when a template is executed.
    pub(crate) fn panicking(
        &mut self,
        names: &[&str],
        params: &[Type],
        result: Type,
        body: impl Fn(&[Value]) -> Result<Value, Error> + 'static,
    ) {
        self.declare(names, params, false, result, false, body);
    }

    /// `func(params, ...last) result`, which may panic.
    pub(crate) fn variadic(
        &mut self,
        names: &[&str],
        params: &[Type],
        result: Type,
        body: impl Fn(&[Value]) -> Result<Value, Error> + 'static,
    ) {
        self.declare(names, params, true, result, false, body);
    }

    /// `func(params, ...last) (result, error)`
    pub(crate) fn variadic_fallible(
        &mut self,
        names: &[&str],
        params: &[Type],
        result: Type,
        body: impl Fn(&[Value]) -> Result<Value, Error> + 'static,
    ) {
        self.declare(names, params, true, result, true, body);
    }

    fn declare(
        &mut self,
        names: &[&str],
        params: &[Type],
        variadic: bool,
        result: Type,
        fails: bool,
        body: impl Fn(&[Value]) -> Result<Value, Error> + 'static,
    ) {
        let signature = Signature { params: params.to_vec(), variadic, result, fails };
        let function = Function::new(signature, move |_, arguments| body(arguments));
        for name in names {
            self.functions.add(*name, function.clone());
        }
    }
}
