"""The page's JavaScript: types checked, every name known once, nothing fetched."""

import json
import re
import subprocess
from importlib.resources import files

import pytest
from tools import NO_CHECKER, checker

from hushpath.output.page.explorer import program

JS = files("hushpath.output.page") / "js"
STRICT = {
    "checkJs": True, "allowJs": True, "noEmit": True, "strict": True, "target": "es2023", "module": "es2022",
    "moduleResolution": "bundler", "lib": ["es2023", "dom", "dom.iterable"], "types": [], "noUnusedLocals": True,
    "noUnusedParameters": True, "noImplicitReturns": True,
}  # fmt: skip


def checked(folder, include):
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": STRICT, "include": include}))
    return subprocess.run([checker(), "-p", str(folder)], capture_output=True, text=True)


@pytest.mark.skipif(checker() is None, reason=NO_CHECKER)
def test_types(tmp_path):
    done = checked(tmp_path, [str(JS / "*.js")])
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.skipif(checker() is None, reason=NO_CHECKER)
def test_a_wrong_type_is_found(tmp_path):
    (tmp_path / "wrong.js").write_text("/** @param {number} x */\nexport function f(x) {\n  return x.length;\n}\n")
    assert "TS2339" in checked(tmp_path, ["*.js"]).stdout


@pytest.mark.parametrize("name", ["main", "worker"])
def test_a_program_is_one_script_with_each_name_once(name):
    text = program(name)
    assert not re.search(r"^(import|export) ", text, re.M)
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", text, re.M)
    assert len(names) == len(set(names)) > 3
    assert "</script" not in text


def test_nothing_is_fetched():
    for one in JS.iterdir():
        assert not re.search(
            r"https?:|fetch\(|XMLHttpRequest|WebSocket|innerHTML|eval\(|localStorage", one.read_text()
        ), one
