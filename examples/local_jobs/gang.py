#!/usr/bin/env python3
"""One rank of a gang: all meet at rank 0 before each step, which saves the step. Where one is
gone, the others end, and all of them begin where they have saved. How they find each other is
what torch.distributed is told, too: MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE.

    gang.py PREFIX       of the files that the gang writes
"""

import json
import os
import pathlib
import socket
import sys
import time

STEPS, PACE = 20, 0.05
prefix = sys.argv[1]
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
master = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
pathlib.Path(f"{prefix}.{rank}.pid").write_text(str(os.getpid()), encoding="utf-8")
saved = pathlib.Path(prefix + ".json")
step = json.loads(saved.read_text(encoding="utf-8"))["step"] if saved.exists() else 0


def save():
    part = pathlib.Path(prefix + ".new")
    part.write_text(json.dumps({"step": step}), encoding="utf-8")
    part.replace(saved)


def lead():
    global step
    print(f"{world} ranks, {'resume at' if step else 'begin with'} step {step}", flush=True)
    with socket.create_server(master) as server:
        peers = [server.accept()[0] for _ in range(world - 1)]
    while step < STEPS:
        time.sleep(PACE)
        for peer in peers:
            peer.sendall(b"s")
        if any(peer.recv(1) != b"d" for peer in peers):
            sys.exit("a rank is gone")
        step += 1
        if step % 5 == 0:
            save()
    for peer in peers:
        peer.close()
    print(f"done after {STEPS} steps", flush=True)


def follow():
    while True:
        try:
            with socket.create_connection(master) as leader:
                leader.settimeout(None)
                done = 0
                while leader.recv(1) == b"s":
                    leader.sendall(b"d")
                    done += 1
                if step + done < STEPS:
                    sys.exit("rank 0 is gone")
                return
        except ConnectionRefusedError:
            time.sleep(0.01)


if rank == 0:
    lead()
else:
    follow()
