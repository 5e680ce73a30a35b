//! The reference in the registry's layout, from schemas and examples: one Markdown page for the provider and for each
//! resource, data source and function.
//!
//! Pure: gives paths and texts, reads and writes nothing. What a page says comes from the schema alone, so it cannot
//! be stale where the schema is not; examples are handed in.

mod attributes;
mod descriptions;
mod function;
mod page;
mod stored;

use std::collections::BTreeMap;

use crate::{IdentitySchema, Provider, Resource, Schema};
use attributes::schema_sections;
use page::Page;

pub use descriptions::{Described, descriptions};
pub use page::sentences;
pub use stored::{breaking, stored};

/// What a reference is made from.
pub struct Reference<'a> {
    /// The provider.
    pub provider: &'a dyn Provider,
    /// Its short name, the prefix of its types: `mlplat`.
    pub name: &'a str,
    /// Its title, as in a sentence.
    pub title: &'a str,
    /// The group that a resource or data source is listed in, by its type name.
    pub subcategory: &'a dyn Fn(&str) -> &'static str,
    /// The text of an example by its path below `examples/`: `resources/mlplat_gpu_pool/resource.tf`.
    pub example: &'a dyn Fn(&str) -> Option<String>,
}

// === impl Reference ===

impl Reference<'_> {
    /// The pages by their path below `docs/`.
    pub fn pages(&self) -> BTreeMap<String, String> {
        let mut pages = BTreeMap::from([("index.md".to_owned(), self.index())]);
        for resource in self.provider.resources() {
            let path = format!("resources/{}.md", self.short(resource.type_name()));
            pages.insert(path, self.resource(resource.as_ref()));
        }
        for source in self.provider.data_sources() {
            let path = format!("data-sources/{}.md", self.short(source.type_name()));
            pages.insert(path, self.data_source(source.type_name(), &source.schema()));
        }
        for function in self.provider.functions() {
            let example = (self.example)(&format!("functions/{}/function.tf", function.name()));
            let page = function::page(self.name, function.name(), &function.signature(), example);
            pages.insert(format!("functions/{}.md", function.name()), page);
        }
        pages
    }

    fn index(&self) -> String {
        let schema = self.provider.schema();
        let mut page = Page::new(&format!("Provider: {}", self.name), "", &schema.block.description);
        page.heading(1, self.title);
        page.text(&schema.block.description);
        self.usage(&mut page, "provider/provider.tf");
        page.push(&schema_sections(&schema.block));
        page.finish()
    }

    fn resource(&self, resource: &dyn Resource) -> String {
        let (name, schema) = (resource.type_name(), resource.schema());
        let title = format!("{name} Resource - {}", self.name);
        let mut page = Page::new(&title, (self.subcategory)(name), &schema.block.description);
        page.heading(1, &format!("{name} (resource)"));
        page.deprecation(schema.block.deprecated.as_deref());
        page.text(&schema.block.description);
        self.usage(&mut page, &format!("resources/{name}/resource.tf"));
        page.push(&schema_sections(&schema.block));
        self.import(&mut page, name, &resource.identity_schema());
        moves(&mut page, name, &resource.sources());
        page.finish()
    }

    fn data_source(&self, name: &str, schema: &Schema) -> String {
        let title = format!("{name} Data Source - {}", self.name);
        let mut page = Page::new(&title, (self.subcategory)(name), &schema.block.description);
        page.heading(1, &format!("{name} (data source)"));
        page.deprecation(schema.block.deprecated.as_deref());
        page.text(&schema.block.description);
        self.usage(&mut page, &format!("data-sources/{name}/data-source.tf"));
        page.push(&schema_sections(&schema.block));
        page.finish()
    }

    fn usage(&self, page: &mut Page, path: &str) {
        if let Some(example) = (self.example)(path) {
            page.heading(2, "Example");
            page.code("terraform", &example);
        }
    }

    fn import(&self, page: &mut Page, name: &str, identity: &IdentitySchema) {
        let names: Vec<&str> = identity.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        if names.is_empty() {
            return;
        }
        let id = names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join("/");
        page.heading(2, "Import");
        page.text(&format!("By its id, which has the form `{id}`:"));
        let by_id = format!("import {{\n  to = {name}.example\n  id = \"{id}\"\n}}");
        page.code("terraform", &by_id);
        if let Some(example) = (self.example)(&format!("resources/{name}/import.sh")) {
            page.text("Or on the command line:");
            page.code("shell", &example);
        }
        page.text("By its identity (Terraform 1.12 and later):");
        let width = names.iter().map(|name| name.len()).max().unwrap_or_default();
        let lines = names.iter().map(|name| format!("    {name:width$} = \"<{name}>\"\n")).collect::<Vec<_>>().concat();
        page.code("terraform", &format!("import {{\n  to = {name}.example\n  identity = {{\n{lines}  }}\n}}"));
    }

    fn short<'n>(&self, type_name: &'n str) -> &'n str {
        type_name.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('_')).unwrap_or(type_name)
    }
}

fn moves(page: &mut Page, name: &str, sources: &[(&str, &str)]) {
    let Some((_, first)) = sources.first() else { return };
    page.heading(2, "Move");
    let types: Vec<_> = sources.iter().map(|(provider, source)| format!("`{source}` of `{provider}`")).collect();
    page.text(&format!(
        "A `moved` block takes over the state of {}, and with it the object (Terraform 1.8, OpenTofu 1.10 and later). \
         What the resource does beside that object leaves the state by `removed` blocks with `destroy = false`.",
        types.join(" and ")
    ));
    page.code("terraform", &format!("moved {{\n  from = {first}.example\n  to   = {name}.example\n}}"));
}

#[cfg(test)]
mod tests;
