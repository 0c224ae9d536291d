"""Snippets of the documentation that no ```console block runs: snippets.py ROOT.

```python parses, and what it calls of foretrace is declared with these keywords; ```json parses; ```sh is a shell's, and the files
and make targets that it names exist; a block of another kind is an error.
"""
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
bad = []
count = 0

# Functions and methods of the package by name: the keywords that one of them takes, None for any.
declared = {}
for stub in ("__init__.pyi", "__init__.py", *(p.name for p in sorted((root / "apps/python/foretrace").glob("_[a-z]*.py")))):
    for node in ast.walk(ast.parse((root / "apps/python/foretrace" / stub).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            declared.setdefault(node.name, set()).add(None)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = declared.setdefault(node.name, set())
            names.update(a.arg for a in node.args.args + node.args.kwonlyargs)
            if node.args.kwarg:
                names.add(None)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared.setdefault(node.target.id, set())
makefile = (root / "Makefile").read_text(encoding="utf-8")
targets = set(re.findall(r"^([a-z_-]+(?: [a-z_-]+)*):", makefile, re.MULTILINE))
targets = {name for group in targets for name in group.split()}


def check_python(text, where):
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        bad.append(f"{where}: {error.msg} in line {error.lineno} of the block")
        return
    ours = {"foretrace"}  # and what was made by it
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and root_name(node.value) in ours:
            for target in node.targets:
                ours.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or root_name(node) not in ours:
            continue
        if isinstance(node.func.value, ast.Subscript):
            continue  # a member of plain data
        name = node.func.attr
        if name not in declared:
            bad.append(f"{where}: foretrace has no {name}")
        elif None not in declared[name]:
            bad.extend(f"{where}: {name}() has no keyword {k.arg}" for k in node.keywords if k.arg not in declared[name])


def root_name(node):
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def check_shell(text, where):
    bash = shutil.which("bash")
    if bash:
        done = subprocess.run([bash, "-n"], input=text, capture_output=True, text=True)
        if done.returncode:
            bad.append(f"{where}: {done.stderr.strip()}")
    for path in re.findall(r"(?<![\w/.$-])((?:examples|configs|tests|apps|trace|models|sim)/[\w./-]*[\w])", text):
        if not (root / path).exists():
            bad.append(f"{where}: {path} does not exist")
    for target in re.findall(r"^make ([a-z_-]+)", text, re.MULTILINE):
        if target not in targets:
            bad.append(f"{where}: make has no target {target}")


pages = [p for p in root.rglob("*.md") if not {"build", "shared", "node_modules"} & set(p.relative_to(root).parts)]
for page in sorted(pages):
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        indent, kind, body = block.groups()
        body = "\n".join(line[len(indent):] for line in body.split("\n"))
        where = f"{page.relative_to(root)}:{text.count(chr(10), 0, block.start()) + 1}"
        count += kind in ("python", "sh", "json")
        if kind == "python":
            check_python(body, where)
        elif kind == "sh":
            check_shell(body, where)
        elif kind == "json":
            try:
                json.loads(body)
            except ValueError as error:
                bad.append(f"{where}: {error}")
        elif kind not in ("console", "text", "yaml", ""):
            bad.append(f"{where}: a block of kind {kind}, which no test reads")

if bad:
    sys.exit("snippets:\n  " + "\n  ".join(bad))
if count < 25:
    sys.exit(f"only {count} snippets were found")
print(f"{count} snippets are right")
