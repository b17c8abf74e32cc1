"""Small deliberate errors in Python sources: one node of the syntax tree is changed, the rest of the text stays as it is."""

from __future__ import annotations

import ast
import copy
import difflib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """kind : what was done;  text : the whole source with the change;  line : where"""

    path: Path
    kind: str
    line: int
    text: str
    original: str

    @property
    def diff(self) -> str:
        """The changed lines, `-` and `+`."""
        lines = difflib.unified_diff(self.original.splitlines(), self.text.splitlines(), n=0, lineterm="")
        return "\n".join(line.rstrip() for line in list(lines)[3:])


def changes(node: ast.AST) -> list[tuple[str, ast.AST]]:
    """Every way in which this node is made wrong."""
    found: list[tuple[str, ast.AST]] = []

    def changed(kind: str, **fields: object) -> None:
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        found.append((kind, other))

    match node:
        case ast.BinOp(left=left, op=op) if type(op) in OPERATORS:
            changed("operator", op=OPERATORS[type(op)]())
            if isinstance(op, ast.Add | ast.Sub):
                found.append(("dropped term", left))
        case ast.AugAssign(op=op) if type(op) in OPERATORS:
            changed("operator", op=OPERATORS[type(op)]())
            found.append(("dropped statement", ast.Pass()))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found.append(("sign", operand))
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            changed("comparison", ops=[OPERATORS[type(op)]()])
        case ast.BoolOp(op=op):
            changed("and, or", op=OPERATORS[type(op)]())
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(value)):
            changed("index", value=value + 1)
        case ast.Constant(value=float(value)):
            changed("constant", value=2.0 * value if value else 1.0)
        case ast.Call(args=[a, b, *rest], keywords=[]) if ast.dump(a) != ast.dump(b):
            changed("swapped arguments", args=[b, a, *rest])
    return found


def nodes(tree: ast.Module) -> list[ast.AST]:
    """Nodes inside functions; not annotations, messages, decorators or defaults."""
    inside: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert | ast.AnnAssign | ast.Import | ast.ImportFrom):
            return
        inside.append(node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                visit(statement)
    return list(dict.fromkeys(inside))


def mutants(path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of the text."""
    text = path.read_text(encoding="utf-8")
    starts = np.cumsum([0, *(len(line.encode()) for line in text.splitlines(True))])
    raw, made = text.encode(), []
    for node in nodes(ast.parse(text)):
        for kind, other in changes(node):
            first = starts[node.lineno - 1] + node.col_offset
            last = starts[node.end_lineno - 1] + node.end_col_offset
            new = ast.unparse(ast.fix_missing_locations(other))
            if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
                new = f"({new})"
            changed = (raw[:first] + new.encode() + raw[last:]).decode()
            try:
                ast.parse(changed)
            except SyntaxError:
                continue
            made.append(Mutant(path, kind, node.lineno, changed, text))
    return made
