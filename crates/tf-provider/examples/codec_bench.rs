//! How many values a second the codec reads and writes: `cargo run --release -p tf-provider --example codec_bench`.

#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
#![expect(clippy::print_stdout, reason = "an example is no provider; its result goes to standard output")]

use std::{hint::black_box, time::Instant};

use tf_provider::{
    Cty, Number, Type,
    codec::{from_json, from_msgpack, to_json, to_msgpack},
};

const ATTRIBUTES: usize = 1000;
const ROUNDS: u32 = 200;

fn main() {
    let (ty, value) = wide_object();
    let (bytes, json) = (to_msgpack(&value, &ty), to_json(&value, &ty));
    measure("to_msgpack", || to_msgpack(black_box(&value), &ty));
    measure("from_msgpack", || from_msgpack(black_box(&bytes), &ty));
    measure("to_json", || to_json(black_box(&value), &ty));
    measure("from_json", || from_json(black_box(json.as_bytes()), &ty));
}

// An object with as many attributes as a very large state has values, of each kind in turn.
fn wide_object() -> (Type, Cty) {
    let attribute = |index: usize| {
        let (ty, value) = match index % 4 {
            0 => (Type::String, Cty::string(format!("arn:aws:iam::123456789012:role/{index}"))),
            1 => (Type::Number, Cty::Number(Number::from(index as u64))),
            2 => (Type::Bool, Cty::Bool(true)),
            _ => (Type::list(Type::String), Cty::List(vec![Cty::from("subnet-1"), Cty::from("subnet-2")])),
        };
        (format!("attribute_{index:04}"), ty, value)
    };
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for (name, ty, value) in (0..ATTRIBUTES).map(attribute) {
        types.push((name.clone(), ty));
        values.push((name, value));
    }
    (Type::Object(types.into_iter().collect()), Cty::object(values))
}

#[expect(clippy::cast_precision_loss, reason = "a rate in millions has no use for the last digits")]
fn measure<T>(name: &str, mut work: impl FnMut() -> T) {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(work());
    }
    let rate = (ATTRIBUTES as f64) * f64::from(ROUNDS) / start.elapsed().as_secs_f64();
    println!("{name:12} {:6.2} million values/s", rate / 1e6);
}
