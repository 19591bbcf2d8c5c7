#!/usr/bin/env python3
"""The measurements of `nz bench --peers --json FILE`, summed up in a page.

    summary.py FILE.json ... [--threads 2] [--fastest]
    summary.py --gpu FILE.json ... [--type double] [--values distinct]
    summary.py --gpu --kernels FILE.json ...

A file is what one run wrote, or a suite that bench/collect.py made of many, of which --type and
--values choose the runs.

Prints, over all matrices of all files, per matrix and as geometric means:
  best of ours / best peer            on --threads threads (default: the most in the files)
  csr.balanced / best peer            on as many
  csr.serial / eigen.csr              on one thread
  plan / best peer and / best of our methods, where the runs had --plan
  share of the measured read bandwidth of our best method, counted in its own bytes,
  where those (its arrays, x and y) exceed the last-level cache
A ratio above 1 is ours in front. A method that runs on one thread whatever it is given counts with
every number of threads. What `plan` chose is no method of its own: it has lines of its own and
counts nowhere else. With --fastest, of every row the fastest block instead of the median one: what a
busy machine would show if it were idle.

With --gpu, of the rows of `nz bench --device gpu --peers`: per matrix the fastest of ours, of
cuSPARSE and its default CSR, and over all matrices
  best of ours / best of cuSPARSE, and what each is over cusparse.csr; of the classic kernels too
  hll.column and icrs.row / cusparse.sell    on the regular matrices
  csr.adaptive and csr.merge / cusparse.csr, with the lowest, and / cusparse.csr_deterministic
  plan / cusparse.csr, / the best peer and / the best of our methods, where the runs had --plan;
  the first also by size: the CSR within L2, within four times as much, beyond
  what packing, and choosing and building, take from a CSR on the GPU, in products of cusparse.csr
  the slowest method that does not decline, against the fastest
  every result that is not validated

With --kernels as well, the two tables of docs/experiments/kernels.md: of every kernel how many times as fast
as cusparse.csr it is, in geometric mean over the matrices where it ran, at best and at worst, and as
the fastest other kernel of ours; and the comparisons of the lectures, on structured matrices (those
for which dia.row does not decline) and on the others.
"""
import argparse
import math
import statistics
import sys

import collect


def read(paths, **chosen):
    """The runs of all files whose settings are as chosen; None chooses all. Exits where one matrix
    would be of several types or values."""
    runs = [run for path in paths for run in collect.read_runs(path)
            if all(want is None or run.get(k) == want for k, want in chosen.items())]
    for k in chosen:
        found = sorted({run[k] for run in runs if k in run})
        if len(found) > 1:
            sys.exit(f"summary.py: these runs are of several {k}: {', '.join(found)}; choose one "
                     f"with --{k}")
    return runs


def load(runs):
    """({(matrix, threads): [row]}, {matrix: csr bytes}, last-level cache bytes)."""
    rows, sizes, cache = {}, {}, 0
    for data in runs:
        cache = max(cache, data["machine"]["l3_bytes"], data["machine"]["l2_bytes"])
        for m in data["matrices"]:
            sizes[m["name"]] = m["csr_bytes"]
        for row in data["rows"]:
            if "median_s" in row and row["threads"] > 0:
                rows.setdefault((row["matrix"], row["threads"]), []).append(row)
    return rows, sizes, cache


def by_fastest_block(rows):
    """The same rows, as if every block had taken what the fastest took."""
    def sped_up(row):
        times = row["median_s"] / row["min_s"]
        return {**row, "median_s": row["min_s"], "gflops": row["gflops"] * times,
                "share_of_read_bandwidth": row["share_of_read_bandwidth"] * times}

    return {key: [sped_up(row) for row in here] for key, here in rows.items()}


def fastest(rows):
    return min(rows, key=lambda r: r["median_s"], default=None)


def best_of(rows, peer):
    """The fastest of the methods that were measured for themselves: not of what a plan chose."""
    return fastest([r for r in rows if r["peer"] == peer and r["method"] != "plan"])


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
    best = best_of(here + serial, peer=False)
    peer = best_of(here, peer=True)
    return {
        "best": best,
        "peer": peer,
        "best / peer": ratio(best, peer),
        "csr.balanced / peer": ratio(named(here, "csr.balanced"), peer),
        "csr.serial / eigen": ratio(named(one, "csr.serial"), named(one, "eigen.csr")),
    }


def shown(x, form="{:.2f}"):
    return "-" if x is None else form.format(x)


REGULAR = ("ecology1", "nlpkkt80", "atmosmodd_like", "fem_thermal3d_p1")
TOO_SLOW = 50  # times the fastest: a method that slow should have declined
OUR_OWN = ("packed.warp", "packed.stripes", "csr.split")  # kernels that no lecture has


def load_gpu(runs):
    """({matrix: [row]} of the GPU's rows with a time, in the order of the runs,
    {matrix: csr bytes}, L2 bytes)."""
    rows, sizes, cache = {}, {}, 0
    for data in runs:
        cache = max(cache, data["gpu"]["l2_bytes"])
        sizes.update({m["name"]: m["csr_bytes"] for m in data["matrices"]})
        for row in data["rows"]:
            if row["backend"] == "gpu" and "median_s" in row:
                rows.setdefault(row["matrix"], []).append(row)
    return rows, sizes, cache


def us(row):
    return shown(row and row["median_s"] * 1e6, "{:.1f}")


def gpu_table(rows):
    width = max(map(len, rows))
    print(f"{'matrix':{width}}  {'best of ours':20}  {'us':>8}  {'of read':>7}  {'best of cuSPARSE':26}  "
          f"{'us':>8}  {'csr us':>8}  {'ours/best':>9}  {'ours/csr':>8}")
    for name, here in rows.items():
        ours, peer = best_of(here, peer=False), best_of(here, peer=True)
        csr = named(here, "cusparse.csr")
        print(f"{name:{width}}  {ours['method'] if ours else '-':20}  {us(ours):>8}  "
              f"{shown(ours and ours['share_of_read_bandwidth'], '{:.0%}'):>7}  "
              f"{peer['method'] if peer else '-':26}  {us(peer):>8}  {us(csr):>8}  "
              f"{shown(ratio(ours, peer)):>9}  {shown(ratio(ours, csr)):>8}")


def over_all(rows, label, pick_ours, pick_theirs, among=None):
    """A line: geometric mean, lowest and its matrix, of how many times as fast ours is."""
    each = {name: ratio(pick_ours(here), pick_theirs(here)) for name, here in rows.items()
            if among is None or name in among}
    known = {name: r for name, r in each.items() if r is not None}
    lowest = min(known, key=known.get, default=None)
    print(f"  {label:44} {shown(geometric_mean(known.values()), '{:.3f}'):>6}"
          + (f"  lowest {known[lowest]:.3f} on {lowest}, of {len(known)}" if known else ""))


def plan_means(rows, default):
    """How nz bench --plan stands, where it took part. {matrix: [row]}; default: a peer's name, or
    None for the best peer."""
    if not any(named(here, "plan") for here in rows.values()):
        return

    def plan(here):
        return named(here, "plan")

    if default:
        over_all(rows, f"plan / {default}", plan, lambda here: named(here, default))
    over_all(rows, "plan / best peer", plan, lambda here: best_of(here, peer=True))
    over_all(rows, "plan / best of our methods", plan, lambda here: best_of(here, peer=False))


def by_size(rows, sizes, cache):
    """plan / cusparse.csr, by whether a product finds the CSR in L2."""
    if not any(named(here, "plan") for here in rows.values()):
        return
    for label, least, most in (("in L2", 0, cache), ("to 4x L2", cache, 4 * cache),
                               ("beyond", 4 * cache, math.inf)):
        over_all(rows, f"plan / cusparse.csr, {label}", lambda here: named(here, "plan"),
                 lambda here: named(here, "cusparse.csr"),
                 [name for name in rows if least < sizes[name] <= most])


def setup(rows):
    """Times of packing, and of choosing and building, in products of cusparse.csr."""
    for name, label in (("packed.warp", "Packing"), ("plan", "Choosing and building")):
        each = {}
        for matrix, here in rows.items():
            built, csr = named(here, name), named(here, "cusparse.csr")
            if built and csr and "preprocessing_s" in built:
                each[matrix] = built["preprocessing_s"] / csr["median_s"]
        if each:
            most = max(each, key=each.get)
            print(f"{label}, in products of cusparse.csr: "
                  f"median {statistics.median(each.values()):.1f}, "
                  f"highest {each[most]:.1f} on {most}, of {len(each)}")


def gpu_means(rows, sizes, cache):
    def method(name):
        return lambda here: named(here, name)

    def ours(here):
        return best_of(here, peer=False)

    def classic(here):
        return ours([r for r in here if r["method"] not in OUR_OWN])

    def theirs(here):
        return best_of(here, peer=True)

    print(f"\nGeometric means over {len(rows)} matrices; above 1 the first is in front:")
    over_all(rows, "best of ours / best of cuSPARSE", ours, theirs)
    over_all(rows, "best of ours / cusparse.csr", ours, method("cusparse.csr"))
    over_all(rows, "best classic / best of cuSPARSE", classic, theirs)
    over_all(rows, "best classic / cusparse.csr", classic, method("cusparse.csr"))
    over_all(rows, "best of cuSPARSE / cusparse.csr", theirs, method("cusparse.csr"))
    for name in ("hll.column", "icrs.row"):
        over_all(rows, f"{name} / cusparse.sell, regular", method(name), method("cusparse.sell"),
                 REGULAR)
    for peer in ("cusparse.csr", "cusparse.csr_deterministic"):
        for name in ("csr.adaptive", "csr.merge"):
            over_all(rows, f"{name} / {peer}", method(name), method(peer))
        over_all(rows, f"faster of the two / {peer}",
                 lambda here: fastest([r for r in here
                                       if r["method"] in ("csr.adaptive", "csr.merge")]),
                 method(peer))
    plan_means(rows, "cusparse.csr")
    by_size(rows, sizes, cache)
    setup(rows)


def gpu_outliers(rows):
    """The slowest method that did not decline, those beyond TOO_SLOW, and those that are wrong."""
    slow = []
    for name, here in rows.items():
        best = fastest([r for r in here if r["method"] != "plan"])
        slow += [(r["median_s"] / best["median_s"], r["method"], name) for r in here
                 if not r["peer"] and r["method"] != "plan"]
    slow.sort(reverse=True)
    if slow:
        print("\nSlowest that does not decline: {:.1f}x the best, {} on {}".format(*slow[0]))
    for times, method, name in slow[1:]:
        if times > TOO_SLOW:
            print(f"  also {times:.1f}x: {method} on {name}")
    wrong = [f"{r['method']} on {name}" for name, here in rows.items() for r in here
             if not r.get("validated", True)]
    print(f"Not validated: {', '.join(wrong) or 'none'} of {sum(map(len, rows.values()))} results")


def load_declined(runs):
    """{method: on how many matrices it declined on the GPU}."""
    count = {}
    for run in runs:
        for row in run["rows"]:
            if row["backend"] == "gpu" and "declined" in row:
                count[row["method"]] = count.get(row["method"], 0) + 1
    return count


def extreme(each, pick):
    """The best (pick = max) or worst of {matrix: ratio}, as a cell; of equals the first."""
    known = {name: r for name, r in each.items() if r is not None}
    if not known:
        return "-"
    name = pick(sorted(known), key=known.get)
    return f"{known[name]:.2f} {name}"


def markdown(heads, lines):
    """The lines of a table whose first column is text."""
    return ["| " + " | ".join(heads) + " |", "| --- " + "| ---: " * (len(heads) - 1) + "|",
            *("| " + " | ".join(cells) + " |" for cells in lines)]


def kernel_cells(method, rows, declined):
    timed = {name: here for name, here in rows.items() if named(here, method)}
    over_csr, over_ours = {}, {}
    for name, here in timed.items():
        mine = named(here, method)
        over_csr[name] = ratio(mine, named(here, "cusparse.csr"))
        over_ours[name] = ratio(mine, best_of([r for r in here if r is not mine], peer=False))
    first = sum(r is not None and r > 1 for r in over_ours.values())
    return [f"`{method}`", shown(geometric_mean(over_csr.values())), extreme(over_csr, max),
            extreme(over_csr, min), extreme(over_ours, max), extreme(over_ours, min), str(first),
            str(declined.get(method, 0))]


def kernels_table(rows, declined):
    ours = {r["method"] for here in rows.values() for r in here if not r["peer"]} - {"plan"}
    return markdown(["kernel", "mean / csr", "best / csr", "worst / csr", "best / other", "worst / other",
                     "fastest on", "declines on"],
                    [kernel_cells(method, rows, declined) for method in sorted(ours)])


COMPARED = (("csr.vector_ldg", "csr.vector"), ("csr.vector_texture", "csr.vector"),
            ("icrs.row_texture", "icrs.row"), ("icrs.row_texture_32", "icrs.row_32"),
            ("csr.vector", "csr.scalar"), ("csr.subwarp", "csr.vector"),
            ("hll.row", "csr.scalar"), ("hll.column", "hll.row"), ("hll.column", "csr.scalar"),
            ("hll.column", "csr.vector"), ("hll.column", "csr.adaptive"))


def compared_cells(label, each, structured):
    return [label, shown(geometric_mean(r for name, r in each.items() if name in structured)),
            shown(geometric_mean(r for name, r in each.items() if name not in structured)),
            extreme(each, max), extreme(each, min),
            str(sum(r is not None for r in each.values()))]


def compared_table(rows):
    structured = {name for name, here in rows.items() if named(here, "dia.row")}
    lines = [compared_cells(f"`{a}` / `{b}`", {name: ratio(named(here, a), named(here, b))
                                               for name, here in rows.items()}, structured)
             for a, b in COMPARED]
    best = {name: best_of(here, peer=False) for name, here in rows.items()}
    lines += [compared_cells(f"fastest of ours, {what}",
                             {name: r and r[key] for name, r in best.items()}, structured)
              for what, key in (("GFLOP/s", "gflops"),
                                ("share of read bandwidth", "share_of_read_bandwidth"))]
    return markdown(["compared", f"mean on {len(structured)} structured",
                     f"mean on {len(rows) - len(structured)} others", "highest", "lowest",
                     "matrices"], lines)


def summarise_gpu(runs, kernels):
    rows, sizes, cache = load_gpu(runs)
    if not rows:
        sys.exit("summary.py: no measured rows of a GPU")
    if kernels:
        return print("\n".join(kernels_table(rows, load_declined(runs)) + [""] +
                               compared_table(rows)))
    gpu_table(rows)
    gpu_means(rows, sizes, cache)
    gpu_outliers(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--fastest", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--type")
    parser.add_argument("--values")
    args = parser.parse_args()
    if args.kernels and not args.gpu:
        parser.error("--kernels goes with --gpu")
    if args.fastest and args.gpu:
        parser.error("--fastest goes without --gpu")
    runs = read(args.files, type=args.type, values=args.values)
    if args.gpu:
        return summarise_gpu(runs, args.kernels)
    rows, sizes, cache = load(runs)
    if not rows:
        sys.exit("summary.py: no measured rows")
    if args.fastest:
        rows = by_fastest_block(rows)
    threads = args.threads or max(t for _, t in rows)
    each = {name: compare(name, rows, threads) for name in sizes}
    large = {
        name: c["best"]["share_of_read_bandwidth"]
        for name, c in each.items()
        if c["best"] and c["best"]["matrix_bytes"] + c["best"]["vector_bytes"] > cache
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
    plan_means({name: rows.get((name, threads), []) +
                [r for r in rows.get((name, 1), []) if r["method"].endswith("serial")]
                for name in sizes}, None)
    print(f"Share of read bandwidth, {len(large)} products beyond {cache / 2**20:.0f} MB of cache: "
          f"geometric mean {shown(geometric_mean(large.values()), '{:.1%}')}, "
          f"lowest {shown(min(large.values(), default=None), '{:.1%}')}")


if __name__ == "__main__":
    main()
