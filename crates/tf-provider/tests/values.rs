//! Values as bytes and back.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};
use tf_provider::{
    Cty, Number, Refinements, Type,
    codec::{from_json, from_msgpack, to_json, to_msgpack, type_from_json, type_to_json},
};

fn number(text: &str) -> Cty {
    Cty::Number(Number::parse(text).unwrap())
}

fn object(attributes: &[(&str, Type)]) -> Type {
    Type::Object(attributes.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect())
}

// === MessagePack ===

#[test]
fn numbers_take_the_form_that_core_gives_them() {
    for (text, bytes) in [
        ("1", vec![0x01]),
        ("-1", vec![0xff]),
        ("0.5", vec![0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]),
        ("0.1", b"\xa30.1".to_vec()),
        ("18446744073709551615", b"\xb418446744073709551615".to_vec()),
    ] {
        assert_eq!(to_msgpack(&number(text), &Type::Number), bytes, "{text}");
        assert_eq!(from_msgpack(&bytes, &Type::Number).unwrap(), number(text), "{text}");
    }
    let infinite = Cty::Number(Number::from(f64::NEG_INFINITY));
    assert_eq!(from_msgpack(&to_msgpack(&infinite, &Type::Number), &Type::Number).unwrap(), infinite);
    assert_eq!(
        from_msgpack(&[0xcf, 255, 255, 255, 255, 255, 255, 255, 255], &Type::Number).unwrap(),
        number("18446744073709551615")
    );
    assert_eq!(from_msgpack(&[0xd3, 255, 255, 255, 255, 255, 255, 255, 254], &Type::Number).unwrap(), number("-2"));
}

#[test]
fn unknown_values_come_in_every_extension_and_go_out_plain_or_as_they_came() {
    for bytes in [&[0xd4, 0, 0][..], &[0xd4, 12, 0], &[0xc7, 0, 12], &[0xc7, 0, 0], &[0xd5, 3, 1, 2]] {
        assert_eq!(from_msgpack(bytes, &Type::String).unwrap(), Cty::unknown());
    }
    assert_eq!(to_msgpack(&Cty::unknown(), &Type::String), [0xd4, 0, 0]);
    let refined = [0xc7, 3, 12, 0x81, 0x01, 0xc2];
    let value = from_msgpack(&refined, &Type::String).unwrap();
    assert_eq!(value, Cty::Unknown(Refinements([0x81, 0x01, 0xc2].into())));
    assert_eq!(to_msgpack(&value, &Type::String), refined);
}

#[test]
fn a_value_of_any_type_carries_its_type() {
    let bytes = [b"\x92\xc4\x08\"string\"".as_slice(), b"\xa1a"].concat();
    let value = Cty::Dynamic(Box::new(Type::String), Box::new("a".into()));
    assert_eq!(to_msgpack(&value, &Type::Dynamic), bytes);
    assert_eq!(to_msgpack(&"a".into(), &Type::Dynamic), bytes);
    assert_eq!(from_msgpack(&bytes, &Type::Dynamic).unwrap(), value);
    assert_eq!(from_msgpack(&[0xc0], &Type::Dynamic).unwrap(), Cty::Null);
    assert_eq!(from_msgpack(&[0xd4, 0, 0], &Type::Dynamic).unwrap(), Cty::unknown());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let inner = object(&[("b", Type::list(Type::String)), ("c", Type::set(object(&[("d", Type::Bool)])))]);
    let ty = object(&[("a", Type::map(inner))]);
    let say = |bytes: &[u8]| from_msgpack(bytes, &ty).unwrap_err().to_string();
    assert_eq!(
        say(b"\x81\xa1a\x81\xa1k\x82\xa1b\x92\xa0\xc3\xa1c\xc0"),
        "at a[\"k\"].b[1]: expected text, found true or false"
    );
    assert_eq!(
        say(b"\x81\xa1a\x81\xa1k\x82\xa1b\xc0\xa1c\x91\x81\xa1d\x01"),
        "at a[\"k\"].c: expected true or false, found an integer"
    );
    assert_eq!(say(b"\x81\xa1a\x81\xa1k\x81\xa1b\xc0"), "at a[\"k\"]: the attribute \"c\" is missing");
    assert_eq!(say(b"\x81\xa1x\xc0"), "no attribute is called \"x\"");
    assert_eq!(say(b"\x81\xa1a\xc0\xc0"), "1 bytes follow the value");
    assert_eq!(say(b"\x81\xa1a"), "at a: the bytes end early");
    assert_eq!(say(b""), "the bytes end early");
}

#[test]
fn a_value_that_is_not_of_its_type_goes_out_as_null() {
    let ty = object(&[("a", Type::Bool), ("b", Type::String)]);
    let value = Cty::object([("a", Cty::from("x")), ("c", Cty::Null)]);
    let bytes = to_msgpack(&value, &ty);
    assert_eq!(from_msgpack(&bytes, &ty).unwrap(), Cty::object([("a", Cty::Null), ("b", Cty::Null)]));
}

#[test]
fn endless_nesting_is_refused() {
    let level = b"\x92\xc4\x09\"dynamic\"".as_slice();
    let error = from_msgpack(&level.repeat(100_000), &Type::Dynamic).unwrap_err();
    assert_eq!(error.message, "nested deeper than 128 levels");
    let json = [br#"{"type":"dynamic","value":"#.repeat(200), b"1".to_vec(), b"}".repeat(200)].concat();
    assert_eq!(from_json(&json, &Type::Dynamic).unwrap_err().message, "nested deeper than 128 levels");
    assert!(type_from_json(&br#"["list","#.repeat(100_000)).is_err());
    assert!(from_json(&b"[".repeat(100_000), &Type::list(Type::String)).is_err());
}

#[test]
fn a_length_without_elements_costs_nothing() {
    for bytes in [[0xdd, 255, 255, 255, 255], [0xdf, 255, 255, 255, 255], [0xdb, 255, 255, 255, 255]] {
        for ty in [Type::list(Type::String), Type::map(Type::String), Type::String] {
            assert!(from_msgpack(&bytes, &ty).is_err());
        }
    }
}

// === JSON ===

#[test]
fn json_is_read_as_leniently_as_core_does() {
    let ty = object(&[("a", Type::String), ("b", Type::Number), ("c", Type::Bool), ("d", Type::set(Type::Number))]);
    let json = br#"{"a": 1.50, "b": "12", "c": "true", "gone": {"x": [1]}}"#;
    let value = Cty::object([("a", "1.50".into()), ("b", number("12")), ("c", true.into()), ("d", Cty::Null)]);
    assert_eq!(from_json(json, &ty).unwrap(), value);
    let big = br#"{"b": 123456789012345678901234567890.5, "d": [1e2]}"#;
    let read = from_json(big, &ty).unwrap();
    assert_eq!(read.get("b"), &number("123456789012345678901234567890.5"));
    assert_eq!(read.get("d"), &Cty::Set(vec![number("100")]));
    let say = |json: &[u8]| from_json(json, &ty).unwrap_err().to_string();
    assert_eq!(say(br#"{"a": []}"#), "at a: expected text, found a list");
    assert_eq!(say(br#"{"d": ["x"]}"#), "at d: expected a number, found text");
    assert_eq!(say(b"3"), "expected an object, found a number");
}

#[test]
fn types_are_read_and_written_in_their_json_form() {
    let json = r#"["object",{"a":["tuple",["string",["map","dynamic"]]],"b":["set",["list","bool"]],"c":"number"}]"#;
    let ty = type_from_json(json.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(type_to_json(&ty)).unwrap(), json);
    assert_eq!(type_from_json(br#"["object",{"a":"bool"},["a"]]"#).unwrap(), object(&[("a", Type::Bool)]));
    for wrong in [r#""text""#, r#"["list"]"#, r#"["tuple","string"]"#, "3", "", r#"["object",{"a":"x"}]"#] {
        assert!(type_from_json(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

// === Any value ===

fn primitive() -> impl Strategy<Value = Type> {
    prop_oneof![Just(Type::String), Just(Type::Number), Just(Type::Bool), Just(Type::Dynamic)]
}

fn any_type() -> impl Strategy<Value = Type> {
    primitive().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            vec(inner.clone(), 0..4).prop_map(Type::Tuple),
            proptest::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(Type::Object),
        ]
    })
}

fn any_number() -> impl Strategy<Value = Cty> {
    prop_oneof![
        any::<i64>().prop_map(Cty::from),
        any::<f64>().prop_filter_map("a number", |float| Number::exactly(float).map(Cty::Number)),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{0,20}[1-9])?".prop_map(|text| number(&text)),
    ]
}

// Values of a type; with `unknowns`, parts may be unknown.
fn any_value(ty: &Type, unknowns: bool) -> BoxedStrategy<Cty> {
    let known: BoxedStrategy<Cty> = match ty {
        Type::String => any::<String>().prop_map(Cty::String).boxed(),
        Type::Number => any_number().boxed(),
        Type::Bool => any::<bool>().prop_map(Cty::Bool).boxed(),
        Type::Dynamic => primitive()
            .prop_filter("a type of its own", |ty| *ty != Type::Dynamic)
            .prop_flat_map(move |ty| any_value(&ty, unknowns).prop_map(move |value| (ty.clone(), value)))
            .prop_map(|(ty, value)| Cty::Dynamic(Box::new(ty), Box::new(value)))
            .boxed(),
        Type::List(element) => vec(any_value(element, unknowns), 0..3).prop_map(Cty::List).boxed(),
        Type::Set(element) => vec(any_value(element, unknowns), 0..3).prop_map(Cty::Set).boxed(),
        Type::Map(element) => proptest::collection::btree_map(any::<String>(), any_value(element, unknowns), 0..3)
            .prop_map(Cty::Map)
            .boxed(),
        Type::Tuple(elements) => {
            elements.iter().map(|ty| any_value(ty, unknowns)).collect::<Vec<_>>().prop_map(Cty::List).boxed()
        }
        Type::Object(attributes) => {
            let (names, values): (Vec<_>, Vec<_>) =
                attributes.iter().map(|(name, ty)| (name.clone(), any_value(ty, unknowns))).unzip();
            values
                .prop_map(move |values| Cty::Object(names.iter().cloned().zip(values).collect::<BTreeMap<_, _>>()))
                .boxed()
        }
    };
    let refined = vec(any::<u8>(), 2..40).prop_map(|payload| Cty::Unknown(Refinements(payload.into())));
    let unknown = prop_oneof![Just(Cty::unknown()), refined].boxed();
    prop_oneof![6 => known, 1 => Just(Cty::Null), u32::from(unknowns) => unknown].boxed()
}

fn typed(unknowns: bool) -> impl Strategy<Value = (Type, Cty)> {
    any_type().prop_flat_map(move |ty| any_value(&ty, unknowns).prop_map(move |value| (ty.clone(), value)))
}

fn has_infinity(value: &Cty) -> bool {
    match value {
        Cty::Number(number) => !number.is_finite(),
        Cty::List(items) | Cty::Set(items) => items.iter().any(has_infinity),
        Cty::Map(map) | Cty::Object(map) => map.values().any(has_infinity),
        Cty::Dynamic(_, inner) => has_infinity(inner),
        _ => false,
    }
}

proptest! {
    #[test]
    fn any_value_survives_messagepack((ty, value) in typed(true)) {
        prop_assert_eq!(from_msgpack(&to_msgpack(&value, &ty), &ty), Ok(value));
    }

    #[test]
    fn any_known_value_survives_json((ty, value) in typed(false).prop_filter("finite", |(_, value)| !has_infinity(value))) {
        prop_assert_eq!(from_json(to_json(&value, &ty).as_bytes(), &ty), Ok(value));
    }

    #[test]
    fn any_type_survives_json(ty in any_type()) {
        prop_assert_eq!(type_from_json(&type_to_json(&ty)), Ok(ty));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_bytes_are_read_or_refused(ty in any_type(), bytes in vec(any::<u8>(), 0..64)) {
        read_or_refuse(&bytes, &ty)?;
        let _ = type_from_json(&bytes);
    }

    // Closer to what is valid than noise: one byte of a good message is changed, or its end is cut off.
    #[test]
    fn any_damaged_value_is_read_or_refused(
        (ty, value) in typed(true), place in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()
    ) {
        for mut bytes in [to_msgpack(&value, &ty), to_json(&value, &ty).into_bytes()] {
            let place = place.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] = byte }
            read_or_refuse(&bytes, &ty)?;
        }
    }
}

// What is read at all is written and read again the same.
fn read_or_refuse(bytes: &[u8], ty: &Type) -> Result<(), TestCaseError> {
    if let Ok(value) = from_msgpack(bytes, ty) {
        prop_assert_eq!(from_msgpack(&to_msgpack(&value, ty), ty), Ok(value));
    }
    if let Ok(value) = from_json(bytes, ty) {
        prop_assert_eq!(from_json(to_json(&value, ty).as_bytes(), ty), Ok(value));
    }
    Ok(())
}
