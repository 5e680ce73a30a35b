//! Tags on the node group that remember what no API tells, so that an import gives the whole configuration back.
//!
//! Only what differs from its default is remembered. **Invariant:** each mark is read back as what was written.

use serde_json::{Value as Json, json};
use value::Value;

use super::{
    GpuPool,
    attributes::{Purpose, Scaler},
    hardware::Request,
};
use crate::{components::aws::Tags, resources::tags};

/// Always there, so that the tag `workload-type` can be told from a user's.
const PURPOSE: &str = "mlplat:purpose";
const SCALER: &str = "mlplat:scaler";
const ACCELERATOR: &str = "mlplat:accelerator";
const INITIAL: &str = "mlplat:initial-size";
const MAX_COST: &str = "mlplat:max-hourly-cost-usd";
const RELEASE: &str = "mlplat:image-release";

/// The tags with the marks of the pool, which mirror the attributes they remember.
pub(super) fn marked(pool: &GpuPool, tags: &Value<Tags>) -> Value<Tags> {
    let purpose = pool.purpose.map(|purpose| purpose.as_str().to_owned());
    let scaler = pool
        .scaler
        .and_then(|scaler| Value::from((*scaler != Scaler::ClusterAutoscaler).then(|| scaler.as_str().to_owned())));
    let cost = pool.max_hourly_cost_usd.map(ToString::to_string);
    let release = pool.image.and_then(|image| image.release.map(Clone::clone));
    let marks = [
        (PURPOSE, purpose),
        (SCALER, scaler),
        (ACCELERATOR, accelerator(pool)),
        (INITIAL, initial(pool)),
        (MAX_COST, cost),
        (RELEASE, release),
    ];
    let marked = marks.iter().fold(tags.clone(), |tags, (key, value)| tags::marked(&tags, key, value));
    mirrored(pool, marked)
}

fn mirrored(pool: &GpuPool, marked: Value<Tags>) -> Value<Tags> {
    let (initial, release) = (
        pool.size.and_then(|size| size.initial.map(|initial| *initial)),
        pool.image.and_then(|image| image.release.map(Clone::clone)),
    );
    marked
        .mirrored(&pool.purpose, tags::remembered(PURPOSE, |text| Purpose::from_word(text).map(|_| Json::from(text))))
        .mirrored(&pool.scaler, tags::remembered(SCALER, |text| Scaler::from_word(text).map(|_| Json::from(text))))
        .mirrored(&pool.accelerator, tags::remembered(ACCELERATOR, read_accelerator))
        .mirrored(&initial, tags::remembered(INITIAL, |text| text.parse::<u32>().ok().map(Json::from)))
        .mirrored(
            &pool.max_hourly_cost_usd,
            tags::remembered(MAX_COST, |text| text.parse::<f64>().ok().map(Json::from)),
        )
        .mirrored(&release, tags::remembered(RELEASE, |text| Some(Json::from(text))))
}

fn initial(pool: &GpuPool) -> Value<String> {
    pool.size.and_then(|size| {
        let differs = size.initial.with(&size.min, |initial, min| initial.filter(|_| initial != min).copied());
        differs.and_then(|initial| Value::from(initial.map(|initial| initial.to_string())))
    })
}

// `product/count/memory`; what was left out is empty.
fn accelerator(pool: &GpuPool) -> Value<String> {
    request(pool).map(|Request { product, count, memory_gib_min }| {
        let (count, memory) = (count.map(|count| count.to_string()), memory_gib_min.map(|memory| memory.to_string()));
        format!("{product}/{}/{}", count.unwrap_or_default(), memory.unwrap_or_default())
    })
}

fn read_accelerator(text: &str) -> Option<Json> {
    let mut parts = text.rsplitn(3, '/');
    let (memory, count, product) = (parts.next()?, parts.next()?, parts.next()?);
    let mut object = json!({ "product": product });
    if let Ok(count) = count.parse::<u32>() {
        object["count"] = json!(count);
    }
    if let Ok(memory) = memory.parse::<f64>() {
        object["memory_gib_min"] = json!(memory);
    }
    Some(object)
}

/// The accelerator asked for. Null where none is, an import's stub without a product included.
pub(super) fn request(pool: &GpuPool) -> Value<Request> {
    let request = pool.accelerator.and_then(|wanted| {
        let amounts = wanted.count.with(&wanted.memory_gib_min, |count, memory| (count.copied(), memory.copied()));
        wanted.product.and_then(|product| {
            amounts.map(|(count, memory_gib_min)| Request {
                product: product.clone(),
                count: *count,
                memory_gib_min: *memory_gib_min,
            })
        })
    });
    request.blamed_on(&pool.accelerator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accelerator_is_read_back_whatever_was_left_out() {
        assert_eq!(read_accelerator("L4/1/20"), Some(json!({ "product": "L4", "count": 1, "memory_gib_min": 20.0 })));
        assert_eq!(read_accelerator("A100-80GB//"), Some(json!({ "product": "A100-80GB" })));
        assert_eq!(read_accelerator("L4"), None);
    }
}
