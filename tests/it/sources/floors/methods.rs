//! Inherent methods of a file and the calls of methods in it, read from its tokens.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// Path of a module or an item within its crate, without the crate's name.
pub(super) type ItemPath = Vec<String>;

/// Methods of one file.
#[derive(Default)]
pub(super) struct Methods {
    /// Functions of the `impl` blocks without a trait.
    pub(super) defined: Vec<Method>,
    /// Calls on `self` and `Self`, with the type of their `impl` block.
    pub(super) own_calls: Vec<Method>,
    /// Calls on other values: the name of the variable or field, if the value has one, and the name of the method.
    pub(super) calls: Vec<(Option<String>, String)>,
    /// Words of the types that variables and fields are declared with, by the name of the variable or field.
    pub(super) declared: Vec<(String, String)>,
    /// Names of the functions of traits, and of the functions that implement them.
    pub(super) of_traits: Vec<String>,
}

/// Name of a method and the path of its type as written in `module`.
pub(super) struct Method {
    pub(super) module: ItemPath,
    pub(super) type_path: Vec<String>,
    pub(super) name: String,
}

impl Methods {
    /// Reads one item of the module.
    pub(super) fn read(&mut self, item: &syn::Item, module: &ItemPath) {
        let mut type_path = None;
        if let syn::Item::Impl(item) = item {
            type_path = path_of_type(&item.self_ty);
            for function in item.items.iter().filter_map(name_of_function) {
                match &type_path {
                    _ if item.trait_.is_some() => self.of_traits.push(function),
                    Some(path) => self.defined.push(Method::new(module, path, function)),
                    None => {}
                }
            }
        }
        if let syn::Item::Trait(item) = item {
            let functions = item.items.iter().filter_map(|item| match item {
                syn::TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
                _ => None,
            });
            self.of_traits.extend(functions);
        }
        self.read_calls(item.to_token_stream(), module, type_path.as_deref());
    }

    fn read_calls(&mut self, tokens: TokenStream, module: &ItemPath, type_path: Option<&[String]>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                self.read_calls(group.stream(), module, type_path);
            }
            let TokenTree::Ident(name) = token else { continue };
            let (name, after) = (name.to_string(), &tokens[at + 1..]);
            let before = |back: usize| at.checked_sub(back).map(|at| &tokens[at]);
            let is = |back: usize, text: &str| before(back).is_some_and(|token| token.to_string() == text);
            // A method may also be passed on: `Self::m`.
            let on_self = is(1, ".") && is(2, "self") && !is(3, ".") || is(1, ":") && is(2, ":") && is(3, "Self");
            match type_path.filter(|_| on_self) {
                Some(path) => self.own_calls.push(Method::new(module, path, name)),
                None if is(1, ".") && is_called(after) => {
                    let receiver = before(2).filter(|token| matches!(token, TokenTree::Ident(_)));
                    self.calls.push((receiver.map(ToString::to_string), name));
                }
                None => self.declared.extend(declared_types(after).map(|word| (name.clone(), word))),
            }
        }
    }
}

/// Returns the words of the type after a name: `: Type`. The value of a field in a struct literal looks the same.
fn declared_types(after: &[TokenTree]) -> impl Iterator<Item = String> {
    let is_colon = matches!(after.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
        && !matches!(after.get(1), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    let is_end = |token: &&TokenTree| matches!(token, TokenTree::Punct(punct) if ",;=".contains(punct.as_char()));
    let of_type = after.iter().skip(1).take_while(move |token| !is_end(token)).filter(move |_| is_colon);
    of_type.filter(|token| matches!(token, TokenTree::Ident(_))).map(ToString::to_string)
}

impl Method {
    fn new(module: &ItemPath, type_path: &[String], name: String) -> Self {
        Self { module: module.clone(), type_path: type_path.to_vec(), name }
    }
}

/// Returns true if the tokens after a name call it: `(…)` or `::<…>(…)`.
fn is_called(after: &[TokenTree]) -> bool {
    match after.first() {
        Some(TokenTree::Group(group)) => group.delimiter() == proc_macro2::Delimiter::Parenthesis,
        Some(TokenTree::Punct(colon)) => colon.as_char() == ':' && colon.spacing() == proc_macro2::Spacing::Joint,
        _ => false,
    }
}

fn path_of_type(of: &syn::Type) -> Option<Vec<String>> {
    match of {
        syn::Type::Path(path) => Some(path.path.segments.iter().map(|part| part.ident.to_string()).collect()),
        syn::Type::Reference(inner) => path_of_type(&inner.elem),
        _ => None,
    }
}

fn name_of_function(item: &syn::ImplItem) -> Option<String> {
    match item {
        syn::ImplItem::Fn(function) => Some(function.sig.ident.to_string()),
        _ => None,
    }
}

/// Type of a crate: the file that defines it and its name.
pub(super) type TypeId = (ItemPath, String);

/// Files that define the inherent methods of a crate.
#[derive(Default)]
pub(super) struct MethodIndex {
    of_types: HashMap<(TypeId, String), ItemPath>,
    by_name: HashMap<String, Vec<(TypeId, ItemPath)>>,
    of_traits: HashSet<String>,
    declared: HashMap<String, HashSet<String>>,
}

impl MethodIndex {
    /// Adds a method that the file defines.
    pub(super) fn add(&mut self, of: TypeId, name: &str, file: &ItemPath) {
        self.by_name.entry(name.to_owned()).or_default().push((of.clone(), file.clone()));
        self.of_types.insert((of, name.to_owned()), file.clone());
    }

    /// Adds the functions of traits and the declarations of a file.
    pub(super) fn add_names(&mut self, methods: &Methods) {
        self.of_traits.extend(methods.of_traits.iter().cloned());
        for (name, word) in &methods.declared {
            self.declared.entry(name.clone()).or_default().insert(word.clone());
        }
    }

    /// Returns the file that defines the method of a type.
    pub(super) fn of_type(&self, of: TypeId, name: &str) -> Option<&ItemPath> {
        self.of_types.get(&(of, name.to_owned()))
    }

    /// Returns the name of the type and the file of the only method with this name. Returns `None` if traits have such
    /// a method too, or if the crate declares variables of the receiver's name, but only with other types.
    pub(super) fn of_value(&self, receiver: Option<&str>, name: &str) -> Option<(&str, &ItemPath)> {
        let [((_, type_name), file)] = self.by_name.get(name)?.as_slice() else { return None };
        let declared = receiver.and_then(|receiver| self.declared.get(receiver));
        let fits = declared.is_none_or(|types| types.contains(type_name)) && !self.of_traits.contains(name);
        fits.then_some((type_name.as_str(), file))
    }
}
