//! The server, call by call: what it answers when something is wrong.

mod thing;

use std::sync::Arc;

use futures::StreamExt as _;
use tf_provider::{
    Cty, Type,
    codec::{from_msgpack, to_msgpack},
    server::Server,
    wire::proto::tfplugin6::{
        self as proto, Diagnostic, DynamicValue, ResourceIdentityData, apply_resource_change, attribute_path,
        call_function, configure_provider, diagnostic::Severity, generate_resource_config, get_metadata,
        get_provider_schema, get_resource_identity_schemas, import_resource_state, invoke_action, list_resource,
        move_resource_state, open_ephemeral_resource, plan_action, plan_resource_change,
        provider_server::Provider as _, read_resource, stop_provider, upgrade_resource_identity,
        upgrade_resource_state, validate_resource_config, validate_state_store_config,
    },
};
use thing::{Mistake, Things, thing_schema};
use tonic::Request;

const THING: &str = "test_thing";

fn server(mistake: Mistake) -> Server {
    Server::new(Things::new(mistake))
}

#[expect(clippy::unnecessary_wraps, reason = "as the messages want it")]
fn sent(value: &Cty) -> Option<DynamicValue> {
    Some(DynamicValue { msgpack: to_msgpack(value, &thing_schema().ty()), json: Vec::new() })
}

fn thing(name: &str) -> Cty {
    let mut thing = thing_schema().block.null_object();
    thing.set("name", name.into());
    thing
}

#[expect(clippy::unnecessary_wraps, reason = "as the messages want it")]
fn identity(name: &str) -> Option<ResourceIdentityData> {
    let ty = Type::Object([("name".to_owned(), Type::String)].into());
    let msgpack = to_msgpack(&Cty::object([("name", name)].map(|(key, value)| (key, value.into()))), &ty);
    Some(ResourceIdentityData { identity_data: Some(DynamicValue { msgpack, json: Vec::new() }) })
}

fn received(value: Option<&DynamicValue>) -> Cty {
    value.map_or(Cty::Null, |value| from_msgpack(&value.msgpack, &thing_schema().ty()).expect("it is a thing"))
}

/// The one error there must be.
fn error(diagnostics: &[Diagnostic]) -> &Diagnostic {
    let [one] = diagnostics else { unreachable!("one diagnostic, not {diagnostics:?}") };
    assert_eq!(one.severity(), Severity::Error);
    assert!(!one.summary.is_empty() && !one.detail.is_empty(), "{one:?}");
    one
}

fn steps(diagnostic: &Diagnostic) -> usize {
    diagnostic.attribute.as_ref().map_or(0, |path| path.steps.len())
}

#[tokio::test]
async fn a_panic_in_read_loses_nothing() {
    let request = read_resource::Request {
        type_name: THING.into(),
        current_state: sent(&thing("one")),
        private: b"record".to_vec(),
        current_identity: identity("one"),
        ..Default::default()
    };
    let asked = Request::new(request.clone());
    let answer = server(Mistake::ReadPanics).read_resource(asked).await.expect("no status").into_inner();
    assert!(error(&answer.diagnostics).detail.contains("reading went wrong"));
    assert_eq!((answer.new_state, answer.new_identity), (request.current_state, request.current_identity));
    assert_eq!(answer.private, b"record");
}

#[tokio::test]
async fn a_panic_in_apply_loses_nothing() {
    let mut planned = thing("one");
    planned.set("note", "new".into());
    let request = apply_resource_change::Request {
        type_name: THING.into(),
        prior_state: sent(&thing("one")),
        planned_state: sent(&planned),
        config: sent(&planned),
        planned_private: b"record".to_vec(),
        planned_identity: identity("one"),
        provider_meta: None,
    };
    let asked = Request::new(request.clone());
    let answer = server(Mistake::ApplyPanics).apply_resource_change(asked).await.expect("no status").into_inner();
    assert!(error(&answer.diagnostics).detail.contains("applying went wrong"));
    assert_eq!((answer.new_state, answer.new_identity), (request.prior_state, request.planned_identity));
    assert_eq!(answer.private, b"record");
}

#[tokio::test]
async fn a_panic_in_a_function_is_its_error() {
    let request = call_function::Request { name: "join".into(), arguments: vec![word("panic")] };
    let answer = server(Mistake::None).call_function(Request::new(request)).await.expect("no status").into_inner();
    assert!(answer.error.is_some_and(|error| error.text.contains("a word too much")));
}

#[tokio::test]
async fn stop_cancels_what_runs_and_nothing_that_comes_later() {
    let server = Arc::new(server(Mistake::None));
    let apply = |name: &str| apply_resource_change::Request {
        type_name: THING.into(),
        planned_state: sent(&thing(name)),
        config: sent(&thing(name)),
        ..Default::default()
    };
    let running = server.apply_resource_change(Request::new(apply("slow")));
    let stop = async {
        tokio::task::yield_now().await;
        server.stop_provider(Request::new(stop_provider::Request {})).await.expect("no status")
    };
    let (applied, stopped) = tokio::join!(running, stop);
    assert_eq!(stopped.into_inner().error, "");
    assert_eq!(received(applied.expect("no status").into_inner().new_state.as_ref()).get("name"), &"slow".into());

    let later = server.apply_resource_change(Request::new(apply("slow")));
    let patience = std::future::ready(());
    let ended_first = tokio::select! { biased; _ = later => "the call", () = patience => "our patience" };
    assert_eq!(ended_first, "our patience", "the later call is not cancelled");
}

#[tokio::test]
async fn write_only_values_are_refused_where_the_client_would_store_them() {
    let mut config = thing("one");
    config.set("secret", "s".into());
    for (allowed, complaints) in [(true, 0), (false, 1)] {
        let client_capabilities =
            Some(proto::ClientCapabilities { write_only_attributes_allowed: allowed, deferral_allowed: false });
        let request =
            validate_resource_config::Request { type_name: THING.into(), config: sent(&config), client_capabilities };
        let answer = server(Mistake::None).validate_resource_config(Request::new(request)).await.expect("no status");
        let diagnostics = answer.into_inner().diagnostics;
        assert_eq!(diagnostics.len(), complaints);
        if !allowed {
            assert_eq!(steps(error(&diagnostics)), 1);
        }
    }
}

#[tokio::test]
async fn what_is_required_cannot_be_null() {
    let pool = |label: Cty| Cty::List(vec![Cty::object([("label", label), ("arn", Cty::Null)])]);
    for (name, label, missing) in
        [(Cty::Null, Cty::unknown(), "`name`"), (Cty::unknown(), Cty::Null, "`pools[0].label`")]
    {
        let mut config = thing("one");
        config.set("name", name);
        config.set("pools", pool(label));
        let request = validate_resource_config::Request {
            type_name: THING.into(),
            config: sent(&config),
            client_capabilities: None,
        };
        let answer = server(Mistake::None).validate_resource_config(Request::new(request)).await.expect("no status");
        assert!(error(&answer.into_inner().diagnostics).summary.contains(missing));

        // What was unknown when it was validated is known now, and there is nothing.
        let request = plan_resource_change::Request {
            type_name: THING.into(),
            proposed_new_state: sent(&config),
            config: sent(&config),
            prior_private: b"record".to_vec(),
            ..Default::default()
        };
        let answer = server(Mistake::None).plan_resource_change(Request::new(request)).await.expect("no status");
        let answer = answer.into_inner();
        assert!(error(&answer.diagnostics).summary.contains(missing));
        assert_eq!(answer.planned_private, b"record");
    }
}

#[tokio::test]
async fn write_only_values_do_not_reach_a_plan() {
    let mut config = thing("one");
    config.set("secret", "s".into());
    let request = plan_resource_change::Request {
        type_name: THING.into(),
        proposed_new_state: sent(&config),
        config: sent(&config),
        ..Default::default()
    };
    let answer = server(Mistake::None).plan_resource_change(Request::new(request)).await.expect("no status");
    assert!(received(answer.into_inner().planned_state.as_ref()).get("secret").is_null());
}

#[tokio::test]
async fn a_planned_destruction_keeps_the_record() {
    let request = plan_resource_change::Request {
        type_name: THING.into(),
        prior_state: sent(&thing("one")),
        prior_private: b"record".to_vec(),
        prior_identity: identity("one"),
        ..Default::default()
    };
    let answer = server(Mistake::None).plan_resource_change(Request::new(request)).await.expect("no status");
    let answer = answer.into_inner();
    assert!(received(answer.planned_state.as_ref()).is_null());
    assert_eq!((answer.planned_private.as_slice(), answer.planned_identity), (b"record".as_slice(), identity("one")));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_told() {
    let request = read_resource::Request { type_name: "test_other".into(), ..Default::default() };
    let answer = server(Mistake::None).read_resource(Request::new(request)).await.expect("no status").into_inner();
    assert!(error(&answer.diagnostics).summary.contains("\"test_other\""));
}

#[tokio::test]
async fn what_cannot_be_read_is_told_with_its_place() {
    let msgpack = to_msgpack(
        &Cty::object([("name", Cty::from("one")), ("size", Cty::from("big"))]),
        &Type::Object([("name".to_owned(), Type::String), ("size".to_owned(), Type::String)].into()),
    );
    let config = Some(DynamicValue { msgpack, json: Vec::new() });
    let request = validate_resource_config::Request { type_name: THING.into(), config, client_capabilities: None };
    let answer = server(Mistake::None).validate_resource_config(Request::new(request)).await.expect("no status");
    error(&answer.into_inner().diagnostics);

    let raw_state = Some(proto::RawState { json: br#"{"name":"one","size":{}}"#.to_vec(), ..Default::default() });
    let request = upgrade_resource_state::Request { type_name: THING.into(), version: 1, raw_state };
    let answer = server(Mistake::None).upgrade_resource_state(Request::new(request)).await.expect("no status");
    assert_eq!(steps(error(&answer.into_inner().diagnostics)), 1);
}

#[tokio::test]
async fn a_diagnostic_names_the_attribute() {
    let mut config = thing("bad");
    config.set("pools", Cty::List(vec![Cty::object([("label", Cty::from("x")), ("arn", Cty::Null)])]));
    let request =
        validate_resource_config::Request { type_name: THING.into(), config: sent(&config), client_capabilities: None };
    let answer = server(Mistake::None).validate_resource_config(Request::new(request)).await.expect("no status");
    let diagnostics = answer.into_inner().diagnostics;
    let path = error(&diagnostics).attribute.as_ref().expect("it has a place");
    let first = path.steps.first().and_then(|step| step.selector.clone());
    assert_eq!(first, Some(attribute_path::step::Selector::AttributeName("pools".into())));
    // `pools[0]`: Terraform finds no source for what is inside an attribute's value.
    assert_eq!(path.steps.len(), 2);
}

#[tokio::test]
async fn states_of_other_times_are_refused_with_a_reason() {
    let flat = proto::RawState { flatmap: [("name".to_owned(), "one".to_owned())].into(), ..Default::default() };
    let newer = proto::RawState { json: b"{}".to_vec(), ..Default::default() };
    for (version, raw_state) in [(0, flat), (2, newer)] {
        let request = upgrade_resource_state::Request { type_name: THING.into(), version, raw_state: Some(raw_state) };
        let answer = server(Mistake::None).upgrade_resource_state(Request::new(request)).await.expect("no status");
        error(&answer.into_inner().diagnostics);
    }
}

#[tokio::test]
async fn a_state_from_before_identities_has_none() {
    let request = upgrade_resource_identity::Request { type_name: THING.into(), ..Default::default() };
    let answer = server(Mistake::None).upgrade_resource_identity(Request::new(request)).await.expect("no status");
    assert_eq!(answer.into_inner(), upgrade_resource_identity::Response::default());
}

#[tokio::test]
async fn an_import_takes_an_id_or_an_identity_and_not_both() {
    let import = |id: &str, identity| import_resource_state::Request {
        type_name: THING.into(),
        id: id.into(),
        identity,
        client_capabilities: None,
    };
    let server = server(Mistake::None);
    for request in [import("one", None), import("", identity("one"))] {
        let answer = server.import_resource_state(Request::new(request)).await.expect("no status").into_inner();
        let [one] = answer.imported_resources.as_slice() else { unreachable!("one stub") };
        assert_eq!((one.type_name.as_str(), one.identity.clone()), (THING, identity("one")));
    }
    for request in [import("one", identity("one")), import("", None)] {
        let answer = server.import_resource_state(Request::new(request)).await.expect("no status").into_inner();
        error(&answer.diagnostics);
        assert!(answer.imported_resources.is_empty());
    }
}

#[tokio::test]
async fn configuration_reaches_the_provider_with_terraforms_version() {
    let ty = Type::Object([("region".to_owned(), Type::String)].into());
    let msgpack = to_msgpack(&Cty::object([("region", Cty::from("nowhere"))]), &ty);
    let server = server(Mistake::None);
    for (config, complaints) in [(None, 0), (Some(DynamicValue { msgpack, json: Vec::new() }), 1)] {
        let request =
            configure_provider::Request { terraform_version: "1.14.0".into(), config, client_capabilities: None };
        let answer = server.configure_provider(Request::new(request)).await.expect("no status").into_inner();
        assert_eq!(answer.diagnostics.len(), complaints);
        assert!(answer.diagnostics.iter().all(|one| one.detail.contains("1.14.0")));
    }
}

fn word(word: &str) -> DynamicValue {
    DynamicValue { msgpack: to_msgpack(&word.into(), &Type::String), json: Vec::new() }
}

#[tokio::test]
async fn a_function_gets_the_arguments_it_allows() {
    let null = DynamicValue { msgpack: to_msgpack(&Cty::Null, &Type::String), json: Vec::new() };
    let unknown = DynamicValue { msgpack: to_msgpack(&Cty::unknown(), &Type::String), json: Vec::new() };
    let table = [
        ("join", vec![word("a"), null.clone()], Ok(Cty::from("a nothing"))),
        ("join", vec![word("a"), unknown], Ok(Cty::unknown())),
        ("join", vec![null], Err(Some(0))),
        ("join", vec![word("fail")], Err(Some(0))),
        ("join", vec![], Err(None)),
        ("split", vec![], Err(None)),
    ];
    for (name, arguments, expected) in table {
        let request = call_function::Request { name: name.into(), arguments: arguments.clone() };
        let answer = server(Mistake::None).call_function(Request::new(request)).await.expect("no status").into_inner();
        let result = answer.result.map(|value| from_msgpack(&value.msgpack, &Type::String).expect("it is text"));
        let result = result.ok_or_else(|| answer.error.expect("one of both").function_argument);
        assert_eq!(result, expected, "{name} {arguments:?}");
    }
}

#[tokio::test]
async fn schemas_are_complete() {
    let server = server(Mistake::None);
    let answer = server.get_provider_schema(Request::new(get_provider_schema::Request {})).await.expect("no status");
    let answer = answer.into_inner();
    let capabilities = answer.server_capabilities.expect("it has some");
    assert!(capabilities.plan_destroy && capabilities.get_provider_schema_optional && capabilities.move_resource_state);
    assert_eq!((answer.data_source_schemas.len(), answer.functions.len()), (1, 1));
    let schema = answer.resource_schemas.get(THING).expect("it is there");
    let block = schema.block.as_ref().expect("it has a block");
    assert_eq!((schema.version, block.block_types.len()), (1, 1));
    for attribute in &block.attributes {
        assert_ne!(attribute.r#type.is_empty(), attribute.nested_type.is_none(), "{}", attribute.name);
        assert_eq!(attribute.description_kind(), proto::StringKind::Markdown);
    }

    let request = Request::new(get_resource_identity_schemas::Request {});
    let identities = server.get_resource_identity_schemas(request).await.expect("no status").into_inner();
    let identity = identities.identity_schemas.get(THING).expect("it is there");
    assert!(identity.identity_attributes.iter().all(|one| one.required_for_import && !one.optional_for_import));

    let names = server.get_metadata(Request::new(get_metadata::Request {})).await.expect("no status").into_inner();
    assert_eq!((names.resources.len(), names.data_sources.len(), names.functions.len()), (1, 1, 1));
}

#[tokio::test]
async fn what_there_is_not_has_a_reason() {
    let server = server(Mistake::None);
    let name = || "test_none".to_owned();
    let mut told = vec![
        server
            .open_ephemeral_resource(Request::new(open_ephemeral_resource::Request {
                type_name: name(),
                ..Default::default()
            }))
            .await
            .map(|answer| answer.into_inner().diagnostics),
        server
            .plan_action(Request::new(plan_action::Request { action_type: name(), ..Default::default() }))
            .await
            .map(|answer| answer.into_inner().diagnostics),
        server
            .validate_state_store_config(Request::new(validate_state_store_config::Request {
                type_name: name(),
                config: None,
            }))
            .await
            .map(|answer| answer.into_inner().diagnostics),
        server
            .generate_resource_config(Request::new(generate_resource_config::Request {
                type_name: name(),
                state: None,
            }))
            .await
            .map(|answer| answer.into_inner().diagnostics),
        server
            .move_resource_state(Request::new(move_resource_state::Request {
                source_type_name: name(),
                target_type_name: THING.into(),
                ..Default::default()
            }))
            .await
            .map(|answer| answer.into_inner().diagnostics),
    ];
    let request = list_resource::Request { type_name: name(), ..Default::default() };
    let mut events = server.list_resource(Request::new(request)).await.expect("no status").into_inner();
    told.push(events.next().await.expect("one event").map(|event| event.diagnostic));
    let request = invoke_action::Request { action_type: name(), ..Default::default() };
    let mut events = server.invoke_action(Request::new(request)).await.expect("no status").into_inner();
    told.push(events.next().await.expect("one event").map(|event| match event.r#type {
        Some(invoke_action::event::Type::Completed(completed)) => completed.diagnostics,
        _ => Vec::new(),
    }));
    for diagnostics in told {
        assert!(error(&diagnostics.expect("no status")).detail.len() > 20);
    }
}
