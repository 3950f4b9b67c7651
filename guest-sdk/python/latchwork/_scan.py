"""Finds the imports of a plugin's modules without running them: `python3 _scan.py MAIN PATH...`, JSON on
stdout.

All modules are imported while the component is built, because a running component has no files. This includes modules
that a function imports only when the function runs. The scan reports an import with its line if the module does not
exist, or if the name of the module is only known at run time.
"""

import ast
import json
import os
import sys

# Modules that a component cannot support, with the feature that is missing.
_MISSING = {"multiprocessing": "processes", "socketserver": "a network", "subprocess": "processes"}


def find(name, paths):
    """Returns the file of a module of the plugin, or None if the module is not part of the plugin."""
    parts = name.split(".")
    for path in paths:
        base = os.path.join(path, *parts)
        for file in (base + ".py", os.path.join(base, "__init__.py")):
            if os.path.isfile(file):
                return file
    return None


def exists(name, paths):
    top = name.split(".")[0]
    if top in sys.stdlib_module_names or top in sys.builtin_module_names:
        return True
    return any(os.path.isdir(os.path.join(path, top)) or os.path.isfile(os.path.join(path, top + ".py")) for path in paths)


class Imports(ast.NodeVisitor):
    """Collects all imports of a module with their lines."""

    def __init__(self, package):
        self.package, self.found, self.dynamic = package, [], []
        self._late = self._optional = 0

    def visit_FunctionDef(self, node):
        self._late += 1
        self.generic_visit(node)
        self._late -= 1

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_Try(self, node):
        caught = {name for handler in node.handlers for name in _names(handler.type)}
        optional = not caught.isdisjoint({"ImportError", "ModuleNotFoundError", "Exception", ""})
        self._optional += optional
        for statement in node.body:
            self.visit(statement)
        self._optional -= optional
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_Import(self, node):
        for alias in node.names:
            self._add(alias.name, node)

    def visit_ImportFrom(self, node):
        base = node.module or ""
        if node.level:
            parts = self.package.split(".") if self.package else []
            parts = parts[: len(parts) - node.level + 1]
            base = ".".join([*parts, base] if base else parts)
        if base:
            self._add(base, node)

    def visit_Call(self, node):
        called = ast.unparse(node.func)
        if called in ("__import__", "importlib.import_module", "import_module"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                self._add(first.value, node)
            elif self._late:
                self.dynamic.append(node.lineno)
        self.generic_visit(node)

    def _add(self, name, node):
        self.found.append((name, node.lineno, self._late > 0, self._optional > 0))


def _names(node):
    if node is None:
        return [""]
    if isinstance(node, ast.Tuple):
        return [name for item in node.elts for name in _names(item)]
    return [ast.unparse(node)]


def scan(main, paths):
    preload, problems, seen = [], [], set()
    waiting = [(os.path.splitext(os.path.basename(main))[0], main)]
    while waiting:
        module, file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        shown = os.path.relpath(file) if file.startswith(os.getcwd()) else file
        with open(file, "rb") as source:
            text = source.read()
        try:
            tree = ast.parse(text, filename=file)
        except SyntaxError as error:
            problems.append({"file": shown, "line": error.lineno or 1, "message": f"syntax error: {error.msg}"})
            continue
        is_package = os.path.basename(file) == "__init__.py"
        imports = Imports(module if is_package else module.rpartition(".")[0])
        imports.visit(tree)
        for line in imports.dynamic:
            message = "imports a module whose name is only known at run time, when there are no files to import from"
            problems.append({"file": shown, "line": line, "message": message})
        for name, line, late, optional in imports.found:
            top = name.split(".")[0]
            if top == "latchwork" or (optional and not exists(name, paths)):
                continue
            if top in _MISSING:
                message = f"{name}: a component has no {_MISSING[top].removeprefix('a ')}; a step accesses the outside world with tools.call"
                problems.append({"file": shown, "line": line, "message": message})
                continue
            if not exists(name, paths):
                message = f"there is no module {name}: add its package with its version to requirements.txt"
                problems.append({"file": shown, "line": line, "message": message})
                continue
            own = find(name, paths)
            if own is not None:
                waiting.append((name, own))
            if late and name not in preload and name != module:
                preload.append(name)
    return {"preload": preload, "problems": problems}


if __name__ == "__main__":
    print(json.dumps(scan(sys.argv[1], sys.argv[2:])))
