"""Adds files outside of docs/ to the site: MkDocs calls these functions while it builds.

The README is the first page. A file of the repository that a page links to, such as a header, gets
a page with its text, and a directory gets one with a list of its files. So every link that works in
the repository also works on the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
#: Files in the repository's root that become pages of the site.
ROOT_PAGES = {"README.md": "index.md"} | {
    name: name for name in ("COMPATIBILITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
}
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".c": "c", ".py": "python", ".sh": "sh", ".yaml": "yaml"}
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, content=(ROOT / name).read_text()))
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    listed = [f"- [{_title(page)}]({page.name})" for page in decisions]
    text = "# Decisions\n\nChoices that were not obvious, each on a page.\n\n" + "\n".join(listed)
    files.append(File.generated(config, "decisions/index.md", content=text + "\n"))
    for place in [f"docs/{file.src_uri}" for file in files.documentation_pages()]:
        name = _source_of(place)
        for _, target, _ in LINK.findall((ROOT / name).read_text() if name else ""):
            path = _outside(name, target)
            if path and not files.get_file_from_path(_page_of(path)):
                files.append(File.generated(config, _page_of(path), content=_text_of(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Redirect links that leave docs/ to the generated pages."""
    del config, files
    name = _source_of(f"docs/{page.file.src_uri}")
    if not name:
        return markdown

    def lead(match: re.Match[str]) -> str:
        target, anchor = match[2], match[3] or ""
        path = _inside(name, target)
        if path is None:
            return match[0]
        uri = _page_of(path) if _outside(name, target) else _uri_of(path)
        relative = posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".")
        return f"{match[1]}{relative}{anchor})"

    return LINK.sub(lead, markdown)


def _title(page: Path) -> str:
    return page.read_text().partition("\n")[0].removeprefix("# ")


def _source_of(place: str) -> str:
    """Return the file of the repository that a page comes from; nothing for a generated page."""
    for name, uri in ROOT_PAGES.items():
        if place == f"docs/{uri}":
            return name
    return place if (ROOT / place).is_file() else ""


def _inside(page: str, target: str) -> str | None:
    """Return the path in the repository that a link of a page refers to, if there is one."""
    if re.match(r"[a-z]+:", target):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return path if (ROOT / path).exists() else None


def _outside(page: str, target: str) -> str | None:
    """Return that path if it is not a page of the site."""
    path = _inside(page, target)
    in_site = path is None or path in ROOT_PAGES or path.startswith("docs/")
    # The page of a directory of docs/ is its README, if it has one.
    if path and (ROOT / path).is_dir() and not (ROOT / path / "README.md").is_file():
        in_site = False
    return None if in_site else path


def _uri_of(path: str) -> str:
    if (ROOT / path).is_dir():
        path += "/README.md"
    return ROOT_PAGES.get(path, path.removeprefix("docs/"))


def _page_of(path: str) -> str:
    return f"source/{path}.md"


def _text_of(path: str) -> str:
    file = ROOT / path
    if file.is_dir():
        names = sorted(
            each.name for each in file.iterdir() if not each.name.startswith((".", "__"))
        )
        return f"# {path}/\n\n" + "".join(f"- `{name}`\n" for name in names)
    if file.suffix == ".md":
        return f"# {path}\n\n```` markdown\n{file.read_text()}\n````\n"
    return f"# {path}\n\n```` {LANGUAGES.get(file.suffix, 'text')}\n{file.read_text()}\n````\n"
