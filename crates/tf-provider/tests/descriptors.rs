//! The compiled protocol against the table of names, types and numbers it was written from, both ways.

use prost::Message as _;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
    ServiceDescriptorProto,
    field_descriptor_proto::{Label, Type},
};
use std::collections::BTreeSet;
use tf_provider::wire::proto::DESCRIPTOR_SET;

const TABLE: &str = include_str!("fixtures/tfplugin6-fields.tsv");

#[test]
fn the_compiled_protocol_is_the_table_row_by_row() {
    let table: BTreeSet<String> = TABLE.lines().skip(1).map(str::to_owned).collect();
    assert_eq!(table.len(), 405);

    let compiled = compiled_rows();

    assert_eq!(table.difference(&compiled).collect::<Vec<_>>(), Vec::<&String>::new(), "in the table only");
    assert_eq!(compiled.difference(&table).collect::<Vec<_>>(), Vec::<&String>::new(), "compiled only");
}

fn compiled_rows() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(DESCRIPTOR_SET).expect("a descriptor set");
    let mut rows = BTreeSet::new();
    for file in set.file.iter().filter(|file| !file.package().starts_with("google.")) {
        file.message_type.iter().for_each(|message| message_rows(file.package(), message, &mut rows));
        file.enum_type.iter().for_each(|values| enum_rows(file.package(), values, &mut rows));
        file.service.iter().for_each(|service| service_rows(file.package(), service, &mut rows));
    }
    rows
}

fn message_rows(scope: &str, message: &DescriptorProto, rows: &mut BTreeSet<String>) {
    let name = format!("{scope}.{}", message.name());
    if message.field.is_empty() {
        rows.insert(format!("message_empty\t{name}\t\t\t\tno direct fields"));
    }
    rows.extend(message.field.iter().map(|field| field_row(&name, message, field)));
    for nested in message.nested_type.iter().filter(|nested| !is_map_entry(nested)) {
        message_rows(&name, nested, rows);
    }
    message.enum_type.iter().for_each(|values| enum_rows(&name, values, rows));
}

fn field_row(container: &str, message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let oneof = field.oneof_index.filter(|_| !field.proto3_optional());
    let oneof = oneof.and_then(|index| message.oneof_decl.get(usize::try_from(index).ok()?));
    let deprecated = field.options.as_ref().is_some_and(prost_types::FieldOptions::deprecated);
    let (kind, extra) = match oneof {
        Some(oneof) => ("oneof_field", format!("oneof={}", oneof.name())),
        None if deprecated => ("message_field", "[deprecated=true]".to_owned()),
        None => ("message_field", String::new()),
    };
    format!("{kind}\t{container}\t{}\t{}\t{}\t{extra}", field.name(), type_of(message, field), field.number())
}

fn type_of(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let name = type_name(field);
    let entry = message
        .nested_type
        .iter()
        .find(|nested| is_map_entry(nested) && name.ends_with(&format!(".{}", nested.name())));
    if let Some([key, value]) = entry.map(|entry| entry.field.as_slice()) {
        return format!("map<{},{}>", type_name(key), type_name(value));
    }
    match field.label() {
        Label::Repeated => format!("repeated {name}"),
        _ if field.proto3_optional() => format!("optional {name}"),
        _ => name,
    }
}

fn type_name(field: &FieldDescriptorProto) -> String {
    match field.r#type() {
        Type::Message | Type::Enum => field.type_name().trim_start_matches('.').to_owned(),
        scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    }
}

fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry)
}

fn enum_rows(scope: &str, values: &EnumDescriptorProto, rows: &mut BTreeSet<String>) {
    let name = format!("{scope}.{}", values.name());
    rows.extend(
        values.value.iter().map(|value| format!("enum_value\t{name}\t{}\t\t{}\t", value.name(), value.number())),
    );
}

fn service_rows(package: &str, service: &ServiceDescriptorProto, rows: &mut BTreeSet<String>) {
    let container = format!("{package}.{}", service.name());
    for method in &service.method {
        let path = format!("/{container}/{}", method.name());
        let (input, output) = (
            streamed(method.client_streaming(), method.input_type()),
            streamed(method.server_streaming(), method.output_type()),
        );
        rows.insert(format!(
            "rpc\t{container}\t{}\t{input} -> {output}\t\tpath={path} {}",
            method.name(),
            shape(method)
        ));
    }
}

fn streamed(is_stream: bool, name: &str) -> String {
    format!("{}{}", if is_stream { "stream " } else { "" }, name.trim_start_matches('.'))
}

fn shape(method: &MethodDescriptorProto) -> &'static str {
    match (method.client_streaming(), method.server_streaming()) {
        (false, false) => "unary",
        (false, true) => "server_streaming",
        (true, false) => "client_streaming",
        (true, true) => "bidi_streaming",
    }
}
