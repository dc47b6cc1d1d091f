"""What a module offers is what its ``__all__`` says, and no module reaches for another's private names."""

import ast
from collections.abc import Iterator

from tests.project.tree import PACKAGES, ROOT, modules, parsed


def declared(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            names = ast.literal_eval(node.value)
            assert isinstance(names, list | tuple)
            return list(names)
    return None


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module's top level; of one under a condition (`if TYPE_CHECKING`), those of both branches."""
    for node in body:
        if isinstance(node, ast.If):
            yield from statements([*node.body, *node.orelse])
        else:
            yield node


def bound(tree: ast.Module) -> set[str]:
    """Names that the module's top level binds."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    for node in statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        elif node.__class__.__name__ == "TypeAlias":
            names.add(node.name.id)  # type: ignore[attr-defined]
    return names


def test_all_names_exist_once() -> None:
    for path in modules():
        tree = parsed(path)
        names = declared(tree) or []
        assert len(names) == len(set(names)), path
        lazy = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
        assert lazy or set(names) <= bound(tree), path


def test_no_private_name_crosses_a_module() -> None:
    crossing = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}.{alias.name}"
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert not crossing


def test_the_packages_offer_what_they_name() -> None:
    import fakeazure
    import harness

    for package in (harness, fakeazure):
        for name in package.__all__:
            assert getattr(package, name) is not None, name
