"""C4.5's files, compressed, wherever plain ones are read; and values that a model has not seen."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from c45gpu.cli import main
from c45gpu.data.c45files import read_stem
from c45gpu.errors import DataError
from tests.data.same import assert_same


def packed(content: bytes, suffix: str) -> bytes:
    """The bytes of a file whose suffix says how they are compressed."""
    if suffix == ".zst":
        return bytes(pa.Codec("zstd").compress(content))
    return gzip.compress(content) if suffix == ".gz" else bz2.compress(content)


@pytest.fixture
def stem(examples: Path, tmp_path: Path) -> str:
    """The penguins, each file compressed in another way; the test file is the training file."""
    for suffix, codec, source in (
        (".names", ".zst", "penguins.names"),
        (".data", ".gz", "penguins.data"),
        (".test", ".bz2", "penguins.data"),
    ):
        (tmp_path / f"p{suffix}{codec}").write_bytes(packed((examples / source).read_bytes(), codec))
    return str(tmp_path / "p")


def test_a_stem_is_read(examples: Path, stem: str) -> None:
    plain = read_stem(examples / "penguins")[0]
    training, test = read_stem(stem)
    assert_same(training, plain)
    assert test is not None
    assert_same(test, plain)


def test_every_command_reads_them(
    examples: Path, stem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.costs.gz").write_bytes(gzip.compress(b"Adelie, Gentoo: 2\n"))
    (tmp_path / "plain.costs").write_bytes(b"Adelie, Gentoo: 2\n")
    plain = ["--costs", str(tmp_path / "plain.costs"), "--test", str(examples / "penguins.data")]
    answers = []
    for source, options in (
        (stem, ["-u"]),
        (f"{stem}.data.gz", ["-u"]),
        (str(examples / "penguins"), plain),
    ):
        model = tmp_path / f"{len(answers)}.c45"
        assert main(["train", source, *options, "-o", str(model)]) == 0
        capsys.readouterr()
        cases = str(examples / "penguins.data") if options is plain else f"{stem}.test.bz2"
        assert main(["predict", str(model), cases, "--proba"]) == 0
        assert main(["evaluate", str(model), cases, "--json"]) == 0
        assert main(["rules", str(model), "--data", cases]) == 0
        answers.append((model.read_bytes(), capsys.readouterr().out.replace(cases, "CASES")))
    assert answers[0] == answers[1] == answers[2]


def test_what_is_not_compressed_is_told(stem: str) -> None:
    Path(f"{stem}.names.zst").write_bytes(b"Adelie, Gentoo.\n")
    with pytest.raises(DataError, match=r"p\.names\.zst: is not a zstd file, or is cut short"):
        read_stem(stem)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("name", "rows", "place"),
    [
        ("t.csv", "d,n,class\na,k,yes\nz,k,no\n", "t.csv:3: column 'd': 'z' is none of the values in training (a, b)"),
        ("t.csv", "d,n,class\na,z,yes\n", "t.csv:2: column 'n': 'z' is none of the values in training (k, l)"),
        ("t.test", "a,k,yes\n\nz,k,no\n", "t.test:3: attribute 'd': 'z' is not one of its values (a, b)"),
        ("t.test.gz", "a,z,yes\n", "t.test.gz:1: attribute 'n': 'z' is not one of its values (k, l)"),
    ],
)
def test_unseen_values_are_unknown_or_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str, rows: str, place: str
) -> None:
    (tmp_path / "t.names").write_text("yes, no.\nd: a, b.\nn: discrete 3.\n")
    (tmp_path / "t.data").write_text("a,k,yes\na,l,yes\nb,k,no\nb,l,no\n")
    model, cases = str(tmp_path / "t.c45"), tmp_path / name
    assert main(["train", str(tmp_path / "t"), "-o", model]) == 0
    cases.write_bytes(gzip.compress(rows.encode()) if name.endswith(".gz") else rows.encode())
    capsys.readouterr()
    assert main([command, model, str(cases)]) == 0
    by_default = capsys.readouterr().out
    assert main([command, model, str(cases), "--unseen", "unknown"]) == 0
    assert capsys.readouterr().out == by_default
    assert main([command, model, str(cases), "--unseen", "error"]) == 1
    assert place in capsys.readouterr().err
