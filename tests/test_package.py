"""The sdist builds, the wheel made from it is whole and holds no sources, and it works away from the checkout."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytest.importorskip("build", reason="the package build needs the 'build' tool, which the dev extra installs")


def run(*command: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_sdist_and_wheel(tmp_path: Path) -> None:
    # A copy without what builds leave behind, so that nothing stale gets in.
    left_behind = shutil.ignore_patterns(
        ".git", ".venv", "build", "dist", "*.so", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", ".benchmarks"
    )
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT, checkout, ignore=left_behind)
    run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", str(tmp_path), cwd=checkout)
    (sdist,) = tmp_path.glob("fsst_arrow-*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    (source,) = (tmp_path / "sdist").iterdir()
    assert (source / "fsst/csrc/port.hpp").is_file()
    assert (source / "tests/golden").is_dir()

    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path), cwd=source)
    (wheel,) = tmp_path.glob("fsst_arrow-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        archive.extractall(tmp_path / "installed")
    suffixes = {Path(name).suffix for name in names}
    assert suffixes == {".py", ".pyi", ".so", ".typed"}, sorted(names)
    assert {name.split("/")[0] for name in names} == {"fsst"}
    assert {f"fsst/{path.name}" for path in (ROOT / "fsst").glob("*.py")} <= set(names)

    program = "import fsst; c = fsst.compress(['row', None] * 9); print(fsst.__file__, fsst.decompress(c)[16])"
    printed = run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(tmp_path / "installed"))
    assert printed.split() == [str(tmp_path / "installed/fsst/__init__.py"), "row"]
