"""What c45gpu is measured against, by name; c45gpu's own engines come first."""

from __future__ import annotations

from typing import Final

from bench.peers.c4_5 import C45Release8
from bench.peers.c5_0 import C50
from bench.peers.c50py import C50Py
from bench.peers.lightgbm import LightGBM
from bench.peers.obliquetree import ObliqueTree
from bench.peers.ours import Ours
from bench.peers.peer import Peer
from bench.peers.scikit_learn import ScikitLearn, ScikitLearnPruned
from bench.peers.snapml import SnapML
from bench.peers.weka import J48
from bench.peers.xgboost import XGBoost
from bench.peers.yggdrasil import Yggdrasil

_ALL: Final[tuple[Peer, ...]] = (
    Ours("cpu"),
    Ours("cpu", threshold_cost=False),
    Ours("reference"),
    ScikitLearn(),
    ScikitLearnPruned(),
    Yggdrasil(),
    XGBoost("exact"),
    XGBoost("hist"),
    LightGBM(),
    SnapML("exact"),
    SnapML("hist"),
    ObliqueTree(),
    J48("j48"),
    J48("j48-J", "-J"),
    C50(),
    C50Py(),
    C45Release8(),
)

PEERS: Final[dict[str, Peer]] = {peer.name: peer for peer in _ALL}
