//! Imports between the files of a crate, read from its sources. A re-export is no import: an import of a re-exported
//! item counts as an import from the file that defines the item. A call of an inherent method counts as an import from
//! the file with the `impl` block that defines the method. Test modules are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

pub(super) use super::methods::ItemPath;
use super::methods::{MethodIndex, Methods, TypeId};

/// A leaf of a `use` statement.
struct Import {
    /// Module that contains the statement.
    module: ItemPath,
    /// Path as written.
    written: Vec<String>,
    /// Path within the crate, once all files are read. Until then, the path is empty.
    path: ItemPath,
    /// Name that the statement brings into the module. A glob has the name `*`.
    name: String,
    is_public: bool,
}

/// One file of the crate.
#[derive(Default)]
struct SourceFile {
    imports: Vec<Import>,
    /// Paths in code, as written, each with the module that contains it.
    paths: Vec<(ItemPath, Vec<String>)>,
    /// Identifiers in code outside `use` statements.
    words: HashSet<String>,
    /// Names of the items that the file defines.
    items: HashSet<String>,
    /// Names of the modules that the file contains in braces. Their items count as items of the file.
    inline_modules: HashSet<String>,
    methods: Methods,
    /// Names of the macros with `#[macro_export]`, which have a path at the root of the crate.
    exported_macros: HashSet<String>,
}

/// Files of a crate and their imports.
pub(super) struct ImportGraph {
    files: BTreeMap<ItemPath, SourceFile>,
    edges: BTreeMap<ItemPath, BTreeSet<ItemPath>>,
}

impl ImportGraph {
    /// Reads the crate whose root is `file`.
    pub(super) fn of_crate(file: &Path) -> Self {
        let mut graph = Self { files: BTreeMap::new(), edges: BTreeMap::new() };
        graph.read_file(file, vec![]);
        graph.resolve_imports();
        let methods = graph.index_methods();
        for path in graph.files.keys().cloned().collect::<Vec<_>>() {
            let mut imports = graph.imports_of(&path);
            imports.extend(graph.files_of_called_methods(&path, &methods));
            graph.edges.insert(path, imports);
        }
        graph
    }

    /// Returns the files that each file imports from.
    pub(super) fn edges(&self) -> &BTreeMap<ItemPath, BTreeSet<ItemPath>> {
        &self.edges
    }

    /// Returns the circles. Each circle lists the names of its files, with the first file again at the end.
    pub(super) fn circles(&self) -> Vec<Vec<String>> {
        let (mut done, mut circles) = (HashSet::new(), Vec::new());
        for start in self.edges.keys() {
            self.walk(start, &mut vec![], &mut done, &mut circles);
        }
        circles
    }

    fn walk<'g>(
        &'g self,
        at: &'g ItemPath,
        trail: &mut Vec<&'g ItemPath>,
        done: &mut HashSet<&'g ItemPath>,
        circles: &mut Vec<Vec<String>>,
    ) {
        if let Some(first) = trail.iter().position(|seen| *seen == at) {
            circles.push(trail[first..].iter().chain([&at]).map(|path| path.join("::")).collect());
            return;
        }
        if done.contains(at) {
            return;
        }
        trail.push(at);
        for next in &self.edges[at] {
            self.walk(next, trail, done, circles);
        }
        trail.pop();
        done.insert(at);
    }

    /// Resolves the imports of all files, and drops imports from other crates.
    fn resolve_imports(&mut self) {
        let mut files = std::mem::take(&mut self.files);
        self.files = files.keys().map(|path| (path.clone(), SourceFile::default())).collect();
        for file in files.values_mut() {
            file.imports.retain_mut(|import| match self.absolute(&import.module, &import.written) {
                Some(path) => {
                    import.path = path;
                    true
                }
                None => false,
            });
        }
        self.files = files;
    }

    fn read_file(&mut self, file: &Path, path: ItemPath) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "main" | "mod") => file.parent().unwrap().to_owned(),
            _ => file.with_extension(""),
        };
        let mut source = SourceFile::default();
        let mut children = Vec::new();
        read_items(&parsed.items, &path, &folder, &mut source, &mut children);
        self.files.insert(path.clone(), source);
        for (name, file) in children {
            self.read_file(&file, [path.clone(), vec![name]].concat());
        }
    }

    /// Resolves a path that code in `module` contains. Returns `None` for paths into other crates.
    fn absolute(&self, module: &ItemPath, written: &[String]) -> Option<ItemPath> {
        let rest = |from: usize| written[from..].to_vec();
        match written[0].as_str() {
            "crate" => Some(rest(1)),
            "self" => Some([module.clone(), rest(1)].concat()),
            "super" => {
                let up = written.iter().take_while(|part| *part == "super").count();
                Some([module[..module.len().checked_sub(up)?].to_vec(), rest(up)].concat())
            }
            first => {
                let child = [module.clone(), vec![first.to_owned()]].concat();
                self.files.contains_key(&child).then(|| [module.clone(), written.to_vec()].concat())
            }
        }
    }

    /// Returns the file that defines the item at `path`.
    fn definition(&self, path: &ItemPath, depth: usize) -> Option<ItemPath> {
        assert!(depth < 20, "re-exports of {} form a circle", path.join("::"));
        let (module, rest) =
            (0..=path.len()).rev().map(|at| path.split_at(at)).find(|(module, _)| self.files.contains_key(*module))?;
        let file = &self.files[module];
        let inline = rest.iter().take_while(|part| file.inline_modules.contains(*part)).count();
        let (module, rest) = (module.to_vec(), &rest[inline..]);
        let Some(item) = rest.first() else { return Some(module) };
        let of_macro =
            |(path, file): (&ItemPath, &SourceFile)| file.exported_macros.contains(item).then(|| path.clone());
        if let Some(defined) = self.files.iter().filter(|_| module.is_empty()).find_map(of_macro) {
            return Some(defined);
        }
        if file.items.contains(item) {
            return Some(module);
        }
        let import = file.imports.iter().find(|import| import.name == *item);
        if let Some(import) = import {
            return self.definition(&[import.path.clone(), rest[1..].to_vec()].concat(), depth + 1);
        }
        let globs = file.imports.iter().filter(|import| import.name == "*");
        let mut found = globs.filter_map(|glob| {
            let target = [glob.path.clone(), rest.to_vec()].concat();
            let defined = self.definition(&target, depth + 1)?;
            self.files[&defined].items.contains(item).then_some(defined)
        });
        Some(found.next().unwrap_or(module))
    }

    fn index_methods(&self) -> MethodIndex {
        let mut index = MethodIndex::default();
        for (path, file) in &self.files {
            for method in &file.methods.defined {
                if let Some(of) = self.type_id(path, &method.module, &method.type_path) {
                    index.add(of, &method.name, path);
                }
            }
            index.add_names(&file.methods);
        }
        index
    }

    /// Returns the files of the inherent methods that the file at `path` calls. A call on a value other than `self` is
    /// found if the crate has only one method with this name and the file names the type of the method.
    fn files_of_called_methods(&self, path: &ItemPath, index: &MethodIndex) -> BTreeSet<ItemPath> {
        let file = &self.files[path];
        let own_calls = file.methods.own_calls.iter();
        let own =
            own_calls.filter_map(|call| index.of_type(self.type_id(path, &call.module, &call.type_path)?, &call.name));
        let of_types = file.paths.iter().filter_map(|(module, written)| {
            let (name, type_path) = written.split_last()?;
            index.of_type(self.type_id(path, module, type_path)?, name)
        });
        let of_values = file.methods.calls.iter().filter_map(|(receiver, name)| {
            let (type_name, file_of_method) = index.of_value(receiver.as_deref(), name)?;
            file.words.contains(type_name).then_some(file_of_method)
        });
        own.chain(of_types).chain(of_values).filter(|target| *target != path).cloned().collect()
    }

    /// Returns the type of the crate that code in `module` of the file calls `written`.
    fn type_id(&self, file: &ItemPath, module: &ItemPath, written: &[String]) -> Option<TypeId> {
        let (name, rest) = written.split_last()?;
        let source = &self.files[file];
        if rest.is_empty() && source.items.contains(name) {
            return Some((file.clone(), name.clone()));
        }
        let import = source.imports.iter().find(|import| import.name == written[0]);
        let path = match import {
            Some(import) => [import.path.clone(), written[1..].to_vec()].concat(),
            // A type that a glob brings into the module has a path through the module.
            None => self.absolute(module, written).unwrap_or_else(|| [module.as_slice(), written].concat()),
        };
        let defined = self.definition(&path, 0)?;
        let name = path.last()?.clone();
        self.files[&defined].items.contains(&name).then_some((defined, name))
    }

    fn imports_of(&self, path: &ItemPath) -> BTreeSet<ItemPath> {
        let file = &self.files[path];
        let mut targets = Vec::new();
        let aliases: HashMap<&str, &ItemPath> =
            file.imports.iter().map(|import| (import.name.as_str(), &import.path)).collect();
        for import in &file.imports {
            let is_used = file.words.contains(&import.name);
            if import.name != "*" && (is_used || !import.is_public) {
                targets.push(import.path.clone());
            }
        }
        for (module, written) in &file.paths {
            let absolute = self.absolute(module, written).or_else(|| {
                let target = aliases.get(written[0].as_str()).filter(|target| self.files.contains_key(**target))?;
                Some([(*target).clone(), written[1..].to_vec()].concat())
            });
            targets.extend(absolute);
        }
        for glob in file.imports.iter().filter(|import| import.name == "*" && !import.is_public) {
            targets.extend(file.words.iter().filter_map(|word| {
                let target = [glob.path.clone(), vec![word.clone()]].concat();
                let defined = self.definition(&target, 0)?;
                self.files[&defined].items.contains(word).then_some(target)
            }));
        }
        let defined = targets.iter().filter_map(|target| self.definition(target, 0));
        defined.filter(|defined| defined != path).collect()
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.meta.to_token_stream().to_string().contains("test")
    })
}

fn read_items(
    items: &[syn::Item],
    module: &ItemPath,
    folder: &Path,
    source: &mut SourceFile,
    children: &mut Vec<(String, PathBuf)>,
) {
    for item in items {
        match item {
            syn::Item::Use(item) if !is_test(&item.attrs) => read_use(item, module, source),
            syn::Item::Mod(item) if is_test(&item.attrs) => {}
            syn::Item::Mod(item) => {
                let name = item.ident.to_string();
                let Some((_, content)) = &item.content else {
                    let files = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                    children.extend(files.into_iter().find(|file| file.exists()).map(|file| (name, file)));
                    continue;
                };
                source.inline_modules.insert(name.clone());
                read_items(content, &[module.clone(), vec![name]].concat(), folder, source, children);
            }
            item => {
                let tokens = item.to_token_stream();
                if let syn::Item::Macro(item) = item
                    && item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
                {
                    source.exported_macros.extend(item.ident.as_ref().map(ToString::to_string));
                }
                if !tokens.to_string().starts_with("# [cfg (test)]") {
                    source.items.extend(item_name(item));
                    source.methods.read(item, module);
                    read_tokens(tokens, module, source);
                }
            }
        }
    }
}

fn item_name(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Const(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Macro(item) => item.ident.as_ref()?.to_string(),
        syn::Item::Static(item) => item.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Trait(item) => item.ident.to_string(),
        syn::Item::Type(item) => item.ident.to_string(),
        syn::Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn read_use(item: &syn::ItemUse, module: &ItemPath, source: &mut SourceFile) {
    let is_public = !matches!(item.vis, syn::Visibility::Inherited);
    let mut leaves = Vec::new();
    use_leaves(&item.tree, vec![], &mut leaves);
    for (written, name) in leaves {
        source.imports.push(Import { module: module.clone(), written, path: vec![], name, is_public });
    }
}

/// Collects the leaves of a `use` tree: the path and the name in scope. A glob has the name `*`.
fn use_leaves(tree: &syn::UseTree, mut prefix: Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            use_leaves(&path.tree, prefix, leaves);
        }
        syn::UseTree::Name(name) if name.ident == "self" => {
            let last = prefix.last().cloned().unwrap_or_default();
            leaves.push((prefix, last));
        }
        syn::UseTree::Name(name) => {
            prefix.push(name.ident.to_string());
            leaves.push((prefix, name.ident.to_string()));
        }
        syn::UseTree::Rename(rename) => {
            prefix.push(rename.ident.to_string());
            leaves.push((prefix, rename.rename.to_string()));
        }
        syn::UseTree::Glob(_) => leaves.push((prefix, "*".to_owned())),
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| use_leaves(tree, prefix.clone(), leaves));
        }
    }
}

/// Collects all paths `a::b::c` and all identifiers of the tokens.
fn read_tokens(tokens: TokenStream, module: &ItemPath, source: &mut SourceFile) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                let word = ident.to_string();
                if colons != 2 {
                    end_path(&mut path, module, source);
                }
                path.push(word.clone());
                source.words.insert(word);
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                if colons == 2 && group.delimiter() == Delimiter::Brace {
                    for inner in brace_leaves(group.stream()) {
                        source.paths.push((module.clone(), [path.clone(), inner].concat()));
                    }
                    path.clear();
                }
                end_path(&mut path, module, source);
                colons = 0;
                read_tokens(group.stream(), module, source);
            }
            _ => {
                end_path(&mut path, module, source);
                colons = 0;
            }
        }
    }
    end_path(&mut path, module, source);
}

/// Ends the current path, and stores the path if it has several words. Drops a path of one word, because such a path
/// names an item that the file defines or imports.
fn end_path(path: &mut Vec<String>, module: &ItemPath, source: &mut SourceFile) {
    let ended = std::mem::take(path);
    if ended.len() > 1 {
        source.paths.push((module.clone(), ended));
    }
}

/// Splits the text in the braces of a `use` inside a function at the commas, and each element at `::`.
fn brace_leaves(tokens: TokenStream) -> Vec<Vec<String>> {
    let text = tokens.to_string();
    text.split(',').map(|leaf| leaf.split("::").map(|part| part.trim().to_owned()).collect()).collect()
}
