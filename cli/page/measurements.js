// The measurements in one form, whichever command wrote them.

const number = (x) => (Number.isFinite(x) ? x : undefined);
const list = (x) => (Array.isArray(x) ? x : []);

/** A result: one method on one matrix with one number of threads, 0 on a GPU. */
function readResult(row, flopsPerEntry, nnz) {
    const median = number(row.median_s);
    const gflops =
        number(row.gflops) ?? (median > 0 ? (flopsPerEntry * nnz) / median / 1e9 : undefined);
    const name = row.chosen === undefined ? row.method : `${row.method}: ${row.chosen}`;
    return {
        matrix: row.matrix,
        method: row.method,
        name,
        threads: row.threads,
        declined: row.declined,
        measured: median > 0,
        median_s: median,
        spread: number(row.spread) ?? 0,
        gflops,
        speedUp: number(row.speed_up),
        bytes: number(row.matrix_bytes),
        gbps: number(row.gbps),
        setup_s: number(row.setup_s),
        validated: row.validated !== false,
    };
}

/** What the page shows: matrices, each with its results, plan and solves; and the machine. */
function readMeasurements(raw) {
    const ofBench = raw.command === 'bench';
    const flopsPerEntry = String(raw.type).startsWith('c') ? 8 : 2;
    const matrices = list(raw.matrices).map((A) => {
        const mine = (rows) => list(rows).filter((row) => row.matrix === A.name);
        const results = mine(ofBench ? raw.rows : raw.results)
                            .map((row) => readResult(row, flopsPerEntry, A.nnz));
        if (ofBench) addSpeedUps(results);
        return {...A, results, plan: planOf(raw, A, results), solves: mine(raw.solves)};
    });
    const all = matrices.flatMap((A) => A.results);
    return {
        raw,
        matrices,
        results: all,
        threads:
            [...new Set(all.filter((r) => r.measured).map((r) => r.threads))].sort((a, b) => a - b),
        bandwidths: list(raw.bandwidth).filter((b) => b.read_gbps > 0),
        speedUpOver: ofBench ? 'the same method on one thread' :
                               'the layout\'s fastest serial method (csr.serial where it has none)',
    };
}

/** nz bench writes none. */
function addSpeedUps(results) {
    for (const r of results) {
        const alone = results.find((s) => s.method === r.method && s.threads === 1);
        if (alone?.measured && r.measured) r.speedUp = alone.median_s / r.median_s;
    }
}

/** The planner's choice: with its candidates where the file has them, or only by its name. */
function planOf(raw, A, results) {
    const plan = list(raw.plans).find((p) => p.matrix === A.name);
    if (plan !== undefined) return plan;
    const lesson = list(raw.lessons).find((l) => l.matrix === A.name);
    if (lesson?.planned) return {chosen: lesson.planned};
    const row = results.findLast((r) => r.method === 'plan' && r.measured);  // on the most threads
    return row === undefined ? undefined : {chosen: row.name.replace(/^plan: /, '')};
}

/** Results to compare on so many threads: methods of one thread, which have no others, too. */
function comparable(A, threads) {
    const most = new Map();
    for (const r of A.results)
        if (r.measured && r.threads > 0)
            most.set(r.method, Math.max(most.get(r.method) ?? 0, r.threads));
    return A.results.filter(
        (r) => r.measured &&
            (r.threads === threads ||
             (threads > 0 && r.threads === 1 && most.get(r.method) === 1)));
}

const fastestFirst = (results) => [...results].sort((a, b) => b.gflops - a.gflops);

/** Where quartiles are so far apart something else used the machine. */
const tooWide = 0.5;
const isBusy = (r) => Boolean(r?.measured && r.spread > tooWide);
const busyNote = (results) => (results.some(isBusy) ? ' Hollow: the machine was busy.' : '');

const threadsText = (n) => (n === 0 ? 'GPU' : `${n} thread${n === 1 ? '' : 's'}`);
