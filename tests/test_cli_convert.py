"""``c45gpu convert``, and ARFF with the other commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from c45gpu.cli import main
from c45gpu.data import textblocks
from c45gpu.data.c45files import read_stem
from c45gpu.data.compressed import read_text
from c45gpu.data.frames import read_file
from tests.data.same import assert_same

CHAIN = ["p.arff", "p.csv.gz", "p.parquet", "sparse.arff.zst", "p.tsv", "p.arrow"]


def convert(source: Path, output: Path, *options: str) -> None:
    assert main(["convert", str(source), str(output), *options]) == 0


def test_a_chain_of_conversions_ends_in_the_file_it_began_with(examples: Path, tmp_path: Path) -> None:
    source, options = examples / "penguins", [""]
    for name in [*CHAIN, "again.names"]:
        sparse = ["--sparse"] if name.startswith("sparse") else []
        convert(source, tmp_path / name, *filter(None, options), *sparse)
        source, options = tmp_path / name, ["" if ".arff" in name else "--target=class"]
    assert (tmp_path / "again.data").read_bytes() == (examples / "penguins.data").read_bytes()
    assert_same(read_stem(tmp_path / "again")[0], read_stem(examples / "penguins")[0])


FORMATS = ["p.arff", "p.csv", "p.tsv.gz", "p.parquet", "p.arrow", "p.names", "q.names.zst"]
TRICKY = """@relation r
@attribute 'the \\'size\\'' numeric
@attribute "word, or two" {'a, b','say \\"so\\"',c.,'1 | 2',-}
@attribute n {2,10,1}
@attribute empty numeric
@attribute class {'no: never',yes,é}
@data
1.5,'a, b',2,?,yes
?,c.,10,?,'no: never'
-1e300,?,1,?,?
0.1,'say \\"so\\"',?,?,é
3,'1 | 2',2,?,yes
4,-,2,?,yes
"""


def words(path: Path) -> list[tuple[str, list[object]]]:
    """What a file says, whatever its format."""
    convert(path, path.with_name("read.parquet"), *as_tricky(path))
    return [(name, column.to_pylist()) for name, column in parquet_columns(path.with_name("read.parquet"))]


def as_tricky(path: Path) -> list[str]:
    """How to read a file that says less than ARFF does."""
    if any(suffix in (".arff", ".names") for suffix in path.suffixes):
        return []
    return ["--target", "class", "--categorical", "n", "--continuous", "empty"]


def parquet_columns(path: Path) -> Iterator[tuple[str, pa.ChunkedArray]]:
    table = parquet.read_table(path)
    return zip(table.column_names, table.columns, strict=True)


@pytest.mark.parametrize("first", FORMATS)
def test_any_format_is_converted_to_any_other(tmp_path: Path, first: str) -> None:
    (tmp_path / "tricky.arff").write_text(TRICKY)
    wanted = words(tmp_path / "tricky.arff")
    assert wanted[-1] == ("class", ["yes", "no: never", None, "é", "yes", "yes"])
    convert(tmp_path / "tricky.arff", tmp_path / first)
    for second in FORMATS:
        convert(tmp_path / first, tmp_path / f"to_{second}", *as_tricky(tmp_path / first))
        assert words(tmp_path / f"to_{second}") == wanted


def test_arff_is_trained_on_and_predicted(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arff = tmp_path / "p.arff"
    convert(examples / "penguins", arff)
    for source, model in ((arff, "a.c45"), (examples / "penguins", "b.c45")):
        assert main(["train", str(source), "-o", str(tmp_path / model)]) == 0
    assert (tmp_path / "a.c45").read_bytes() == (tmp_path / "b.c45").read_bytes()
    capsys.readouterr()
    answers = []
    for cases in (arff, examples / "penguins.data"):
        assert main(["predict", str(tmp_path / "a.c45"), str(cases)]) == 0
        assert main(["evaluate", str(tmp_path / "a.c45"), str(cases)]) == 0
        answers.append(capsys.readouterr().out.replace(str(cases), "CASES"))
    assert answers[0] == answers[1]


def test_a_test_file_is_converted_by_its_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.names").write_text("yes, no.\nd: discrete 3.\nx: continuous.\ni: ignore.\n")
    (tmp_path / "t.data").write_text("a,1,9,yes\nb,2,9,no\n")
    (tmp_path / "t.test").write_text("b,?,8,?\n")
    convert(tmp_path / "t.test", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "d,x,class\nb,,\n"
    assert "the values of ignored attributes are not written: i" in capsys.readouterr().err


def test_a_case_without_a_class_stays_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,class\n1,a\n2,\n3,b\n")
    source = "t.csv"
    for output in ("t.parquet", "t.arff", "t.names.zst", "u.arrow", "u.csv"):
        convert(
            tmp_path / source, tmp_path / output, *([] if source.endswith(("arff", "zst")) else ["--target", "class"])
        )
        source = output
    assert (tmp_path / "t.arff").read_text().endswith("@data\n1,a\n2,?\n3,b\n")
    assert read_text(tmp_path / "t.data.zst") == b"1,a\n2,?\n3,b\n"
    assert (tmp_path / "u.csv").read_text() == "x,class\n1,a\n2,\n3,b\n"


def test_a_file_that_does_not_fit_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(textblocks, "BYTES_OF_A_BLOCK", 1 << 10)
    (tmp_path / "t.names").write_text("a, b.\nx: continuous.\n")
    (tmp_path / "t.data").write_text("1,a\n" * 3000 + "2\n")
    for output in ("u.csv", "u.arff.gz", "u.parquet", "u"):
        assert main(["convert", str(tmp_path / "t"), str(tmp_path / output)]) == 1
        assert f"{tmp_path}/t.data:3001: the record has 1 fields" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.data", "t.names"]


def test_progress_is_told_while_it_reads_and_while_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[tuple[int, str], list[int]] = {}

    @contextmanager
    def bar_of(total: int, doing: str) -> Iterator[Callable[[int], None]]:
        yield told.setdefault((total, doing), []).append

    monkeypatch.setattr(sys.modules["c45gpu.cli.convert"], "bar_of", bar_of)
    (tmp_path / "t.csv").write_text("x,class\n" + "1,a\n" * 200)
    convert(tmp_path / "t.csv", tmp_path / "t.parquet", "--target", "class")
    size = (tmp_path / "t.csv").stat().st_size
    assert {what: done[-1] for what, done in told.items()} == {(size, "reading"): size, (size, "writing"): size}


def test_it_tells_how_to_read_the_same_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.arff").write_text("@relation r\n@attribute d {1,2}\n@attribute c {a,b}\n@data\n1,a,{2}\n2,b\n")
    convert(tmp_path / "t.arff", tmp_path / "t.csv")
    assert "add --categorical d" in capsys.readouterr().err
    table = read_file(tmp_path / "t.csv", target="c", categorical=["d"], weight="weight")
    assert table.weights is not None
    assert table.weights.tolist() == [2, 1]
    convert(tmp_path / "t.csv", tmp_path / "u.arff", "--target", "c", "--categorical", "d", "--weight", "weight")
    assert_same(read_file(tmp_path / "u.arff"), read_file(tmp_path / "t.arff"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{0}/none", "{0}/t.csv"], 1, "there is no such file"),
        (["{0}/t.csv", "{0}/t.arff"], 2, "--target is missing"),
        (["{0}/t.csv", "{0}/t.xlsx", "--target", "c"], 2, "the suffix tells no format"),
        (["{0}/t.csv", "{0}/t.parquet.gz", "--target", "c"], 2, "are compressed inside"),
        (["{0}/t.csv", "{0}/u", "--target", "c", "--sparse"], 2, "only ARFF has sparse rows"),
        (["{0}/t.csv", "{0}/u.csv", "--target", "c", "--sparse"], 2, "only ARFF has sparse rows"),
        (["{0}/t.csv", "{0}/u", "--target", "c", "--weight", "x"], 1, "weights, which a .data file cannot hold"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "t.csv").write_text("x,c\n1,a\n2,b\n")
    assert main(["convert", *(argument.format(tmp_path) for argument in arguments)]) == code
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
