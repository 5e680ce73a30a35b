//! `cargo xtask new`: the files of a new resource or component, and the lines that make them known.

mod edit;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use acceptance_tests::command;
use anyhow::{Result, bail, ensure};

use self::edit::Checkout;
use crate::checkout;

const RESOURCE: &str = include_str!("templates/resource.txt");
const COMPONENT: &str = include_str!("templates/component.txt");
const DRIVER: &str = include_str!("templates/driver.txt");

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let written = match words[..] {
        ["resource", name] => resource(checkout::root(), &Name::new(name)?)?,
        ["component", name] => component(checkout::root(), &Name::new(name)?)?,
        _ => bail!("usage: cargo xtask new resource|component <name_in_snake_case>"),
    };
    format(&written)?;
    println!("Written:");
    for path in written {
        println!("  {}", path.display());
    }
    println!("\nWhat comes next is in CONTRIBUTING.md. `cargo xtask docs` writes the reference.");
    Ok(())
}

// Lines that grew too long are broken as everywhere.
fn format(written: &[PathBuf]) -> Result<()> {
    let sources = written.iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    command::run(Command::new("rustfmt").args(["--edition", "2024"]).args(sources).current_dir(checkout::root()))?;
    Ok(())
}

fn resource(root: &Path, name: &Name) -> Result<Vec<PathBuf>> {
    let (snake, camel) = (&name.snake, &name.camel);
    let mut checkout = Checkout::new(root);
    checkout.create(&format!("src/resources/{snake}.rs"), &name.fill_in(RESOURCE))?;
    checkout.insert("src/resources/mod.rs", "pub mod ", &format!("pub mod {snake};"))?;
    checkout.insert("src/resources/mod.rs", "pub use ", &format!("pub use {snake}::{camel};"))?;
    checkout.insert("src/provider.rs", "resource::<", &format!("resource::<{camel}>(ground),"))?;
    checkout.add_name("src/provider.rs", "resources::{", camel)?;
    let example = format!("resource \"mlplat_{snake}\" \"example\" {{\n  name = \"example\"\n}}\n");
    checkout.create(&format!("examples/resources/mlplat_{snake}/resource.tf"), &example)?;
    let import = format!("# The id is the name.\nterraform import mlplat_{snake}.example example\n");
    checkout.create(&format!("examples/resources/mlplat_{snake}/import.sh"), &import)?;
    let note = format!("feature: resource/mlplat_{snake}: say in one sentence what users can do now.");
    checkout.append("changes/unnumbered.md", &note)?;
    Ok(checkout.into_written())
}

fn component(root: &Path, name: &Name) -> Result<Vec<PathBuf>> {
    let (snake, camel) = (&name.snake, &name.camel);
    let mut checkout = Checkout::new(root);
    checkout.create(&format!("src/components/aws/{snake}.rs"), &name.fill_in(COMPONENT))?;
    checkout.insert("src/components/aws/mod.rs", "mod ", &format!("mod {snake};"))?;
    let names = format!("pub use {snake}::{{{camel}, {camel}Draft, {camel}Outputs}};");
    checkout.insert("src/components/aws/mod.rs", "pub use ", &names)?;
    checkout.create(&format!("src/drivers/aws/{snake}.rs"), &name.fill_in(DRIVER))?;
    checkout.insert("src/drivers/aws/mod.rs", "mod ", &format!("mod {snake};"))?;
    let registered = format!("drivers.register({snake}::{camel}Driver(aws()));");
    checkout.insert("src/drivers/aws/mod.rs", "drivers.register(", &registered)?;
    Ok(checkout.into_written())
}

/// A name in the spellings that source files need.
struct Name {
    snake: String,
    camel: String,
}

// === impl Name ===

impl Name {
    fn new(text: &str) -> Result<Self> {
        let snake = text.trim_start_matches("mlplat_");
        let is_snake = snake.starts_with(|first: char| first.is_ascii_lowercase())
            && snake.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && snake.split('_').all(|word| !word.is_empty());
        ensure!(is_snake, "{text:?} is no name: write it like `efs_file_system`");
        let camel = snake.split('_').map(capitalised).collect();
        Ok(Self { snake: snake.to_owned(), camel })
    }

    fn fill_in(&self, template: &str) -> String {
        let words = self.snake.replace('_', " ");
        template.replace("@name@", &self.snake).replace("@Name@", &self.camel).replace("@words@", &words)
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A copy of the files that are edited, as they are now.
    fn copy() -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        for path in [
            "src/resources/mod.rs",
            "src/provider.rs",
            "src/components/aws/mod.rs",
            "src/drivers/aws/mod.rs",
            "changes/README.md",
        ] {
            let target = copy.path().join(path);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(checkout::root().join(path), target).unwrap();
        }
        copy
    }

    #[test]
    fn a_new_resource_is_a_file_with_its_registration_example_and_note() {
        let copy = copy();
        let written = resource(copy.path(), &Name::new("night_shift").unwrap()).unwrap();
        let read = |path: &str| fs::read_to_string(copy.path().join(path)).unwrap();
        assert!(read("src/resources/night_shift.rs").contains("impl Composite for NightShift"));
        assert!(read("src/resources/mod.rs").contains("pub mod night_shift;\n"));
        assert!(read("src/provider.rs").contains("            resource::<NightShift>(ground),\n"));
        assert!(read("src/provider.rs").contains("ModelBucket, NightShift, "));
        assert!(read("examples/resources/mlplat_night_shift/resource.tf").contains("mlplat_night_shift"));
        assert_eq!(written.len(), 6, "{written:?}");
        assert!(resource(copy.path(), &Name::new("night_shift").unwrap()).is_err(), "nothing is overwritten");
    }

    #[test]
    fn a_new_component_has_a_driver_that_is_registered() {
        let copy = copy();
        component(copy.path(), &Name::new("efs_file_system").unwrap()).unwrap();
        let drivers = fs::read_to_string(copy.path().join("src/drivers/aws/mod.rs")).unwrap();
        assert!(drivers.contains("    drivers.register(efs_file_system::EfsFileSystemDriver(aws()));\n"), "{drivers}");
        let components = fs::read_to_string(copy.path().join("src/components/aws/mod.rs")).unwrap();
        assert!(components.contains("mod efs_file_system;\nmod eks_node_group;\n"), "{components}");
    }

    #[test]
    fn a_name_is_in_snake_case() {
        assert_eq!(Name::new("mlplat_gpu_pool").unwrap().camel, "GpuPool");
        for bad in ["GpuPool", "gpu-pool", "", "gpu__pool", "_x"] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }
}
