"""The rules of the bundle format, the code and the tests cite each other."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_rules", ROOT / "tools" / "check_rules.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_rule_has_code_a_test_and_a_message(checker: ModuleType) -> None:
    assert checker.check(ROOT) == []


def test_missing_and_unknown_labels_are_named(checker: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "reference" / "bundle.md"
    page.parent.mkdir(parents=True)
    page.write_text("- **B1** One.\n- **B2** Two.\n### Writing\n- **B3** Three.\n- **B3** Again.\n")
    (tmp_path / "src" / "core" / "bundle").mkdir(parents=True)
    (tmp_path / "src" / "core" / "bundle" / "a.cpp").write_text("// B1\n// B3\n// B9\n")
    (tmp_path / "tests" / "core" / "bundle").mkdir(parents=True)
    (tmp_path / "tests" / "core" / "bundle" / "a_test.cpp").write_text(
        'TEST(A, b1_x) {}\nTEST(A, b2_x) {}\nTEST(A, b3_x) { EXPECT("[B1]"); }\n'
    )
    assert checker.check(tmp_path) == [
        "docs/reference/bundle.md: B3 is stated twice",
        "docs/reference/bundle.md: B2 is cited by no source",
        "src/core/bundle/a.cpp: there is no rule B9 in docs/reference/bundle.md",
        "docs/reference/bundle.md: B2 is in no tested message",
    ]
