//! Filters, entries and zones.

use futures::FutureExt;
use tf_provider::Number;

use super::*;

// AWS as it offers instance types; none: it cannot be asked.
struct Offers(Option<fn(&str) -> BTreeSet<String>>);

impl FindZones for Offers {
    fn find<'a>(&'a self, _cx: &'a RequestCx, types: BTreeSet<String>) -> BoxFuture<'a, Result<Zones, Diagnostic>> {
        let answer = match self.0 {
            Some(zones) => Ok(types.into_iter().map(|name| (name.clone(), zones(&name))).collect()),
            None => Err(Diagnostic::error(&value::AttributePath::root(), "Cannot ask", "No credentials.")),
        };
        async { answer }.boxed()
    }
}

fn zones(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn everywhere(_: &str) -> BTreeSet<String> {
    zones(&["us-east-1a", "us-east-1b"])
}

fn source(offers: Option<fn(&str) -> BTreeSet<String>>) -> Accelerators {
    Accelerators::new(Arc::new(Offers(offers)))
}

fn read_from(source: &Accelerators, config: &[(&str, Cty)]) -> (Cty, Diagnostics) {
    let mut object = source.schema().block.null_object();
    for (name, value) in config {
        object.set(name, value.clone());
    }
    let complaints = source.validate(&object);
    if complaints.has_errors() {
        return (object, complaints);
    }
    source.read(&RequestCx::default(), object).now_or_never().expect("it waits for nothing")
}

fn read(config: &[(&str, Cty)]) -> (Cty, Diagnostics) {
    read_from(&source(Some(everywhere)), config)
}

fn entries(read: &Cty) -> Vec<(Option<&str>, Option<usize>)> {
    let Cty::List(entries) = read.get("instance_types") else { panic!("{read:?}") };
    let zones = |entry: &Cty| if let Cty::Set(zones) = entry.get("zones") { Some(zones.len()) } else { None };
    entries.iter().map(|entry| (entry.get("name").as_str(), zones(entry))).collect()
}

fn names(config: &[(&str, Cty)]) -> Vec<String> {
    match read(config).0.get("names") {
        Cty::List(names) => names.iter().filter_map(Cty::as_str).map(str::to_owned).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_argument_narrows_the_list() {
    let l40s = ("product", Cty::from("L40S"));
    assert_eq!(names(std::slice::from_ref(&l40s)).first().map(String::as_str), Some("g6e.xlarge"));
    assert_eq!(names(&[l40s, ("accelerator_count_min", Cty::from(8))]), ["g6e.48xlarge"]);
    assert!(
        names(&[("arch", Cty::from("arm64"))]).iter().all(|name| name.starts_with("g5g") || name.starts_with("p6e"))
    );
}

#[test]
fn an_entry_tells_what_the_catalogue_knows() {
    let (read, complaints) = read(&[("family", Cty::from("g6")), ("hourly_usd_max", Cty::from(1))]);
    assert!(complaints.is_empty());
    let Cty::List(entries) = read.get("instance_types") else { panic!("a list") };
    let first = entries.first().expect("g6.xlarge");
    assert_eq!(first.get("name"), &Cty::from("g6.xlarge"));
    assert_eq!(first.get("product"), &Cty::from("NVIDIA-L4"));
    assert_eq!(first.get("accelerator_count"), &Cty::Number(Number::from(1_i64)));
    assert_eq!(first.get("resource_name"), &Cty::from("nvidia.com/gpu"));
}

#[test]
fn words_that_are_none_are_refused() {
    let complaints = read(&[("vendor", Cty::from("amd")), ("product", Cty::from("L5"))]).1;
    let told: Vec<_> = complaints.iter().map(|told| told.summary.as_str()).collect();
    assert_eq!(told, ["`vendor` cannot be \"amd\"", "No accelerator is called \"L5\""]);
    let nothing_said = source(None);
    assert!(nothing_said.validate(&nothing_said.schema().block.null_object()).is_empty());
}

#[test]
fn types_are_told_with_their_zones_and_narrowed_by_them() {
    let some = source(Some(|name| if name == "g6.xlarge" { everywhere(name) } else { zones(&["us-east-1b"]) }));
    let family = || ("family", Cty::from("g6"));
    let (all, complaints) = read_from(&some, &[family(), ("accelerator_count", Cty::from(8))]);
    assert!(complaints.is_empty());
    assert_eq!(entries(&all), [(Some("g6.48xlarge"), Some(1))]);
    let in_a = || ("zones", Cty::Set(vec![Cty::from("us-east-1a")]));
    let (narrowed, _) = read_from(&some, &[family(), in_a()]);
    assert_eq!(entries(&narrowed), [(Some("g6.xlarge"), Some(2))]);
    assert_eq!(narrowed.get("names"), &Cty::List(vec![Cty::from("g6.xlarge")]));
}

#[test]
fn without_an_answer_the_zones_are_null_and_a_warning_tells_why() {
    let (told, complaints) =
        read_from(&source(None), &[("family", Cty::from("g6")), ("accelerator_count", Cty::from(8))]);
    assert_eq!(entries(&told), [(Some("g6.48xlarge"), None)]);
    assert!(!complaints.has_errors());
    assert!(complaints.iter().any(|told| told.detail.contains("look_up_zones = false")), "{complaints:?}");
}

#[test]
fn a_list_narrowed_by_zones_cannot_do_without_an_answer() {
    let in_a = || ("zones", Cty::Set(vec![Cty::from("us-east-1a")]));
    assert!(read_from(&source(None), &[in_a()]).1.has_errors());
    let (_, complaints) = read(&[in_a(), ("look_up_zones", Cty::from(false))]);
    let told: Vec<_> = complaints.iter().map(|told| told.summary.as_str()).collect();
    assert_eq!(told, ["`zones` needs `look_up_zones`"]);
}

#[test]
fn aws_is_not_asked_where_that_is_not_wanted() {
    let (told, complaints) =
        read_from(&source(None), &[("family", Cty::from("g6")), ("look_up_zones", Cty::from(false))]);
    assert!(complaints.is_empty(), "{complaints:?}");
    assert!(entries(&told).iter().all(|(_, zones)| zones.is_none()));
}
