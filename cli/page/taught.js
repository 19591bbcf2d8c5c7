// The page's first section: what the measurements taught, in three large figures.

/** Plain CSR, as most programs have it: the vendor's on a GPU, the loop over rows on a CPU. */
const plainMethods = {
    gpu: ['cusparse.csr', 'csr.vector', 'csr.scalar'],
    cpu: ['csr.static', 'csr.serial'],
};

/** What is compared on a matrix; nothing where its times are doubtful. */
function comparisonOf(data, A) {
    const onGpu = data.threads.includes(0), most = data.threads.at(-1);
    const measured = fastestFirst(A.results.filter((r) => r.measured && r.method !== 'plan'));
    const on = (name) => measured.filter((r) => r.method === name && (onGpu || r.threads === most));
    const plain = plainMethods[onGpu ? 'gpu' : 'cpu'].flatMap(on)[0];
    const mine = comparable(A, onGpu ? 0 : most).filter((r) => r.method !== 'plan');
    const planned = mine.find((r) => r.method === A.plan?.chosen);
    const fastest = measured[0];
    return [fastest, plain, planned].some(isBusy) ? {} : {A, fastest, plain, planned};
}

const geometricMean = (numbers) =>
    Math.exp(numbers.reduce((sum, x) => sum + Math.log(x), 0) / numbers.length);
const ofMatrices = (list) =>
    (list.length === 1 ? list[0].A.name : `geometric mean of ${list.length} matrices`);
const furthest = (list, by) => list.reduce((best, c) => (by(c) > by(best) ? c : best));

function fastestFigure(all) {
    const known = all.filter((c) => c.fastest && c.plain);
    if (known.length === 0) return undefined;
    const gain = (c) => c.fastest.gflops / c.plain.gflops, best = furthest(known, gain);
    return {
        figure: `${short(geometricMean(known.map(gain)))}×`,
        what: `as fast as plain CSR (${best.plain.method}) is the fastest method`,
        more: known.length === 1 ? `${best.fastest.name} on ${best.A.name}` :
                                   `${ofMatrices(known)}; most on ${best.A.name}, ` +
                `${short(gain(best))}× by ${best.fastest.name}`,
    };
}

function planFigure(all) {
    const known = all.filter((c) => c.fastest && c.planned);
    if (known.length === 0) return undefined;
    const share = (c) => c.planned.gflops / c.fastest.gflops;
    const worst = furthest(known, (c) => -share(c));
    return {
        figure: `${short(Math.round(100 * geometricMean(known.map(share))))} %`,
        what: 'of the fastest method\'s speed has the plan\'s choice, made without timing',
        more: known.length === 1 ? `${worst.planned.name} on ${worst.A.name}` :
                                   `${ofMatrices(known)}; least on ${worst.A.name}, ` +
                `${short(Math.round(100 * share(worst)))} % by ${worst.planned.name}`,
    };
}

function bytesFigure(all) {
    const known = all.filter((c) => c.fastest?.bytes > 0 && c.plain?.bytes > 0 && c.A.nnz > 0);
    if (known.length === 0) return undefined;
    const saved = (c) => c.plain.bytes / c.fastest.bytes, best = furthest(known, saved);
    const each = (r) => short(r.bytes / best.A.nnz);
    return {
        figure: `${each(best.fastest)} bytes`,
        what: `for each entry stores ${best.fastest.method}, the fastest on ${best.A.name}`,
        more: `plain CSR stores ${each(best.plain)}, and every product reads them all`,
    };
}

function threadsFigure(data, all) {
    const counts = data.threads.filter((t) => t > 0), most = counts.at(-1);
    if (counts.length < 2) return undefined;
    const known = all.flatMap((c) => {
        const on = (t) =>
            c.A?.results.find((r) => r.method === 'csr.static' && r.threads === t && r.measured);
        const [one, several] = [on(counts[0]), on(most)];
        return one && several && !isBusy(one) && !isBusy(several) ? [{...c, one, several}] : [];
    });
    if (known.length === 0) return undefined;
    const gain = (c) => c.several.gflops / c.one.gflops;
    return {
        figure: `${short(geometricMean(known.map(gain)))}×`,
        what: `as fast is plain CSR on ${threadsText(most)} as on ${threadsText(counts[0])}`,
        more: ofMatrices(known),
    };
}

/** Three figures of those that the measurements tell, or why they tell none. */
function taughtSection(data) {
    if (!data.results.some((r) => r.measured)) return undefined;
    const all = data.matrices.map((A) => comparisonOf(data, A)).filter((c) => c.A);
    const left = data.matrices.length - all.length;
    const figures =
        [fastestFigure(all), planFigure(all), bytesFigure(all), threadsFigure(data, all)]
            .filter(Boolean)
            .slice(0, 3);
    const busy = `${left === data.matrices.length ? 'All' : left} of the matrices ` +
        `${left === 1 ? 'is' : 'are'} left out here, as the machine was busy.`;
    return section(
        'What this taught',
        html('ul', {class: 'taught'}, ...figures.map(({figure, what, more}) => html(
                                          'li', {}, html('strong', {}, figure),
                                          html('span', {}, what), html('small', {}, more)))),
        left > 0 ? html('p', {class: 'soft'}, busy) : undefined);
}
