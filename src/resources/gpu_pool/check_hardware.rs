//! Whether the instance types of a pool exist, fit each other, run the image, and may cost what they cost.

use tf_provider::Diagnostics;
use value::{AttributePath, Value};

use super::{
    GpuPool,
    attributes::{CapacityType, Purpose, Scaler},
    hardware::{Hardware, Request},
    marks, outputs,
};
use crate::catalog::{
    ImageFamily, PRICE_DISCLAIMER, ShapeAttribute, guess, known_products, nearest_names, shape_differences,
};

/// EKS's limit.
const MOST_TYPES: usize = 20;

pub(super) fn check(pool: &GpuPool, complaints: &mut Diagnostics) {
    check_choice(pool, complaints);
    let requested = marks::request(pool).map(Request::instance_types);
    // Where to show what is wrong with the types: on the attribute that they come from.
    let types = if pool.instance_types.is_null() { requested } else { pool.instance_types.clone() };
    let Some(names) = types.get() else { return };
    check_names(&types, names, complaints);
    let hardware = Hardware::of(names);
    if check_uniform(&types, &hardware, complaints) {
        check_image(pool, &types, &hardware, complaints);
        check_shapes(pool, &types, &hardware, complaints);
    }
    check_spot(pool, &types, complaints);
    check_cost(pool, &hardware, complaints);
}

fn check_choice(pool: &GpuPool, complaints: &mut Diagnostics) {
    let (types, accelerator) = (&pool.instance_types, &pool.accelerator);
    if types.is_null() && accelerator.is_null() {
        complaints.error(
            types,
            "Nothing says what the nodes of the pool are",
            "Neither `instance_types` nor `accelerator` is set.\n\nSet one of them, for example \
             `accelerator = { product = \"L4\" }`.",
        );
    }
    if types.is_known() && accelerator.is_known() {
        complaints.error(
            accelerator,
            "Both `instance_types` and `accelerator` are set",
            "The instance types follow from `accelerator`.\n\nLeave one of the two out.",
        );
    }
    if let Some(request) = marks::request(pool).get().filter(|request| request.instance_types().is_empty()) {
        complaints.error(
            accelerator,
            format!("No instance type has the accelerator {:?} asked for", request.product),
            format!(
                "None in the catalogue has it in this number and with this memory, and an image of EKS that runs on \
                 it.\n\nAsk for less, or for another product. Those known are {}.",
                known_products().join(", ")
            ),
        );
    }
}

fn check_names(types: &Value<Vec<String>>, names: &[String], complaints: &mut Diagnostics) {
    // What an accelerator gives may be none, which is told of the accelerator.
    let is_listed = types.path() == AttributePath::new("instance_types");
    if (is_listed && names.is_empty()) || names.len() > MOST_TYPES {
        complaints.error(
            types,
            format!("The pool has {} instance types", names.len()),
            format!("EKS takes 1 to {MOST_TYPES}.\n\nGive the types in order of preference."),
        );
    }
    for (position, name) in names.iter().enumerate() {
        if names.iter().take(position).any(|earlier| earlier == name) {
            complaints.error(
                types,
                format!("The instance type {name:?} is listed twice"),
                "The order is the order of preference, so a repetition means nothing.\n\nList it once.",
            );
        }
    }
    for name in &Hardware::of(names).unknown {
        check_unknown(types, name, complaints);
    }
}

fn check_unknown(types: &Value<Vec<String>>, name: &str, complaints: &mut Diagnostics) {
    let near = nearest_names(name);
    let meant = if near.is_empty() {
        "Choose one from the data source `mlplat_accelerators`.".to_owned()
    } else {
        format!("Did you mean {}?", near.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or "))
    };
    if guess(name).is_none() {
        complaints.error(
            types,
            format!("{name:?} is no instance type with an accelerator"),
            format!("It is not in the catalogue, and its name is not that of a family with NVIDIA or Neuron devices.\n\n{meant}"),
        );
    } else {
        complaints.warn(
            types,
            format!("The instance type {name:?} is not known to this version"),
            format!(
                "AWS may have released it since. Its processor and maker are guessed from its name; price, number of \
                 accelerators and memory are not known.\n\n{meant} If it is right as it is, a newer version of the \
                 provider may know it."
            ),
        );
    }
}

// One image, one taint and one resource name have to do for all.
fn check_uniform(types: &Value<Vec<String>>, hardware: &Hardware, complaints: &mut Diagnostics) -> bool {
    let kinds: Vec<_> = hardware.kinds().collect();
    let Some((first, vendor, arch)) = kinds.first() else { return false };
    let Some((other, ..)) = kinds.iter().find(|(_, v, a)| v != vendor || a != arch) else { return true };
    complaints.error(
        types,
        "The instance types need different images",
        format!(
            "{first:?} and {other:?} differ in the processor or in the maker of the accelerator, and a node group has \
             one image.\n\nMake a pool for each."
        ),
    );
    false
}

fn check_image(pool: &GpuPool, types: &Value<Vec<String>>, hardware: &Hardware, complaints: &mut Diagnostics) {
    let family = match pool.image.get().map(|image| &image.family) {
        Some(family) if family.is_pending() => return,
        Some(family) => family.get().map_or(Ok(ImageFamily::Al2023), |name| ImageFamily::parse(name)),
        None if pool.image.is_pending() => return,
        None => Ok(ImageFamily::Al2023),
    };
    let Ok(family) = family else { return };
    let each = hardware.known.iter().map(|kind| crate::catalog::ami_type_for(family, kind));
    let guessed = hardware.image_type(family);
    for reason in each.chain(guessed).filter_map(Result::err) {
        complaints.error(
            types,
            "EKS has no image for these nodes",
            format!("{reason}\n\nChoose another instance type or `image.family`."),
        );
    }
}

fn check_shapes(pool: &GpuPool, types: &Value<Vec<String>>, hardware: &Hardware, complaints: &mut Diagnostics) {
    let differences: Vec<_> = shape_differences(&hardware.known)
        .into_iter()
        .filter(|difference| difference.attribute != ShapeAttribute::EfaInterfaces)
        .map(|difference| format!("- {difference}"))
        .collect();
    let scaled = pool.scaler.is_null() || pool.scaler.get() == Some(&Scaler::ClusterAutoscaler);
    let gang = pool.purpose.get() == Some(&Purpose::Training);
    if differences.is_empty() || !(scaled || gang) {
        return;
    }
    let mut reasons = Vec::new();
    if scaled {
        reasons.push("Cluster Autoscaler takes a node of the pool to be like any other, and may start one on which the pod does not fit.");
    }
    if gang {
        reasons.push("The processes of a distributed job wait for the slowest of them.");
    }
    complaints.warn(
        types,
        "The instance types differ in shape",
        format!(
            "{}\n{}\n\nUse types of one shape, or make a pool for each.",
            reasons.join(" "),
            differences.join("\n")
        ),
    );
}

fn check_spot(pool: &GpuPool, types: &Value<Vec<String>>, complaints: &mut Diagnostics) {
    let kind = pool.capacity.get().and_then(|capacity| capacity.kind.get());
    if kind != Some(&CapacityType::Spot) {
        return;
    }
    if let Some([only]) = types.get().map(Vec::as_slice) {
        complaints.warn(
            types,
            "Spot capacity of a single instance type",
            format!(
                "When there is no spare {only:?}, the pool waits for it without end.\n\nAdd types of the same shape, or \
                 keep an on-demand pool beside this one."
            ),
        );
    }
    if pool.subnet_ids.get().is_some_and(|subnets| subnets.len() == 1) {
        complaints.warn(
            &pool.subnet_ids,
            "Spot capacity in a single subnet",
            "A subnet is in one zone, and spare capacity differs from zone to zone.\n\nAdd subnets in other zones.",
        );
    }
}

fn check_cost(pool: &GpuPool, hardware: &Hardware, complaints: &mut Diagnostics) {
    let limit = &pool.max_hourly_cost_usd;
    let Some(most) = limit.get() else { return };
    if *most <= 0.0 {
        complaints.error(
            limit,
            "The cost limit is not above 0",
            "No pool costs that little.\n\nGive US dollars an hour.",
        );
        return;
    }
    let Some(max) = pool.size.get().and_then(|size| size.max.get()) else { return };
    let Some([_, (dearest, price)]) = hardware.prices() else {
        complaints.warn(
            limit,
            "The cost of the pool is not known",
            format!(
                "No list price is known of {}, so `max_hourly_cost_usd` is not checked.\n\nCheck the price yourself, or \
                 choose types with a known one.",
                hardware.unpriced().join(", ")
            ),
        );
        return;
    };
    let cost = outputs::dollars(*max, price);
    if cost > *most {
        complaints.error(
            limit,
            format!("The pool can cost {cost} USD an hour"),
            format!(
                "{max} nodes (`size.max`) x {price} USD ({dearest:?}) = {cost} USD an hour, and the limit is {most} USD. \
                 {PRICE_DISCLAIMER}\n\nLower `size.max`, choose a cheaper instance type, or raise the limit."
            ),
        );
    }
}
