//! Text, truth values and numbers as attributes.

use value::{AttributePath, Value};

use crate::{AttributeType, Cty, Decoder, Number, Shape, Type};

impl AttributeType for String {
    fn shape() -> Shape {
        Shape::Plain(Type::String)
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        if let Cty::String(text) = cty {
            return Value::known(text.clone());
        }
        decoder.complain_of_type(path, "text");
        Value::null()
    }

    fn encode(&self) -> Cty {
        Cty::String(self.clone())
    }
}

impl AttributeType for bool {
    fn shape() -> Shape {
        Shape::Plain(Type::Bool)
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        if let Cty::Bool(value) = cty {
            return Value::known(*value);
        }
        decoder.complain_of_type(path, "true or false");
        Value::null()
    }

    fn encode(&self) -> Cty {
        Cty::Bool(*self)
    }
}

impl AttributeType for Number {
    fn shape() -> Shape {
        Shape::Plain(Type::Number)
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        if let Cty::Number(number) = cty {
            return Value::known(number.clone());
        }
        decoder.complain_of_type(path, "a number");
        Value::null()
    }

    fn encode(&self) -> Cty {
        Cty::Number(self.clone())
    }
}

impl AttributeType for f64 {
    fn shape() -> Shape {
        Shape::Plain(Type::Number)
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        let number = Number::decode(cty, path, decoder);
        match number.get().map(|number| (number, number.as_f64())) {
            Some((_, nearest)) if nearest.is_finite() => Value::known(nearest),
            Some((number, _)) => {
                decoder.complain(path, &format!("is {number}, which is too large."), "Give a smaller number.");
                Value::null()
            }
            None => Value::null(),
        }
    }

    fn encode(&self) -> Cty {
        Cty::Number(Number::from(*self))
    }
}

macro_rules! integers {
    ($($integer:ty => $get:ident),*) => {$(
        impl AttributeType for $integer {
            fn shape() -> Shape {
                Shape::Plain(Type::Number)
            }

            fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
                let number = Number::decode(cty, path, decoder);
                let Some(number) = number.get() else { return Value::null() };
                let fitting = number.$get().and_then(|integer| Self::try_from(integer).ok());
                if fitting.is_none() {
                    complain_of_range(number, i128::from(Self::MIN), i128::from(Self::MAX), path, decoder);
                }
                Value::from(fitting)
            }

            fn encode(&self) -> Cty {
                Cty::Number(Number::from(*self))
            }
        }
    )*};
}

integers!(u16 => as_u64, u32 => as_u64, u64 => as_u64, i64 => as_i64);

fn complain_of_range(number: &Number, least: i128, most: i128, path: &AttributePath, decoder: &mut Decoder) {
    let advice = format!("Give a whole number from {least} to {most}.");
    let reason = if number.is_whole() { "which is out of range" } else { "which is no whole number" };
    decoder.complain(path, &format!("is {number}, {reason}."), &advice);
}
