from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.errors import ModelError
from c45gpu.model import sealed
from c45gpu.model.store import Model, load, model_bytes, save
from tests.golden_trees import chain, inner, leaf, tree_of
from tests.model.test_validate import FAULTS, SCHEMA, UNPRUNED, spoiled

ROOT = Path(__file__).resolve().parents[2]


def small_model() -> Model:
    pruned = tree_of(inner("threshold", 0, leaf(4.0, 2.0, errors=2.5), leaf(0.0, 2.0), cut=0.1), SCHEMA)
    return Model(SCHEMA, tree_of(UNPRUNED, SCHEMA), pruned, {"min_cases": 2, "compat": None}, {"n_cases": 8})


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    model, path = small_model(), tmp_path / "small.model"
    save(model, path)
    loaded = load(path)
    assert loaded.schema == model.schema
    assert (loaded.options, loaded.record) == (model.options, model.record)
    assert loaded.unpruned.equals(model.unpruned)
    assert loaded.pruned.equals(model.pruned)
    assert model_bytes(loaded) == path.read_bytes() == model_bytes(model)


def test_nothing_but_the_model_is_left_in_the_folder(tmp_path: Path) -> None:
    save(small_model(), str(tmp_path / "small.model"))
    save(small_model(), tmp_path / "small.model")
    assert [entry.name for entry in tmp_path.iterdir()] == ["small.model"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real.model")
    save(small_model(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "real.model").unpruned.equals(small_model().unpruned)


SAVE_AND_HASH = (
    "import sys, hashlib; from tests.model.test_store import *; save(small_model(), sys.argv[1]);"
    "print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())"
)


def test_same_bytes_whatever_the_hash_seed_and_locale(tmp_path: Path) -> None:
    settings = [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    ]
    hashes = [
        subprocess.run(
            [sys.executable, "-c", SAVE_AND_HASH, str(tmp_path / f"{number}.model")],
            env={**os.environ, **setting},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number, setting in enumerate(settings)
    ]
    assert hashes[0].strip() == hashes[1].strip() == hashlib.sha256(model_bytes(small_model())).hexdigest()


def test_a_deep_tree_is_saved_and_loaded(tmp_path: Path) -> None:
    schema, root = chain(5000)
    tree = tree_of(root, schema)
    save(Model(schema, tree, tree, {}, {}), tmp_path / "deep.model")
    assert load(tmp_path / "deep.model").pruned.equals(tree)


# ---------------------------------------------------------------- files that are no sound model


def refusal(path: Path, content: bytes | None = None) -> str:
    """The message with which a file is refused: one line that begins with the file."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def rebuilt(change: Callable[[dict[str, Any], dict[str, bytes]], object], wrong: dict[str, str] | None = None) -> bytes:
    """A model file whose header and members were changed before the check sums were taken, but for some wrong ones."""
    with zipfile.ZipFile(io.BytesIO(model_bytes(small_model()))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop("header.json"))
    change(header, members)
    header["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    header["sha256"] |= wrong or {}
    return sealed.sealed_zip({"header.json": json.dumps(header).encode(), **members})


def npy(array: Any, **options: bool) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def test_rebuilding_without_a_change_gives_a_model(tmp_path: Path) -> None:
    (tmp_path / "same.model").write_bytes(rebuilt(lambda header, members: None))
    assert load(tmp_path / "same.model").pruned.equals(small_model().pruned)


def test_a_member_that_does_not_match_its_check_sum(tmp_path: Path) -> None:
    content = rebuilt(lambda header, members: None, wrong={"pruned/label.npy": "0" * 64})
    assert "pruned/label.npy does not match its check sum" in refusal(tmp_path / "m", content)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "none.model")
    assert "cannot be read" in refusal(tmp_path)


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "foreign.model"
    assert "no model file" in refusal(path, b"")
    assert "no model file" in refusal(path, b"sepal,petal\n1,2\n")
    assert "pickle, which is never read" in refusal(path, pickle.dumps({"a": 1}))
    assert "damaged" in refusal(path, sealed.sealed_zip({"other.txt": b"text"}))
    assert "damaged" in refusal(path, sealed.sealed_zip({"header.json": b"[" * 100_000}))
    assert "no model file" in refusal(path, rebuilt(lambda header, members: header.update(format="other")))


def test_a_pickle_inside_is_not_opened(tmp_path: Path) -> None:
    objects = npy(np.array([{"a": 1}], object), allow_pickle=True)
    assert "damaged" in refusal(
        tmp_path / "m", rebuilt(lambda _, members: members.update({"pruned/kind.npy": objects}))
    )


def test_a_newer_format(tmp_path: Path) -> None:
    def newer(header: dict[str, Any], members: dict[str, bytes]) -> None:
        header["format_number"] = sealed.FORMAT_NUMBER + 1
        members["pruned/novelty.npy"] = npy(np.zeros(3))

    message = refusal(tmp_path / "m", rebuilt(newer))
    assert "format 2" in message
    assert "install a newer c45gpu" in message


@pytest.mark.parametrize("number", [0, -1, "1", None, 1.5])
def test_no_such_format(tmp_path: Path, number: object) -> None:
    content = rebuilt(lambda header, members: header.update(format_number=number))
    assert "there is no format" in refusal(tmp_path / "m", content)


def test_a_file_cut_short(tmp_path: Path) -> None:
    content = model_bytes(small_model())
    for length in {2, 100, len(content) // 2, len(content) - 80, len(content) - 1}:
        assert "damaged" in refusal(tmp_path / "cut.model", content[:length])


@given(st.data())
def test_a_flipped_bit_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(model_bytes(small_model()))
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    refusal(tmp_path_factory.getbasetemp() / "flipped.model", bytes(content))


def test_bytes_behind_the_end(tmp_path: Path) -> None:
    assert "damaged" in refusal(tmp_path / "long.model", model_bytes(small_model()) + b"more")


def test_a_compressed_archive_is_not_unpacked(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "header.json", json.dumps({"format": sealed.FORMAT_NAME, "format_number": 1, "filler": "0" * 10**7})
        )
    assert "damaged" in refusal(tmp_path / "bomb.model", stream.getvalue())


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3, np.int64),
        np.zeros((3, 1), np.int8),
        np.zeros((), np.int8),
        np.zeros(0, np.int8),
        np.zeros(4, np.int8),
        np.asfortranarray(np.zeros((3, 2), np.int8)),
        np.zeros(3, ">i2"),
        np.array(["a"] * 3),
    ],
)
def test_an_array_of_a_wrong_type_or_shape(tmp_path: Path, array: Any) -> None:
    content = rebuilt(lambda _, members: members.update({"pruned/kind.npy": npy(array)}))
    assert "damaged" in refusal(tmp_path / "m", content)


def test_an_array_that_claims_more_than_it_has(tmp_path: Path) -> None:
    header = npy(np.zeros(3, np.int8))[:-3].replace(b"(3,), }        ", b"(3000000000,), }")
    assert b"(3000000000,)" in header
    content = rebuilt(lambda _, members: members.update({"pruned/kind.npy": header + b"\0\0\0"}))
    assert "damaged" in refusal(tmp_path / "m", content)


def rename(members: dict[str, bytes]) -> None:
    members["pruned/knd.npy"] = members.pop("pruned/kind.npy")


@pytest.mark.parametrize(
    "change",
    [
        lambda header, members: members.pop("pruned/label.npy"),
        lambda header, members: rename(members),
        lambda header, members: members.update({"pruned/label.npy": b""}),
        lambda header, members: header.pop("schema"),
        lambda header, members: header.update(schema=[]),
        lambda header, members: header.update(options=3),
        lambda header, members: header["schema"].update(classes=[]),
        lambda header, members: header["schema"].update(classes=["no", "no"]),
        lambda header, members: header["schema"].update(classes=["no", 1]),
        lambda header, members: header["schema"]["attributes"][0].update(kind="ordered"),
        lambda header, members: header["schema"]["attributes"][0].update(name="colour"),
        lambda header, members: header["schema"]["attributes"][1].update(values=["red", "red", "blue"]),
        lambda header, members: header["schema"]["attributes"][1].pop("capacity"),
    ],
)
def test_members_and_header_that_do_not_fit(tmp_path: Path, change: Callable[..., object]) -> None:
    assert "damaged" in refusal(tmp_path / "m", rebuilt(change))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_with_a_spoiled_tree(tmp_path: Path, fault: str) -> None:
    name, place, value, message = FAULTS[fault]
    array = npy(getattr(spoiled(name, place, value), name))
    refused = refusal(tmp_path / "m", rebuilt(lambda _, members: members.update({f"unpruned/{name}.npy": array})))
    assert f"its unpruned tree is none, {message}" in refused


def test_a_spoiled_tree_is_not_saved(tmp_path: Path) -> None:
    model = replace(small_model(), unpruned=spoiled("branch", 0, 0))
    with pytest.raises(ModelError, match="node 0 is not followed by its first branch"):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- a file that cannot be written

SAVE_WITH_NO_ROOM = """
import resource, sys
from tests.model.test_store import *
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save(small_model(), sys.argv[1])
except ModelError as fault:
    sys.exit(str(fault))
"""


def unwritable(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        save(small_model(), path)
    assert str(caught.value).startswith(f"{path}: the model is not saved")
    return str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are set in another way there")
def test_no_room_leaves_the_old_model_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "old.model").write_bytes(b"old")
    command = [sys.executable, "-c", SAVE_WITH_NO_ROOM, str(tmp_path / "old.model")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "old.model: the model is not saved (File too large)" in done.stderr
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("old.model", b"old")]


@pytest.mark.parametrize("fault", [PermissionError(13, "Permission denied"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_at_any_step_leaves_the_old_model_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, step: str
) -> None:
    def fail(*_: object) -> None:
        raise fault

    (tmp_path / "old.model").write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises((ModelError, KeyboardInterrupt)) as caught:
        save(small_model(), tmp_path / "old.model")
    assert isinstance(caught.value, KeyboardInterrupt) == isinstance(fault, KeyboardInterrupt)
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("old.model", b"old")]


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    assert "No such file or directory" in unwritable(tmp_path / "none" / "m")
    (tmp_path / "file").write_bytes(b"")
    assert "Not a directory" in unwritable(tmp_path / "file" / "m")
    assert "no regular file" in unwritable(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_device_is_not_replaced() -> None:
    assert "no regular file" in unwritable(Path("/dev/full"))
    assert Path("/dev/full").is_char_device()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="to root no folder is read-only")
def test_a_read_only_folder(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"old")
    tmp_path.chmod(0o500)
    try:
        assert "Permission denied" in unwritable(tmp_path / "m")
        assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("m", b"old")]
    finally:
        tmp_path.chmod(0o700)
