"""scripts/release on a small repository: what it refuses, and what it makes.

Run as ``test/release_test.py``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIES = {
    "CMakeLists.txt": "project(nonzero VERSION {} LANGUAGES CXX)\n",
    "CITATION.cff": "version: {}\n",
    "packaging/conda-forge/recipe.yaml": '  version: "{}"\n',
    "packaging/spack/packages/nonzero/package.py": '    version("{}")\n',
    "packaging/vcpkg/nonzero/vcpkg.json": '  "version": "{}",\n',
}
CHANGES = "# Changelog\n\n## 1.2.3 (2026-01-02)\n\n### Added\n\n- A thing.\n\n## 1.2.2\n\n- Old.\n"


class Release(unittest.TestCase):
    """Each test has a repository of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in COPIES.items():
            self.write(name, text.format("1.2.3"))
        self.write("CHANGELOG.md", CHANGES)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "release", self.root / "scripts" / "release")
        self.write(".gitignore", "/dist/\n")
        self.git("init", "--quiet")
        self.commit()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A commit", "--allow-empty")

    def release(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        person = {
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return subprocess.run(
            ["scripts/release", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            env=os.environ | person,
        )

    def refused(self, why: str, *arguments: str) -> None:
        done = self.release(*(arguments or ("--test", "true", "1.2.3")))
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(why, done.stderr)
        self.assertEqual(self.git("tag"), "")

    def test_tag_and_archive(self) -> None:
        done = self.release("--test", "true", "1.2.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Left to do:", done.stdout)
        self.assertEqual(self.git("tag").split(), ["v1.2.3"])
        notes = self.git("tag", "--list", "--format=%(contents)", "v1.2.3")
        self.assertEqual(notes.strip(), "## 1.2.3 (2026-01-02)\n\n### Added\n\n- A thing.")
        with tarfile.open(self.root / "dist" / "nonzero-1.2.3.tar.gz") as archive:
            self.assertIn("nonzero-1.2.3/CHANGELOG.md", archive.getnames())
        again = self.release("--test", "true", "1.2.3")
        self.assertIn("there is a tag v1.2.3", again.stderr)

    def test_pictures_that_a_package_index_does_not_show_are_told(self) -> None:
        for picture, told in (("docs/a.svg", True), ("https://example.org/a.svg", False)):
            self.write("README.md", f"![A picture]({picture})\n")
            self.commit()
            done = self.release("--test", "true", "1.2.3")
            self.assertEqual("pictures of README.md" in done.stdout, told, picture)
            self.git("tag", "--delete", "v1.2.3")

    def test_versions_that_disagree(self) -> None:
        self.refused("expected a version", "1.2")
        self.refused("CMakeLists.txt has version 1.2.3, expected 1.3.0", "--check", "1.3.0")
        for name in list(COPIES)[1:]:
            self.write(name, COPIES[name].format("1.2.2"))
            self.refused(f"{name} has no ", "--check", "1.2.3")
            self.write(name, COPIES[name].format("1.2.3"))
        self.assertEqual(self.release("--check", "1.2.3").returncode, 0)

    def test_a_tree_with_changes(self) -> None:
        self.write("new.txt", "")
        self.refused("changes that are in no commit")

    def test_a_changelog_that_is_not_ready(self) -> None:
        for text, why in (
            (CHANGES.replace("2026-01-02", "not released"), "has no section '## 1.2.3 (YYYY"),
            (CHANGES.replace("Added", "Improved"), "no kind '### Improved'"),
            (CHANGES.replace("- A thing.\n", ""), "has no entry for 1.2.3"),
        ):
            self.write("CHANGELOG.md", text)
            self.commit()
            self.refused(why)

    def test_tests_that_fail(self) -> None:
        self.refused("the tests failed; nothing is tagged", "--test", "false", "1.2.3")


class ThisRepository(unittest.TestCase):
    """What a release will look at is in order between releases too."""

    def test_the_version_is_the_same_everywhere(self) -> None:
        found = re.search(
            r"^project\(nonzero VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M
        )
        assert found is not None
        done = subprocess.run(
            [ROOT / "scripts" / "release", "--check", found[1]],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_newest_changes_are_told_by_kind(self) -> None:
        newest = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1]
        kinds = re.findall(r"^### (.*)$", newest, re.M)
        expected = [k for k in ("Breaking", "Added", "Faster", "Fixed") if k in kinds]
        self.assertEqual(kinds, expected)
        self.assertTrue("\n- " not in newest.split("\n### ")[0], "an entry before the first kind")

    def test_workflows_run_scripts_alone(self) -> None:
        workflows = list((ROOT / ".github" / "workflows").glob("*.yml"))
        self.assertGreaterEqual(len(workflows), 3)
        for workflow in workflows:
            for command in re.findall(r"\brun: (.*)", workflow.read_text()):
                script = ROOT / command.split()[0]
                self.assertTrue(command.startswith("scripts/"), command)
                self.assertTrue(os.access(script, os.X_OK), command)


if __name__ == "__main__":
    unittest.main()
