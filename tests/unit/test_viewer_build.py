"""The build hook: the bundle when it can be made, a reason when it cannot."""

import importlib.util
import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import dalembert as da

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src" / "dalembert" / "viewer" / "web"


@pytest.fixture
def hook(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "BUNDLE", tmp_path / "bundle")
    return module


@pytest.fixture
def without_npm(hook, monkeypatch):
    """Neither npm nor the package that brings it."""

    def refuse(command, **_):
        raise subprocess.CalledProcessError(1, command, stderr="no matching distribution")

    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(subprocess, "run", refuse)
    return hook


def test_without_npm_the_build_goes_on_and_says_why(without_npm):
    assert "there was no npm" in without_npm.build_viewer()
    assert "there was no npm" in (without_npm.BUNDLE / "problem.txt").read_text()


def test_nothing_is_required_that_an_index_may_not_have(hook):
    """A build requirement that cannot be had ends an installation before the hook could go on without it."""
    assert "dependencies" not in vars(hook.ViewerHook)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert [name.partition(">")[0] for name in project["build-system"]["requires"]] == ["hatchling"]


def test_pip_shows_a_version_that_says_what_is_missing(without_npm, monkeypatch):
    metadata = {}
    without_npm.VersionHook.update(None, metadata)
    assert metadata == {"version": f"{da.__version__}+without.viewer"}
    monkeypatch.setattr(without_npm, "build_viewer", lambda: None)
    without_npm.VersionHook.update(None, metadata)
    assert metadata == {"version": da.__version__}


def test_a_release_without_the_viewer_fails(without_npm, monkeypatch):
    data = {"artifacts": []}
    without_npm.ViewerHook.initialize(None, "standard", data)
    assert data["artifacts"] == ["/src/dalembert/viewer/bundle/*"]
    monkeypatch.setenv("DALEMBERT_RELEASE", "1")
    with pytest.raises(RuntimeError, match="a release has the viewer"):
        without_npm.ViewerHook.initialize(None, "standard", data)


def test_licences_of_bundled_scripts_are_licence_files():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "licenses/*.txt" in project["license-files"] and "MIT" in project["license"]
    script = (WEB.parent / "bundle" / "viewer.js").read_text(encoding="utf-8")
    wanted = json.loads((WEB / "package.json").read_text())
    for name in wanted["dependencies"]:
        assert (ROOT / "licenses" / f"{name}.txt").read_text(encoding="utf-8").strip() in script[:6000]


def test_packages_that_cannot_be_fetched(hook, monkeypatch):
    def refuse(command, **_):
        raise subprocess.CalledProcessError(1, command, stderr="npm error code ENOTFOUND\nnpm error address /secret/path")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert hook.build_viewer() == "npm ci failed (ENOTFOUND)"


def test_bundle_is_made_once(hook, monkeypatch):
    made = []

    def pretend(folder):
        made.append(folder)
        (folder / "bundle").mkdir(parents=True)
        for name in hook.OUTPUTS:
            (folder / "bundle" / name).write_text(name)

    monkeypatch.setattr(hook, "_bundle", pretend)
    assert hook.build_viewer() is None
    assert {path.name for path in hook.BUNDLE.iterdir()} == {"viewer.js", "viewer.css", "stamp.txt"}
    assert hook.build_viewer() is None
    assert len(made) == 1


def test_packages_are_pinned_and_name_no_registry():
    lock = json.loads((WEB / "package-lock.json").read_text())
    wanted = json.loads((WEB / "package.json").read_text())
    packages = {name: record for name, record in lock["packages"].items() if name}
    assert all("resolved" not in record and record["integrity"].startswith("sha512-") for record in packages.values())
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_bundle_carries_the_notices_of_what_is_in_it():
    script = (WEB.parent / "bundle" / "viewer.js").read_text(encoding="utf-8")
    for words in ("three.js authors", "Leon Sorokin", "Permission is hereby granted"):
        assert words in script[:4000]
