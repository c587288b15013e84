"""Simulates data-parallel training of ResNet-50 on 4 to 1,024 nodes of 10 GbE, by SimGrid's SMPI (Debian: libsimgrid-dev, unpacked
into build/simgrid). Writes docs/scale.json (simulated times, kept from run to run) and docs/scale.svg, from the file alone with --draw."""

import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIMGRID = ROOT / "build/simgrid"
RESULTS, PICTURE = ROOT / "docs/scale.json", ROOT / "docs/scale.svg"
PACKAGES = "libboost-context1.74.0 libboost-stacktrace1.74.0 libgslcblas0 libgsl27 libns3.37 libsimgrid3.32 libsimgrid-dev"

NODES = [4, 16, 64, 256, 1024]
BANDWIDTH, LATENCY = "1.25GBps", "10us"  # 10 GbE; from a node to the switch
MESSAGE = 5e-6  # seconds of a processor for sending a message, and for receiving one: assumed
STEPS = [0.2, 0.35, 1.0]  # seconds of a node for forward and backward of its batch: assumed
BACKWARD = 2 / 3  # of that
BUCKET, LAST = 25_000_000, 1_000_000  # as src/comm/buckets.h has them
# Bytes that are simulated; others are on the line through them. No message is larger than 1 MB from 64 nodes on.
SIZES = {
    "ordered": [1_000_000, 25_000_000],
    "ring": [1_000_000, 25_000_000],
    "library": [500_000, 1_000_000, 2_000_000],
}
# In sums of n pieces a rank handles 2 (n - 1) messages one after the other: beyond this, times are on the line through the two
# numbers of nodes before, since the simulator would need hours.
MOST = {"ordered": 256, "ring": 256, "library": 1024}


def resnet50():
    """(parameters, multiplications) of each layer, first to last."""
    layers = [(64 * 3 * 49 + 64 * 5, 64 * 3 * 49 * 112**2)]
    inputs = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        area = (56 >> stage) ** 2
        for block in range(blocks):
            shapes = [(inputs, width, 1), (width, width, 9), (width, 4 * width, 1)]
            shapes += [(inputs, 4 * width, 1)] if block == 0 else []
            for a, b, window in shapes:
                layers.append((a * b * window + 3 * b, a * b * window * area))
            inputs = 4 * width
    return [*layers, (2048 * 1000 + 1000, 2048 * 1000)]


def buckets():
    """(bytes, part of the backward pass after which they are ready), in the order in which they are sent."""
    layers, out, work = resnet50(), [], 0
    total = sum(w for _, w in layers)
    tail = 0  # of the first layers, which are ready last
    while 4 * sum(p for p, _ in layers[: tail + 1]) <= LAST:
        tail += 1
    filled = 0
    for index in range(len(layers) - 1, -1, -1):
        parameters, multiplications = layers[index]
        if not out or filled >= BUCKET or (index + 1 == tail and filled > LAST):
            out.append([0, 0])
            filled = 0
        work += multiplications
        filled += 4 * parameters
        out[-1] = [filled, work / total]
    return out


def prepare():
    if not (SIMGRID / "usr/include/smpi").exists():
        (SIMGRID / "packages").mkdir(parents=True, exist_ok=True)
        script = f"apt-get download {PACKAGES} && for p in *.deb; do dpkg -x $p ..; done"
        subprocess.run(script, shell=True, check=True, cwd=SIMGRID / "packages")
    usr, program = SIMGRID / "usr", SIMGRID / "simulate_scale.so"
    words = [
        "cc",
        "-O2",
        "-fPIC",
        "-shared",
        f"-I{usr}/include/smpi",
        f"-I{usr}/include",
        "-include",
    ]
    words += [
        f"{usr}/include/smpi/smpi_helpers.h",
        str(ROOT / "bench/simulate_scale.c"),
        "-o",
        str(program),
    ]
    subprocess.run([*words, f"-L{usr}/lib/x86_64-linux-gnu", "-lsimgrid"], check=True)
    return program


def simulate(program, algorithm, nodes, size):
    lib = SIMGRID / "usr/lib/x86_64-linux-gnu"
    # All at once, as Horngate does it, as long as the simulator can keep so many messages apart.
    window = nodes if nodes <= 64 else 8
    with tempfile.TemporaryDirectory() as folder:
        platform, hosts = pathlib.Path(folder, "platform.xml"), pathlib.Path(folder, "hosts")
        platform.write_text(
            '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            f'<platform version="4.1"><zone id="z" routing="Full"><cluster id="c" prefix="n" suffix="" '
            f'radical="0-{nodes - 1}" speed="1Gf" bw="{BANDWIDTH}" lat="{LATENCY}"/></zone></platform>'
        )
        hosts.write_text("".join(f"n{i}\n" for i in range(nodes)))
        options = {
            "smpi/privatization": "no",
            "network/model": "SMPI",
            "surf/precision": "1e-9",
            "smpi/np": nodes,
            "smpi/hostfile": hosts,
            "smpi/simulate-computation": "no",
            "smpi/coll-selector": "ompi",
            "smpi/os": f"0:{MESSAGE}:0",
            "smpi/or": f"0:{MESSAGE}:0",
        }
        words = [lib / "simgrid/smpimain", program, "--log=root.thres:warning"]
        words += [f"--cfg={k}:{v}" for k, v in options.items()]
        words += [platform, algorithm, str(size), str(window)]
        done = subprocess.run(
            words, env={"LD_LIBRARY_PATH": str(lib)}, capture_output=True, text=True
        )
    if not done.stdout.startswith("seconds"):
        raise SystemExit(f"simulate_scale: {algorithm} on {nodes} nodes: {done.stderr[-2000:]}")
    return float(done.stdout.split()[1])


def seconds_of(points, size):
    """On the line through the smallest and the largest size that were simulated."""
    (small, a), (large, b) = min(points), max(points)
    return max(
        a * size / small if size < small else 0, a + (size - small) * (b - a) / (large - small)
    )


def efficiency(points, step, overlaps=True):
    """Of a step: the buckets are summed one after the other, each once it is ready."""
    forward, now = step * (1 - BACKWARD), 0.0
    for size, part in buckets():
        ready = forward + step * BACKWARD * part if overlaps else step
        now = max(now, ready) + seconds_of(points, size)
    return step / max(step, now)


def beyond(algorithm, known):
    """With the numbers of nodes that were not simulated."""
    out = dict(known)
    for nodes in (n for n in NODES if n > MOST[algorithm]):
        far, near = (n for n in reversed(NODES) if n <= MOST[algorithm] and n >= 64)
        out[str(nodes)] = [
            (size, b + (b - a) * (nodes - far) / (far - near))
            for (size, a), (_, b) in zip(known[str(near)], known[str(far)])
        ]
    return out


def table(results):
    rows = {}
    for algorithm, by_nodes in results.items():
        for step in STEPS:
            rows[algorithm, step] = [efficiency(by_nodes[str(n)], step) for n in NODES]
        rows[algorithm, "alone"] = [efficiency(by_nodes[str(n)], 0.35, False) for n in NODES]
    return rows


def draw(rows):
    """Efficiency over nodes for steps of 0.35 s."""
    width, height, left, top = 780, 380, 70, 50
    inner, tall = 400, 260
    x = lambda i: left + inner * i / (len(NODES) - 1)  # noqa: E731
    y = lambda e: top + tall * (1 - e)  # noqa: E731
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="28" font-size="15">ResNet-50 on 10 GbE, steps of 0.35 s: efficiency, simulated</text>',
    ]
    for percent in range(0, 101, 25):
        at = y(percent / 100)
        out.append(
            f'<line x1="{left}" x2="{left + inner}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
        )
        out.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{percent} %</text>')
    for i, n in enumerate(NODES):
        out.append(f'<text x="{x(i):.1f}" y="{top + tall + 22}" text-anchor="middle">{n:,}</text>')
    out.append(
        f'<text x="{left + inner / 2}" y="{top + tall + 46}" text-anchor="middle">nodes</text>'
    )
    lines = [
        ("library", 0.35, "#1b7837", "", "library's own, overlapped"),
        ("ordered", 0.35, "#2166ac", "", "ordered, overlapped"),
        ("ring", 0.35, "#b2182b", "", "ring, overlapped"),
        ("ordered", "alone", "#2166ac", "5 4", "ordered, after the backward pass"),
    ]
    for k, (algorithm, step, color, dash, name) in enumerate(lines):
        values = rows[algorithm, step]
        points = " ".join(f"{x(i):.1f},{y(e):.1f}" for i, e in enumerate(values))
        style = f'fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"'
        out.append(f'<polyline points="{points}" {style}/>')
        for i, e in enumerate(values):
            out.append(f'<circle cx="{x(i):.1f}" cy="{y(e):.1f}" r="3" fill="{color}"/>')
        at = top + 20 + 24 * k
        out.append(
            f'<line x1="{left + inner + 25}" x2="{left + inner + 50}" y1="{at}" y2="{at}" {style}/>'
        )
        out.append(f'<text x="{left + inner + 56}" y="{at + 4}">{name}</text>')
    PICTURE.write_text("\n".join([*out, "</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not parser.parse_args().draw:
        program = prepare()
        for algorithm, sizes in SIZES.items():
            known = results.setdefault(algorithm, {})
            for nodes in NODES:
                if nodes > MOST[algorithm] or str(nodes) in known:
                    continue
                known[str(nodes)] = [
                    (size, simulate(program, algorithm, nodes, size)) for size in sizes
                ]
                print(algorithm, nodes, known[str(nodes)], flush=True)
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    rows = table({a: beyond(a, known) for a, known in results.items()})
    print("buckets", [(size, round(part, 2)) for size, part in buckets()])
    for (algorithm, step), values in rows.items():
        print(algorithm, step, *(f"{100 * e:.0f} %" for e in values))
    draw(rows)


if __name__ == "__main__":
    main()
