#!/usr/bin/env python3
"""What the measurements of `nz bench --peers --json FILE` say, in a page.

    summary.py FILE.json ... [--threads 2]

Prints, over all matrices of all files, per matrix and as geometric means:
  best of ours / best peer            on --threads threads (default: the most in the files)
  csr.balanced / best peer            on as many
  csr.serial / eigen.csr              on one thread
  share of the measured read bandwidth of our best method, counted in its own bytes,
  for matrices whose CSR arrays exceed the last-level cache
A ratio above 1 is ours in front. A method that runs on one thread whatever it is given counts with
every number of threads.
"""
import argparse
import json
import math
import sys


def load(paths):
    """({(matrix, threads): [row]}, {matrix: csr bytes}, last-level cache bytes)."""
    rows, sizes, cache = {}, {}, 0
    for path in paths:
        with open(path) as f:
            data = json.load(f)
        cache = max(cache, data["machine"]["l3_bytes"], data["machine"]["l2_bytes"])
        for m in data["matrices"]:
            sizes[m["name"]] = m["csr_bytes"]
        for row in data["rows"]:
            if "median_s" in row:
                rows.setdefault((row["matrix"], row["threads"]), []).append(row)
    return rows, sizes, cache


def fastest(rows):
    return min(rows, key=lambda r: r["median_s"], default=None)


def named(rows, method):
    return next((r for r in rows if r["method"] == method), None)


def ratio(ours, theirs):
    """How many times as fast ours is; None where one of them is missing."""
    return theirs["median_s"] / ours["median_s"] if ours and theirs else None


def geometric_mean(values):
    known = [v for v in values if v is not None]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def compare(name, rows, threads):
    """All that is said of one matrix."""
    here, one = rows.get((name, threads), []), rows.get((name, 1), [])
    serial = [r for r in one if r["method"].endswith("serial")]
    best = fastest([r for r in here if not r["peer"]] + serial)
    peer = fastest([r for r in here if r["peer"]])
    return {
        "best": best,
        "peer": peer,
        "best / peer": ratio(best, peer),
        "csr.balanced / peer": ratio(named(here, "csr.balanced"), peer),
        "csr.serial / eigen": ratio(named(one, "csr.serial"), named(one, "eigen.csr")),
    }


def shown(x, form="{:.2f}"):
    return "-" if x is None else form.format(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    rows, sizes, cache = load(args.files)
    if not rows:
        sys.exit("summary.py: no measured rows")
    threads = args.threads or max(t for _, t in rows)
    each = {name: compare(name, rows, threads) for name in sizes}
    large = {
        name: c["best"]["share_of_read_bandwidth"]
        for name, c in each.items()
        if c["best"] and sizes[name] > cache
    }
    ratios = ("best / peer", "csr.balanced / peer", "csr.serial / eigen")

    width = max(map(len, each))
    print(f"{'matrix':{width}}  {'CSR MB':>7}  {'best of ours':22}  {'GFLOP/s':>7}  "
          f"{'best peer':10}  {'best/peer':>9}  {'balanced/peer':>13}  {'serial/eigen':>12}  {'of read':>7}")
    for name, c in sorted(each.items(), key=lambda item: -sizes[item[0]]):
        print(f"{name:{width}}  {sizes[name] / 1e6:7.1f}  "
              f"{c['best']['method'] if c['best'] else '-':22}  "
              f"{shown(c['best'] and c['best']['gflops']):>7}  "
              f"{c['peer']['method'] if c['peer'] else '-':10}  "
              f"{shown(c[ratios[0]]):>9}  {shown(c[ratios[1]]):>13}  {shown(c[ratios[2]]):>12}  "
              f"{shown(large.get(name), '{:.0%}'):>7}")
    print(f"\nGeometric means over {len(each)} matrices, {threads} threads (csr.serial / eigen: 1):")
    for r in ratios:
        print(f"  {r:22} {shown(geometric_mean(c[r] for c in each.values()), '{:.3f}')}")
    print(f"Share of read bandwidth, {len(large)} matrices beyond {cache / 2**20:.0f} MB of cache: "
          f"geometric mean {shown(geometric_mean(large.values()), '{:.1%}')}, "
          f"lowest {shown(min(large.values(), default=None), '{:.1%}')}")


if __name__ == "__main__":
    main()
