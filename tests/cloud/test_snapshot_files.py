"""What is no snapshot, is not whole, or was made to do harm: one line that says where, and a world that is as it was."""

from __future__ import annotations

import gzip
import json
import pickle
import random
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fakeazure.snapshots import files
from fakeazure.snapshots.folder import Folder
from tests.cloud.driver import Driver
from tests.project.tree import ROOT


class Boom:
    """Runs a command where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def world() -> Driver:
    """A VM that is being made, one that failed, a deployment that runs."""
    driver = Driver({"capacity": [{"size": "Standard_D4s_v5", "vms": 0}]})
    driver.put_vm("failed", size="Standard_D4s_v5")
    driver.cloud.advance(60)
    driver.put_vm("made", priority="Spot")
    disk = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}
    resource = {"type": "Microsoft.Compute/disks", "name": "d", "apiVersion": "2023-04-02", "location": "eastus"}
    template = {"resources": [{**resource, "properties": disk}]}
    path = driver.path("Microsoft.Resources/deployments", "runs")
    driver.call("PUT", path, {"properties": {"mode": "Incremental", "template": template}})
    return driver


@pytest.fixture(scope="module")
def taken() -> bytes:
    return world().cloud.snapshot()


def document(taken: bytes) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(gzip.decompress(taken))
    return read


def packed(document: object) -> bytes:
    return gzip.compress(json.dumps(document).encode(), mtime=0)


def refusal(data: bytes) -> str:
    """The line that says why it is refused. The world is as it was."""
    driver = Driver()
    before = driver.cloud.snapshot()
    with pytest.raises(ValueError) as error:
        driver.cloud.restore(data)
    assert driver.cloud.snapshot() == before
    line = str(error.value)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert len(line) < 600
    return line


def test_code_in_a_snapshot_of_an_earlier_version_does_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    harmful = b"fakeazure snapshot 3\n" + pickle.dumps(Boom(mark))
    assert refusal(harmful) == (
        "this is a snapshot of version 3, a pickle, which could run code and is not read; snapshots are JSON of version 4 now: start "
        "without it and save again"
    )
    refusal(pickle.dumps(Boom(mark)))
    refusal(gzip.compress(pickle.dumps(Boom(mark))))
    assert not mark.exists()
    pickle.loads(pickle.dumps(Boom(mark)))
    assert mark.exists(), "it would have run"


def test_a_folder_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "world.snapshot").write_bytes(b"fakeazure snapshot 3\n" + pickle.dumps(Boom(mark)))
    driver = Driver()
    with pytest.raises(
        ValueError, match=r"^world.snapshot is of an earlier version, a pickle.*: remove it and start anew$"
    ):
        driver.cloud.load(tmp_path)
    assert not mark.exists()
    driver.cloud.save(tmp_path)
    assert driver.cloud.load(tmp_path), "what is saved beside it is read"


def test_nothing_of_the_cloud_knows_pickle() -> None:
    knows = [
        path
        for path in (ROOT / "fakeazure").rglob("*.py")
        if re.search(r"\b(import|from) (pickle|marshal|shelve|dill)", path.read_text())
    ]
    assert knows == []
    code = "import sys; from fakeazure import FakeAzure; c = FakeAzure(); c.restore(c.snapshot()); print('pickle' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "this is no snapshot of fakeazure"),
        (b"hello", "this is no snapshot of fakeazure"),
        (b"\x1f\x8b", "the snapshot is torn"),
        (b"\x1f\x8bhello there", "the snapshot is damaged"),
        (gzip.compress(b"hello", mtime=0), "the snapshot is no JSON"),
        (gzip.compress(b"\xff", mtime=0), "the snapshot is no JSON"),
        (packed([]), 'its "format" is not "fakeazure snapshot"'),
        (packed({"format": "fakeazure snapshot"}), "this snapshot is of version None, not 4"),
        (packed({"format": "fakeazure snapshot", "version": 5}), "this snapshot is of version 5, not 4"),
        (packed({"format": "fakeazure snapshot", "version": 4.0}), "this snapshot is of version 4.0, not 4"),
        (packed({"format": "fakeazure snapshot", "version": "4\x1b[31m"}), r"of version '4\x1b[31m', not 4"),
        (packed({"format": "fakeazure snapshot", "version": 4}), "'world': missing"),
        (gzip.compress(b'{"format": NaN}'), "NaN is no JSON value"),
        (gzip.compress(b'{"format": 1e999}'), "1e999 is no JSON value"),
        (gzip.compress(b'{"format": ' + b"9" * 5000 + b"}"), "the snapshot is no JSON"),
        (gzip.compress(b'{"a":' * 300), "the snapshot is nested more than 200 deep"),
        (gzip.compress(b"[" * 1_000_000), "the snapshot is nested more than 200 deep"),
        (packed({"format": "fakeazure snapshot", "version": 4}) * 2, "followed by something else"),
    ],
    ids=count(),
)  # fmt: skip
def test_what_is_no_snapshot_is_refused(data: bytes, why: str) -> None:
    assert why in refusal(data)


def test_no_more_is_unpacked_than_a_world_can_be(monkeypatch: pytest.MonkeyPatch, taken: bytes) -> None:
    monkeypatch.setattr(files, "UNPACKED", 100_000)
    bomb = gzip.compress(bytes(50_000_000))
    driver = Driver()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"^the snapshot unpacks to more than 100,000 bytes$"):
            driver.cloud.restore(bomb)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(files, "PACKED", len(taken) - 1)
    with pytest.raises(ValueError, match=r"^a snapshot has at most [\d,]+ bytes, not [\d,]+$"):
        driver.cloud.restore(taken)
    with pytest.raises(ValueError, match=r"bytes are more than the [\d,]+ that a snapshot may have$"):
        world().cloud.snapshot()


def test_no_more_values_are_made_than_a_world_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bytes in a file can be fifty in memory; those in texts are no values."""
    monkeypatch.setattr(files, "VALUES", 50_000)
    assert refusal(packed([[]] * 60_000)) == "the snapshot is of more than 50,000 values"
    assert "is not" in refusal(packed({"format": "[,{" * 60_000}))


def test_a_document_that_is_nested_too_deep_is_told_when_it_is_saved() -> None:
    driver = Driver()
    deep: dict[str, Any] = {}
    for _ in range(250):
        deep = {"a": deep}
    driver.call(
        "PUT", driver.path("Microsoft.Compute/availabilitySets", "a"), {"location": "eastus", "properties": deep}
    )
    with pytest.raises(ValueError, match="nested more than 200 deep"):
        driver.cloud.snapshot()


def test_a_part_of_a_snapshot_is_torn(taken: bytes) -> None:
    for end in range(0, len(taken), len(taken) // 50):
        assert refusal(taken[:end])


def test_a_snapshot_with_a_wrong_byte_is_refused(taken: bytes) -> None:
    """By the checksum of gzip, if by nothing else; its head has bytes that mean nothing."""
    chance = random.Random(7)
    for place in (chance.randrange(12, len(taken)) for _ in range(50)):
        assert refusal(taken[:place] + bytes([taken[place] ^ 0x41]) + taken[place + 1 :])


Change = Callable[[dict[str, Any]], object]


def timer(part: int, value: object) -> Change:
    """The first timer has another due time, number or action."""
    return lambda all_: all_["fields"]["timers.queue"][0].__setitem__(part, value)


def resource(**parts: object) -> Change:
    """The first resource has other parts in its document."""
    return lambda all_: all_["store"][0][0]["document"].update(parts)


def first(table: Any) -> Any:
    return next(iter(table.values())) if isinstance(table, dict) else table[0]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda all_: all_.update(more=1), "'more': unknown"),
        (lambda all_: all_.pop("guids"), "'guids': missing"),
        (lambda all_: all_.update(time="now"), "time: a number is expected, not 'now'"),
        (lambda all_: all_.update(time=10**400), "time: the number is not between"),
        (lambda all_: all_.update(time=1e300), "time: the number is not between -62135596800 and 253402300800"),
        (lambda all_: all_.update(time=-1e12), "time: the number is"),
        (lambda all_: all_.update(time=-1), "time: seconds since 1970 are expected"),
        (lambda all_: all_.update(guids=[True, 1]), "guids[0]: it cannot be True"),
        (lambda all_: all_["world"].pop("tenant"), "world: an object with location, subscription, tenant,"),
        (lambda all_: all_["world"].update(cluster="d\x1b"), r"the snapshot is of another world: its cluster is 'd\x1b', not c"),
        (lambda all_: all_["fields"].update(os=1), "'os': unknown"),
        (lambda all_: all_["fields"].pop("vms"), "'vms': missing"),
        (lambda all_: all_["fields"].update(vms=[]), "vms: an object is expected, not an array"),
        (lambda all_: all_["fields"]["vms"].update({"x\n": 0.5}), r"vms['x\n']: a number in machines is expected, not 0.5"),
        (lambda all_: all_["fields"]["vms"].update(x=99), "vms['x']: there is no number 99 in machines"),
        (lambda all_: all_["fields"]["vms"].update(x=-1), "vms['x']: there is no number -1 in machines"),
        (lambda all_: all_["tables"].update(subprocess=[]), "tables: 'subprocess' is no table of a snapshot"),
        (lambda all_: all_["tables"]["machines"][0].update(power=5), "machines[0].power: text is expected, not 5"),
        (lambda all_: all_["tables"]["machines"][0].update(__class__="os"), "machines[0]: '__class__' is unknown"),
        (lambda all_: all_["tables"]["machines"][0].pop("nics"), "machines[0]: 'nics' is missing"),
        (lambda all_: all_["tables"]["operations"].append({}), "operations[6]: 'id' is missing"),
        (timer(2, ["os.system", "id"]), "timers.queue[0][2]: there is no action 'os.system'"),
        (timer(2, []), "timers.queue[0][2]: an array of an action and its arguments is expected, not an array"),
        (timer(2, "nothing"), "timers.queue[0][2]: an array of an action and its arguments is expected, not 'nothing'"),
        (timer(2, {"nothing": 1}), "timers.queue[0][2]: an array of an action and its arguments is expected, not an ob"),
        (timer(2, ["nothing", 1]), "nothing has another number of arguments"),
        (timer(2, ["delete a VM", "x", 0]), "timers.queue[0][2].id_: an object is expected"),
        (timer(1, 10**6), "timers.queue: two have the same number, or one is not below"),
        (lambda all_: all_["fields"]["timers.queue"].append(all_["fields"]["timers.queue"][0]), "timers.queue: two have the same number"),
        (lambda all_: first(all_["fields"]["addresses"]).update(prefix="x"), "does not appear to be an IPv4 or IPv6 network"),
        (lambda all_: all_["store"][0][0]["id"].update(names=[]), "store[0][0].id: zip() argument"),
        (lambda all_: all_["store"][0][0].update(document=7), "store[0][0].document: an object is expected, not 7"),
        (resource(properties=[1]), "store[0][0].document.properties: an object is expected, not an array"),
        (resource(properties={"provisioningState": 1}), "store[0][0].document.properties.provisioningState: a string is expected, not 1"),
        (resource(tags={"a": {}}), "store[0][0].document.tags: an object of strings is expected, not an object"),
        (resource(tags="a"), "store[0][0].document.tags: an object of strings is expected, not 'a'"),
        (resource(location=5), "store[0][0].document.location: a string is expected, not 5"),
        (resource(id="/subscriptions/x"), "store[0][0].document.id: it is that of another resource"),
        (resource(type="Microsoft.Compute/disks"), "store[0][0].document.type: it is that of another resource"),
        (resource(name=None), "store[0][0].document.name: it is missing"),
        (resource(properties={"x\x1b\n": [{"subnets": 5}]}), r"properties['x\x1b\n'][0].subnets: a list of objects is expected, not 5"),
        (lambda all_: first(all_["fields"]["groups"])[1].pop("location"), ".location: it is missing"),
        (lambda all_: first(all_["fields"]["groups"])[1].update(tags=3), ".tags: an object of strings is expected, not 3"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_its_path(taken: bytes, change: Change, line: str) -> None:
    changed = document(taken)
    change(changed)
    assert line in refusal(packed(changed))


OTHERS = (None, True, 3, -1, 10**400, 0.5, "text", [], {}, [[]], {"a": 1})


def harmless(changed: object) -> bool:
    """Whether it is restored; if not, a line says why."""
    try:
        Driver().cloud.restore(packed(changed))
    except ValueError as error:
        return len(str(error).splitlines()) != 1
    return True


def test_any_value_of_another_form_is_refused_or_harmless(taken: bytes) -> None:
    """Everywhere but in ARM's own documents, where anything may stand."""
    chance = random.Random(11)
    refused = 0
    for _ in range(400):
        changed = document(taken)
        holder: Any = changed
        while True:
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not isinstance(holder[key], dict | list) or not holder[key] or chance.random() < 0.1:
                break
            holder = holder[key]
        holder[key] = chance.choice(OTHERS)
        refused += not harmless(changed)
    assert refused > 100


def test_the_folder_is_one_processes_own(tmp_path: Path) -> None:
    driver = Driver()
    with Folder(tmp_path) as kept:
        with pytest.raises(ValueError, match=r"^process \d+ keeps its world here: stop it, or name another folder$"):
            driver.cloud.save(tmp_path)
        kept.write(driver.cloud.snapshot())
    driver.cloud.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "world.json.gz"]
