//! The modules of the crate import each other without a cycle. A module and those inside of it
//! count as one to the modules beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Module = Vec<String>;

/// Adds the source text of the modules in a folder, by the path of the module.
fn read(folder: &Path, parent: &[String], sources: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut module = parent.to_vec();
        module.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        if path.is_dir() {
            read(&path, &module, sources);
        } else {
            sources.insert(module, fs::read_to_string(path).unwrap());
        }
    }
}

/// The names of the paths in `code` that begin with `root`, as `crate`.
fn paths<'a>(code: &'a str, root: &str) -> impl Iterator<Item = Vec<&'a str>> + use<'a> {
    let is_in_path = |character: char| character.is_alphanumeric() || "_:".contains(character);
    let after = code.split(&format!("{root}::")).skip(1).collect::<Vec<_>>();
    after.into_iter().map(move |text| {
        let end = text.find(|character| !is_in_path(character));
        let path = &text[..end.unwrap_or(text.len())];
        path.split("::").filter(|name| !name.is_empty()).collect()
    })
}

/// The uses of modules by modules beside them.
fn uses(sources: &BTreeMap<Module, String>) -> BTreeSet<(Module, Module)> {
    let mut uses = BTreeSet::new();
    for (module, source) in sources {
        let lines = source
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default());
        let code = lines.collect::<Vec<_>>().join("\n");
        let parent = &module[..module.len() - 1];
        let from_crate = paths(&code, "crate").inspect(|path| {
            let is_module = |name: &&str| sources.contains_key(&vec![name.to_string()]);
            let is_seen = path.first().is_some_and(is_module);
            assert!(is_seen, "{module:?}: crate::{path:?} is in no module");
        });
        let from_parent = paths(&code, "super");
        let targets = from_crate
            .map(|path| (&[][..], path))
            .chain(from_parent.map(|path| (parent, path)));
        for (base, path) in targets {
            let mut target = base.to_vec();
            for name in path {
                target.push(name.to_owned());
                if !sources.contains_key(&target) {
                    target.pop();
                    break;
                }
            }
            let mut names = module.iter().zip(&target);
            if let Some(shared) = names.position(|(ours, theirs)| ours != theirs) {
                uses.insert((module[..=shared].to_vec(), target[..=shared].to_vec()));
            }
        }
    }
    uses
}

/// The uses that are left after all that are in no cycle.
fn cyclic<T: Ord + Clone>(mut uses: BTreeSet<(T, T)>) -> BTreeSet<(T, T)> {
    loop {
        let users: BTreeSet<T> = uses.iter().map(|(user, _)| user.clone()).collect();
        let used: BTreeSet<T> = uses.iter().map(|(_, used)| used.clone()).collect();
        let count = uses.len();
        uses.retain(|(from, to)| used.contains(from) && users.contains(to));
        if uses.len() == count {
            return uses;
        }
    }
}

#[test]
fn modules_form_no_cycle() {
    let mut sources = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    read(&folder, &[], &mut sources);
    sources.retain(|module, _| module[0] != "gen" && module[0] != "lib");
    let uses = uses(&sources);
    assert!(uses.len() > sources.len(), "the uses were not found");
    assert_eq!(cyclic(uses), BTreeSet::new());
}

#[test]
fn cycles_are_found_by_any_path_to_a_module_or_its_item() {
    let texts = [
        ("a", "use crate::b::c::Thing;"),
        ("b", "use crate::d; // use crate::a;"),
        ("b::c", "use crate::b::e::Other;"),
        ("b::e", "fn call() { super::c::call() }"),
        ("d", "fn call() { crate::a::call() }"),
        ("f", "use crate::a::Thing;"),
    ];
    let module = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
    let sources = texts.map(|(path, text)| (module(path), text.to_owned()));
    let expected = [
        ("a", "b"),
        ("b", "d"),
        ("d", "a"),
        ("b::c", "b::e"),
        ("b::e", "b::c"),
    ];
    let expected = expected.map(|(from, to)| (module(from), module(to)));
    assert_eq!(cyclic(uses(&sources.into())), expected.into());
}
