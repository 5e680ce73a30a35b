//! A provider of things that live in memory, written by hand over untyped values, and the mistakes it can make.

#![expect(dead_code, reason = "each test binary uses a part")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tf_provider::{
    ApplyRequest, Attribute, Block, Cty, DataSource, Diagnostic, Diagnostics, Function, FunctionError,
    IdentityAttribute, IdentitySchema, ImportRequest, NestedBlock, Nesting, Parameter, PlanRequest, PlanResponse,
    Provider, ReadRequest, Refinements, RequestCx, Resource, Schema, Shape, Signature, StateResponse, Type,
};
use value::AttributePath;

/// What this provider can do wrong; [`Mistake::None`] is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    PlanOverridesConfig,
    PlanDefaultsWithoutComputed,
    PlanForgetsConfigured,
    PlanEchoesSecret,
    PlanDiffersEachTime,
    PlanKeepsARandomPrivate,
    PlanReplacesOverNothing,
    PlanHasAnotherType,
    PlanDropsAPool,
    PlanLosesSightOfPools,
    PlanInventsTimeouts,
    PlanChangesItsMind,
    PlanForgetsToReplaceComputed,
    ApplyOverridesPlan,
    ApplyLeavesUnknown,
    ApplyBreaksAPromise,
    ApplyFails,
    ApplyFailsHalfway,
    ApplyPanics,
    ApplySaysNothing,
    DeleteKeeps,
    DeleteFails,
    ReadIsUnknown,
    ReadKeepsSecret,
    ReadHasAnotherType,
    ReadPanics,
    IdentityIsUnknown,
    IdentityChanges,
    WarningSaysNothing,
    ImportSaysNothing,
    DataIsUnknown,
    FunctionIsRandom,
}

/// What exists outside of every process.
pub(crate) type Cloud = Arc<Mutex<BTreeMap<String, Cty>>>;

#[derive(Clone)]
pub(crate) struct Things {
    pub(crate) cloud: Cloud,
    pub(crate) mistake: Mistake,
    pub(crate) calls: Arc<AtomicUsize>,
}

impl Things {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self { cloud: Cloud::default(), mistake, calls: Arc::default() }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn count(&self) -> i64 {
        i64::try_from(self.calls.fetch_add(1, Ordering::Relaxed)).unwrap_or(0)
    }

    fn cloud(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Cty>> {
        self.cloud.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attribute: flags are letters of "required, optional, computed, write-only, sensitive".
pub(crate) fn attribute(name: &str, flags: &str, shape: Shape) -> Attribute {
    Attribute {
        name: name.to_owned(),
        shape,
        description: format!("The {name} of the thing."),
        default: None,
        choices: Vec::new(),
        required: flags.contains('r'),
        optional: flags.contains('o'),
        computed: flags.contains('c'),
        sensitive: flags.contains('s'),
        write_only: flags.contains('w'),
        deprecated: None,
        replaces: false,
    }
}

pub(crate) fn thing_schema() -> Schema {
    let string = || Shape::Plain(Type::String);
    let pool = vec![attribute("label", "r", string()), attribute("arn", "c", string())];
    let timeouts = Block { attributes: vec![attribute("create", "o", string())], ..Block::default() };
    Schema {
        version: 1,
        block: Block {
            description: "A thing.".to_owned(),
            attributes: vec![
                attribute("name", "r", string()),
                attribute("size", "oc", Shape::Plain(Type::Number)),
                attribute("note", "o", string()),
                attribute("tags", "o", Shape::Plain(Type::map(Type::String))),
                attribute("secret", "ow", string()),
                attribute("pools", "o", Shape::Nested(Nesting::List, pool)),
                attribute("id", "c", string()),
            ],
            blocks: vec![NestedBlock { name: "timeouts".to_owned(), block: timeouts }],
            deprecated: None,
        },
    }
}

impl Provider for Things {
    fn schema(&self) -> Schema {
        let region = attribute("region", "o", Shape::Plain(Type::String));
        Schema { version: 0, block: Block { attributes: vec![region], ..Block::default() } }
    }

    fn validate(&self, _: &Cty) -> Diagnostics {
        Diagnostics::new()
    }

    fn configure<'a>(&'a self, cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let region = config.get("region").as_str().unwrap_or_default();
            if region == "nowhere" {
                let text = format!("Terraform {} asked for it.", cx.terraform_version);
                return Diagnostic::error(&AttributePath::new("region"), "No such region", text).into();
            }
            Diagnostics::new()
        })
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        vec![Arc::new(self.clone())]
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        vec![Arc::new(Count(self.clone()))]
    }

    fn functions(&self) -> Vec<Arc<dyn Function>> {
        vec![Arc::new(Join(self.clone()))]
    }
}

impl Resource for Things {
    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    fn schema(&self) -> Schema {
        thing_schema()
    }

    fn identity_schema(&self) -> IdentitySchema {
        let name = IdentityAttribute {
            name: "name".to_owned(),
            ty: Type::String,
            description: "The name.".to_owned(),
            required: true,
        };
        IdentitySchema { version: 0, attributes: vec![name] }
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        if self.makes(Mistake::WarningSaysNothing) {
            return Diagnostic::warning(&AttributePath::root(), "", "").into();
        }
        if config.get("name").as_str() == Some("bad") {
            let pools = AttributePath::new("pools").index(0).attribute("label");
            return Diagnostic::error(&pools, "Bad label", "It belongs to a bad thing.").into();
        }
        Diagnostics::new()
    }

    fn upgrade(&self, version: i64, raw: &RawValue) -> Result<Cty, Diagnostics> {
        assert_eq!(version, 0, "older versions only");
        let old: serde_json::Value = serde_json::from_str(raw.get()).map_err(|error| {
            Diagnostics::from(Diagnostic::error(&AttributePath::root(), "Bad state", error.to_string()))
        })?;
        let mut state = thing_schema().block.null_object();
        state.set("name", old["title"].as_str().unwrap_or_default().into());
        state.set("size", 1.into());
        state.set("secret", "must not survive".into());
        Ok(state)
    }

    fn read<'a>(&'a self, _: &'a RequestCx, request: ReadRequest) -> BoxFuture<'a, StateResponse> {
        Box::pin(async move {
            assert!(!self.makes(Mistake::ReadPanics), "reading went wrong");
            let found = self.cloud().get(request.state.get("name").as_str().unwrap_or_default()).cloned();
            let mut state = found.unwrap_or(Cty::Null);
            let mut identity = identity(&state);
            match self.mistake {
                Mistake::ReadIsUnknown => state.set("note", Cty::unknown()),
                Mistake::ReadKeepsSecret => state.set("secret", "s".into()),
                Mistake::ReadHasAnotherType => state.set("size", "big".into()),
                Mistake::IdentityIsUnknown => identity.set("name", Cty::unknown()),
                Mistake::IdentityChanges => identity.set("name", "other".into()),
                _ => {}
            }
            StateResponse { state, private: request.private, identity, diagnostics: Diagnostics::new() }
        })
    }

    fn plan<'a>(&'a self, _: &'a RequestCx, request: PlanRequest) -> BoxFuture<'a, PlanResponse> {
        Box::pin(async move {
            let mut planned = request.proposed.clone();
            if planned.is_null() {
                return PlanResponse { identity: request.identity, ..PlanResponse::default() };
            }
            let renamed = !request.prior.is_null() && request.prior.get("name") != planned.get("name");
            if request.prior.is_null() {
                planned.set("id", Cty::unknown());
                if self.makes(Mistake::ApplyBreaksAPromise) {
                    let id_prefix = Refinements(Arc::from(b"\x81\x02\xa3id-".as_slice()));
                    planned.set("id", Cty::Unknown(id_prefix));
                }
            }
            if planned.get("size").is_null() {
                planned.set("size", 1.into());
            }
            let pools = with_arns(planned.get("pools"), Cty::unknown);
            planned.set("pools", pools);
            let requires_replace = if renamed { vec![AttributePath::new("name")] } else { Vec::new() };
            let identity = identity(&planned);
            let mut response = PlanResponse {
                planned,
                requires_replace,
                private: request.private.clone(),
                identity,
                diagnostics: Diagnostics::new(),
            };
            self.spoil_plan(&request, &mut response);
            response
        })
    }

    fn apply<'a>(&'a self, cx: &'a RequestCx, request: ApplyRequest) -> BoxFuture<'a, StateResponse> {
        Box::pin(async move {
            assert!(!self.makes(Mistake::ApplyPanics), "applying went wrong");
            if request.planned.is_null() {
                return self.delete(&request);
            }
            let name = request.planned.get("name").as_str().unwrap_or_default().to_owned();
            if name == "slow" {
                cx.cancel.cancelled().await;
            }
            let mut state = request.planned.clone();
            if state.get("id").is_unknown() {
                state.set("id", format!("id-{name}").into());
            }
            let pools = with_arns(state.get("pools"), || "arn:pool".into());
            state.set("pools", pools);
            let mut response = StateResponse {
                identity: identity(&state),
                state,
                private: b"made".to_vec(),
                diagnostics: Diagnostics::new(),
            };
            self.spoil_apply(&mut response);
            if !response.state.is_null() {
                self.cloud().insert(name, response.state.clone());
            }
            response
        })
    }

    fn import<'a>(&'a self, _: &'a RequestCx, request: ImportRequest) -> BoxFuture<'a, StateResponse> {
        Box::pin(async move {
            let name = match request {
                ImportRequest::Id(id) => id.into(),
                ImportRequest::Identity(identity) => identity.get("name").clone(),
            };
            let mut state = thing_schema().block.null_object();
            state.set("name", name);
            let identity = identity(&state);
            if self.makes(Mistake::ImportSaysNothing) {
                state = Cty::Null;
            }
            StateResponse { state, private: Vec::new(), identity, diagnostics: Diagnostics::new() }
        })
    }
}

impl Things {
    fn spoil_plan(&self, request: &PlanRequest, response: &mut PlanResponse) {
        let planned = &mut response.planned;
        match self.mistake {
            Mistake::PlanOverridesConfig => planned.set("note", "mine".into()),
            Mistake::PlanDefaultsWithoutComputed => {
                planned.set("tags", Cty::Map(BTreeMap::from([("made".to_owned(), "by me".into())])));
            }
            Mistake::PlanForgetsConfigured => planned.set("note", Cty::Null),
            Mistake::PlanEchoesSecret => planned.set("secret", request.config.get("secret").clone()),
            Mistake::PlanDiffersEachTime => planned.set("size", self.count().into()),
            Mistake::PlanKeepsARandomPrivate => response.private = self.count().to_string().into_bytes(),
            Mistake::PlanReplacesOverNothing => {
                response.requires_replace.push(AttributePath::new("pools").index(7).attribute("label"));
            }
            Mistake::PlanHasAnotherType => planned.set("size", "big".into()),
            Mistake::PlanDropsAPool => planned.set("pools", Cty::List(Vec::new())),
            Mistake::PlanLosesSightOfPools => planned.set("pools", Cty::unknown()),
            Mistake::PlanInventsTimeouts => {
                planned.set("timeouts", Cty::object([("create", Cty::string("1h"))]));
            }
            Mistake::PlanChangesItsMind => planned.set("size", (1 + self.count() / 2).into()),
            _ => {}
        }
    }

    fn spoil_apply(&self, response: &mut StateResponse) {
        let failed = || Diagnostic::error(&AttributePath::root(), "Cannot make the thing", "It broke.");
        match self.mistake {
            Mistake::ApplyOverridesPlan => response.state.set("note", "theirs".into()),
            Mistake::ApplyLeavesUnknown => response.state.set("id", Cty::unknown()),
            Mistake::ApplyBreaksAPromise => response.state.set("id", "other".into()),
            Mistake::ApplySaysNothing => response.state = Cty::Null,
            Mistake::ApplyFails => {
                response.state = Cty::Null;
                response.diagnostics.push(failed());
            }
            Mistake::ApplyFailsHalfway => response.diagnostics.push(failed()),
            _ => {}
        }
    }

    fn delete(&self, request: &ApplyRequest) -> StateResponse {
        let mut response = StateResponse {
            state: Cty::Null,
            private: request.private.clone(),
            identity: Cty::Null,
            diagnostics: Diagnostics::new(),
        };
        if self.makes(Mistake::DeleteKeeps) {
            response.state = request.prior.clone();
        } else if self.makes(Mistake::DeleteFails) {
            response.state = request.prior.clone();
            response.diagnostics.push(Diagnostic::error(&AttributePath::root(), "Cannot delete", "It is in use."));
        } else {
            self.cloud().remove(request.prior.get("name").as_str().unwrap_or_default());
        }
        response
    }
}

fn identity(state: &Cty) -> Cty {
    if state.is_null() { Cty::Null } else { Cty::object([("name", state.get("name").clone())]) }
}

fn with_arns(pools: &Cty, arn: impl Fn() -> Cty) -> Cty {
    let Cty::List(pools) = pools else {
        return pools.clone();
    };
    let mut pools = pools.clone();
    for pool in &mut pools {
        if pool.get("arn").is_null() || pool.get("arn").is_unknown() {
            pool.set("arn", arn());
        }
    }
    Cty::List(pools)
}

struct Count(Things);

impl DataSource for Count {
    fn type_name(&self) -> &'static str {
        "test_count"
    }

    fn schema(&self) -> Schema {
        let count = attribute("count", "c", Shape::Plain(Type::Number));
        Schema { version: 0, block: Block { attributes: vec![count], ..Block::default() } }
    }

    fn validate(&self, _: &Cty) -> Diagnostics {
        Diagnostics::new()
    }

    fn read<'a>(&'a self, _: &'a RequestCx, mut config: Cty) -> BoxFuture<'a, (Cty, Diagnostics)> {
        Box::pin(async move {
            let count = i64::try_from(self.0.cloud().len()).unwrap_or(0);
            let unknown = self.0.makes(Mistake::DataIsUnknown);
            config.set("count", if unknown { Cty::unknown() } else { count.into() });
            (config, Diagnostics::new())
        })
    }
}

struct Join(Things);

impl Function for Join {
    fn name(&self) -> &'static str {
        "join"
    }

    fn signature(&self) -> Signature {
        let parameter = |name, nullable| Parameter { name, ty: Type::String, nullable, description: String::new() };
        Signature {
            summary: "Joins words".to_owned(),
            description: "Joins words.".to_owned(),
            parameters: vec![parameter("first", false)],
            variadic: Some(parameter("more", true)),
            result: Type::String,
        }
    }

    fn call(&self, arguments: Vec<Cty>) -> Result<Cty, FunctionError> {
        let words: Vec<_> = arguments.iter().map(|word| word.as_str().unwrap_or("nothing")).collect();
        match words.as_slice() {
            ["panic", ..] => unreachable!("a word too much"),
            ["fail", ..] => Err(FunctionError { text: "Not that word.".to_owned(), argument: Some(0) }),
            words if self.0.makes(Mistake::FunctionIsRandom) => Ok(format!("{words:?}{}", self.0.count()).into()),
            words => Ok(words.join(" ").into()),
        }
    }
}
