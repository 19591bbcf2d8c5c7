// The page's sections: for each, its plot with a title and its table.

/** Every plot on the page, to be drawn again where the width changes. */
const plots = [];

/** A plot with its title and a sentence on how to read it; draw(width) returns an SVG element. */
function plot(id, title, explanation, draw) {
    const place = html('div');
    plots.push((forced) => {
        const share = place.closest('.columns') ? 0.48 : 1;
        const width = forced ? forced * share : Math.min(place.clientWidth, 1148);
        if (width > 0) place.replaceChildren(draw(Math.max(width, 280)));
    });
    return html('figure', {id}, html('figcaption', {}, title), html('p', {}, explanation), place);
}

function section(title, ...content) {
    const id = title.toLowerCase().replace(/[^a-z]+/g, '-').slice(0, 24).replace(/-$/, '');
    return html('section', {id: `section-${id}`}, html('h2', {}, title), ...content);
}

function factsTable(rows) {
    return html(
        'div', {class: 'scroll'},
        html(
            'table', {class: 'facts'},
            html(
                'tbody', {},
                ...rows.filter(([, value]) => value !== undefined && value !== '')
                    .map(
                        ([name, value]) => html(
                            'tr', {}, html('th', {scope: 'row'}, name), html('td', {}, value))))));
}

function matrixSection(A) {
    const lengths = A.row_length;
    const facts = factsTable([
        ['rows', grouped(A.rows)],
        ['columns', grouped(A.cols)],
        ['entries', grouped(A.nnz)],
        [
            'entries a row',
            lengths &&
                `${grouped(lengths.min)} to ${grouped(lengths.max)}, ` +
                    `mean ${short(lengths.mean)}, median ${short(lengths.median)}`
        ],
        ['empty rows', A.empty_rows && grouped(A.empty_rows)],
        [
            'matrix bandwidth',
            A.bandwidth === undefined ? undefined :
                                        `${grouped(A.bandwidth)}, the largest |column - row|`
        ],
        ['diagonals with entries', A.diagonals && grouped(A.diagonals)],
        ['distinct values', A.distinct_values && grouped(A.distinct_values)],
    ]);
    return section(
        `The matrix ${A.name}`,
        html('div', {class: 'columns'}, A.picture ? spyFigure(A) : undefined, facts),
        html(
            'div', {class: 'columns'}, A.rows > 0 && lengths ? rowLengths(A) : undefined,
            formatBytes(A)));
}

function spyFigure(A) {
    const {width, height, most, png} = A.picture;
    return html(
        'figure', {id: 'spy'}, html('figcaption', {}, 'Where its entries are'),
        html(
            'p', {},
            most > 1 ?
                'A pixel stands out the more entries share it, on a logarithmic scale, up to ' +
                    `${grouped(most)}.` :
                'An entry a pixel.'),
        html(
            'div', {class: 'spy-frame'}, html('span'),
            html('span', {class: 'across'}, `column 1 to ${grouped(A.cols)}`),
            html('span', {class: 'down'}, `row ${grouped(A.rows)} to 1`), html('img', {
                class: 'spy mark',
                width,
                height,
                alt: `Sparsity picture of ${A.name}`,
                src: `data:image/png;base64,${png}`
            })));
}

function rowLengths(A) {
    const label = ({first, last}) =>
        (first === last ? grouped(first) : `${short(first)}–${short(last)}`);
    const bins = list(A.row_length.histogram);
    return html(
        'div', {},
        plot(
            'row-lengths', 'How long its rows are', 'Rows by their number of entries.',
            (width) => columnChart({
                title: 'Rows by their number of entries',
                width,
                xTitle: 'entries in the row',
                yTitle: 'rows',
                columns: bins.map((bin) => ({
                                      label: label(bin),
                                      value: bin.rows,
                                      hint: `${grouped(bin.rows)} rows of ${label(bin)} entries`
                                  })),
            })),
        folded(
            'Row lengths as a table',
            sortableTable(
                'Row lengths',
                [
                    {head: 'from, entries', value: (bin) => bin.first, text: grouped},
                    {head: 'to, entries', value: (bin) => bin.last, text: grouped},
                    {head: 'rows', value: (bin) => bin.rows, text: grouped}
                ],
                bins)));
}

/** From the stats of the matrix, or else from what was built to be measured. */
function layoutsOf(A) {
    if (A.layouts) return A.layouts;
    const built = new Map();  // the methods of each size, for each layout
    for (const r of A.results) {
        if (!(r.bytes > 0) || r.method === 'plan') continue;
        const layout = r.method.split('.')[0];
        if (!built.has(layout)) built.set(layout, new Map());
        const sizes = built.get(layout);
        sizes.set(r.bytes, (sizes.get(r.bytes) ?? new Set()).add(r.method));
    }
    return [...built].flatMap(
        ([layout, sizes]) => [...sizes].map(
            ([bytes, methods]) =>
                ({name: sizes.size === 1 ? layout : summedUp([...methods]), bytes})));
}

const summedUp = ([first, ...others]) =>
    others.length === 0 ? first : `${first} and ${others.length} more`;

function formatBytes(A) {
    const layouts = layoutsOf(A),
          takes = layouts.filter((l) => l.bytes >= 0).sort((a, b) => a.bytes - b.bytes);
    const declines = layouts.filter((l) => l.declined);
    if (takes.length === 0) return undefined;
    const perEntry = (l) => l.bytes / Math.max(A.nnz, 1);
    return html(
        'div', {},
        plot(
            'format-bytes', 'What each format takes',
            'Bytes of the format for each entry of the matrix: a product reads them all.',
            (width) => barChart({
                title: 'Bytes an entry by format',
                width,
                unit: 'bytes / entry',
                bars: takes.map((l) => ({
                                    label: l.name,
                                    value: perEntry(l),
                                    colour: 3,
                                    hint: `${l.name}: ${short(l.bytes)}B`
                                })),
            })),
        folded(
            'Formats as a table',
            sortableTable(
                'Formats',
                [
                    {head: 'format', value: (l) => l.name, words: true},
                    {head: 'bytes', value: (l) => l.bytes, text: whole}, {
                        head: 'bytes / entry',
                        value: (l) => (l.bytes >= 0 ? perEntry(l) : undefined),
                        text: short
                    },
                    {head: 'declines, because', value: (l) => l.declined, words: true}
                ],
                [...takes, ...declines])));
}

function methodsSection(data, A) {
    if (!A.results.some((r) => r.measured))
        return section('Methods', html('p', {class: 'note'}, 'None was measured on this matrix.'));
    const chooser = html(
        'select', {'aria-label': 'number of threads'},
        ...data.threads.map((t) => html('option', {value: t}, threadsText(t))));
    chooser.value = String(data.threads.includes(0) ? 0 : data.threads.at(-1));
    const shown = () => fastestFirst(comparable(A, Number(chooser.value)));
    const figure = plot(
        'methods', 'How fast each method multiplies',
        'GFLOP/s: two operations an entry. The line across a bar\'s end spans about the ' +
            'middle half of its measurements. ' +
            'The plan\'s choice stands out in colour and bold type.',
        (width) => methodBars(A, shown(), width));
    chooser.addEventListener('change', () => redraw());
    const declined = [...new Map(A.results.filter((r) => r.declined).map((r) => [r.method, r]))];
    const lesson = list(data.raw.lessons).find((l) => l.matrix === A.name);
    return section(
        'Methods', html('p', {}, 'On ', chooser), figure,
        lesson?.why ? html(
                          'p', {}, html('strong', {}, lesson.fastest),
                          ` is fastest, on ${threadsText(lesson.threads)}: ${lesson.why}.`) :
                      undefined,
        folded('Methods as a table', methodsTable(A)),
        declined.length === 0 ?
            undefined :
            folded(
                `${declined.length} methods decline`,
                sortableTable(
                    'Methods that decline this matrix',
                    [
                        {head: 'method', value: ([method]) => method, words: true},
                        {head: 'because', value: ([, r]) => r.declined, words: true}
                    ],
                    declined)));
}

function methodBars(A, results, width) {
    const alone = results.some((r) => r.threads > 1);
    return barChart({
        title: 'Methods by GFLOP/s',
        width,
        unit: 'GFLOP/s',
        bars: results.map((r) => {
            const chosen = r.method === A.plan?.chosen || r.method === 'plan';
            const busy = isBusy(r), half = r.spread / 2;
            const rated = `${r.name}, ${threadsText(r.threads)}: ${short(r.gflops)} GFLOP/s, ` +
                `${seconds(r.median_s)}, spread ${short(100 * r.spread)} %`;
            return {
                label: r.name + (alone && r.threads === 1 ? ' (1)' : ''),
                value: r.gflops,
                colour: chosen ? 2 : 1,
                strong: chosen,
                low: r.gflops / (1 + half),
                high: r.gflops / Math.max(1 - half, 0.25),
                busy,
                note:
                    (chosen ? ' plan' : '') + (busy ? ' busy' : '') + (r.validated ? '' : ' WRONG'),
                hint: rated
            };
        })
    });
}

function methodsTable(A) {
    return sortableTable(
        'Every measured method',
        [
            {head: 'method', value: (r) => r.name, words: true},
            {head: 'threads', value: (r) => r.threads, text: (t) => (t === 0 ? 'GPU' : t)},
            {head: 'time', value: (r) => r.median_s, text: seconds},
            {head: '± %', value: (r) => 100 * r.spread, text: short},
            {head: 'GFLOP/s', value: (r) => r.gflops, text: short},
            {head: 'GB/s', value: (r) => r.gbps, text: short},
            {head: 'speed-up', value: (r) => r.speedUp, text: short},
            {head: 'bytes', value: (r) => r.bytes, text: grouped},
            {head: 'setup', value: (r) => r.setup_s, text: seconds},
            {head: 'result', value: (r) => (r.validated ? 'right' : 'WRONG'), words: true},
        ],
        fastestFirst(A.results.filter((r) => r.measured)));
}

function rooflineSection(data, A) {
    const points = A.results.filter((r) => r.measured && r.gbps > 0 && r.gflops > 0);
    if (points.length === 0) return undefined;
    const measured = data.threads.filter((t) => points.some((r) => r.threads === t));
    const threads = measured.slice(-shapes.length);
    const shown = points.filter((r) => threads.includes(r.threads));
    const roofs = data.bandwidths.filter((b) => threads.includes(b.threads));
    const draw = (width) => roofline({
        title: 'GFLOP/s over operations a byte',
        width,
        xTitle: 'operations / byte',
        yTitle: 'GFLOP/s',
        series: threads,
        roofs: roofs.map(roofOf),
        points: rooflinePoints(shown)
    });
    const roof = roofs.length > 0 ?
        'A dashed line is what the measured read bandwidth allows; points above it read from a ' +
            'cache. ' :
        'This file has no measured bandwidth, so there is no roof. ';
    const reading = 'The further to the right, the fewer bytes a method reads for the same ' +
        'result. The fastest is named.';
    const entries = threads.map((t, k) => ({name: threadsText(t), shape: k, colour: k + 1}));
    return section(
        'Roofline',
        plot(
            'roofline', 'How near each method is to the speed of memory',
            roof + reading + busyNote(shown), draw),
        legend(entries), roofs.length === 0 ? undefined : bandwidthTable(roofs));
}

function roofOf(b) {
    return {name: `${threadsText(b.threads)}: ${short(b.read_gbps)} GB/s`, slope: b.read_gbps};
}

function rooflinePoints(results) {
    const fastest = fastestFirst(results)[0];
    return results.map((r) => ({
                           x: r.gflops / r.gbps,
                           y: r.gflops,
                           series: r.threads,
                           label: r === fastest ? r.name : undefined,
                           busy: isBusy(r),
                           hint: `${r.name}, ${threadsText(r.threads)}: ` +
                               `${short(r.gflops)} GFLOP/s, ${short(r.gbps)} GB/s`
                       }));
}

function bandwidthTable(roofs) {
    const columns = [
        {head: 'threads', value: (b) => b.threads, text: (t) => (t === 0 ? 'GPU' : t)},
        {head: 'read, GB/s', value: (b) => b.read_gbps, text: short},
        {head: 'copy, GB/s', value: (b) => b.copy_gbps, text: short}
    ];
    return folded(
        'Bandwidths as a table', sortableTable('Measured bandwidth of the memory', columns, roofs));
}

/** The fastest methods on the most threads, each with its results by number of threads. */
function scalingCurves(data, A) {
    const counts = data.threads.filter((t) => t > 0), most = counts.at(-1);
    const shown = shapes.length;
    const best =
        fastestFirst(A.results.filter((r) => r.measured && r.threads === most && r.speedUp > 0))
            .slice(0, shown);
    return best.map(
        (r, k) => ({
            name: r.name,
            colour: k + 1,
            results: counts
                         .map(
                             (t) => A.results.find(
                                 (s) => s.method === r.method && s.threads === t && s.measured))
                         .filter((s) => s !== undefined)
        }));
}

function threadsSection(data, A) {
    const counts = data.threads.filter((t) => t > 0);
    const curves = scalingCurves(data, A);
    if (counts.length < 2 || curves.length === 0) return undefined;
    const lines = (value) => curves.map(
        (c) =>
            ({...c, marks: 'all', points: c.results.map((r) => [r.threads, value(r), isBusy(r)])}));
    const common = {xTitle: 'threads', xTicks: counts, xText: String, scales: ['log', 'linear']};
    return section(
        'Threads',
        html(
            'div', {class: 'columns'},
            plot(
                'speed-up', 'What more threads bring',
                `Speed-up over ${data.speedUpOver}, of the methods that are fastest on ` +
                    `${threadsText(counts.at(-1))}.` + busyNote(curves.flatMap((c) => c.results)),
                (width) => lineChart({
                    ...common,
                    title: 'Speed-up by threads',
                    width,
                    yTitle: 'speed-up',
                    curves: lines((r) => r.speedUp),
                    guides: [{name: 'ideal', points: counts.map((t) => [t, t])}]
                })),
            plot(
                'efficiency', 'How well they are used',
                'Efficiency: speed-up divided by threads; 1 where each adds as much as the first.',
                (width) => lineChart({
                    ...common,
                    title: 'Efficiency by threads',
                    width,
                    yTitle: 'efficiency',
                    curves: lines((r) => r.speedUp / r.threads),
                    guides: [{name: 'ideal', points: counts.map((t) => [t, 1])}]
                }))),
        folded(
            'Threads as a table',
            sortableTable(
                'Speed-up and efficiency by threads',
                [
                    {head: 'method', value: (r) => r.name, words: true},
                    {head: 'threads', value: (r) => r.threads},
                    {head: 'GFLOP/s', value: (r) => r.gflops, text: short},
                    {head: 'speed-up', value: (r) => r.speedUp, text: short},
                    {head: 'efficiency', value: (r) => r.speedUp / r.threads, text: short}
                ],
                A.results.filter((r) => r.measured && r.threads > 0 && r.speedUp > 0))));
}

function planSection(data, A) {
    const plan = A.plan;
    if (plan === undefined) return undefined;
    const candidates = list(plan.candidates);
    const most = data.threads.includes(0) && candidates.length === 0 ? 0 : data.threads.at(-1) ?? 1;
    const measured = new Map(comparable(A, most).map((r) => [r.method, r]));
    const text = html(
        'p', {}, 'The plan chose ', html('strong', {}, plan.chosen), ' without timing it. ',
        planVerdict(plan, measured));
    const rows = planRows(plan, measured);
    if (rows.length === 0) return section('The plan', text);
    const explanation = `Time of a product on ${threadsText(most)}, of the methods that the plan ` +
        'ranks first.' + busyNote([...measured.values()]);
    const draw = (width) => dumbbells({
        title: 'Predicted and measured times',
        rows,
        width,
        unit: 'time of a product, logarithmic',
        text: seconds
    });
    return section(
        'The plan', text, html('p', {}, plan.why ?? ''),
        plot('plan', 'What the plan predicted, and what was measured', explanation, draw),
        legend([{name: 'predicted', shape: 3, colour: 2}, {name: 'measured', shape: 0, colour: 1}]),
        folded('The plan as a table', planTable(A, candidates, measured)));
}

/** How fast the choice is beside the fastest, where both were measured. */
function planVerdict(plan, measured) {
    const chosen = measured.get(plan.chosen);
    const best = fastestFirst([...measured.values()].filter((r) => r.method !== 'plan'))[0];
    if (!chosen || !best) return '';
    const percent = short((100 * chosen.gflops) / best.gflops);
    return `It has ${percent} % of the speed of ${best.name}, the fastest measured.`;
}

function planRows(plan, measured) {
    const shown = 15;
    const ranked = list(plan.candidates).filter((c) => c.predicted_s > 0);
    return ranked.slice(0, shown).map((c) => {
        const r = measured.get(c.method);
        return {
            label: c.method,
            first: c.predicted_s,
            second: r?.median_s,
            busy: isBusy(r),
            strong: c.method === plan.chosen,
            hint: `${c.method}: predicted ${seconds(c.predicted_s)}, ` +
                `measured ${seconds(r?.median_s)}`
        };
    });
}

function planTable(A, candidates, measured) {
    const studied = new Set(A.results.map((r) => r.method));  // others have no kernel here
    const time = (c) => measured.get(c.method)?.median_s;
    const columns = [
        {head: 'method', value: (c) => c.method, words: true},
        {head: 'predicted', value: (c) => c.predicted_s, text: seconds},
        {head: 'measured', value: time, text: seconds},
        {head: 'bytes a product', value: (c) => c.bytes, text: whole},
        {head: 'setup, predicted', value: (c) => c.predicted_setup_s, text: seconds},
        {head: 'declined, because', value: (c) => c.declined, words: true}
    ];
    const rows = candidates.filter((c) => !c.declined || studied.has(c.method));
    return sortableTable('Candidates', columns, rows);
}

function solversSection(A) {
    if (A.solves.length === 0) return undefined;
    const all = A.solves.map((s) => ({name: solverName(s), points: residuals(s)}));
    const drawn = all.filter((c) => c.points.length > 1).slice(0, shapes.length);
    const curves = drawn.map((c, k) => ({...c, colour: k + 1}));
    const last = Math.max(...curves.map((c) => c.points.at(-1)[0]));
    const tol = A.solves[0].tol;
    const guides = tol > 0 ? [{name: `tolerance ${tol}`, points: [[0, tol], [last, tol]]}] : [];
    const draw = (width) => lineChart({
        title: 'Residual by iteration',
        width,
        xTitle: 'iterations',
        yTitle: 'residual',
        scales: ['linear', 'log'],
        curves,
        guides
    });
    const explanation = 'Residual |b - A x| / |b| after each iteration of a method with its ' +
        'preconditioner, for a right-hand side whose solution is known. Dashed: the tolerance.';
    return section(
        'Solvers',
        curves.length > 0 ? plot('solvers', 'How solvers converge', explanation, draw) : undefined,
        folded('Solvers as a table', solversTable(A.solves)));
}

function solverName({method, preconditioner}) {
    return preconditioner === 'none' ? method : `${method} + ${preconditioner}`;
}

/** The points of a solver's curve: iteration and residual, of which 0 has no logarithm. */
function residuals({history, history_every}) {
    return list(history).map((r, k) => [k * (history_every ?? 1), r]).filter(([, r]) => r > 0);
}

function solversTable(solves) {
    const digits = (r) => (Number.isFinite(r) ? r.toExponential(1) : '-');
    const ended = (s) => (s.converged ? 'yes' : `no: ${s.why ?? ''}`);
    return sortableTable(
        'Solvers',
        [
            {head: 'method', value: solverName, words: true},
            {head: 'iterations', value: (s) => s.iterations, text: grouped},
            {head: 'residual', value: (s) => s.relative_residual, text: digits},
            {head: 'time', value: (s) => s.solve_s, text: seconds},
            {head: 'preconditioner', value: (s) => s.preconditioner_s, text: seconds},
            {head: 'converged', value: ended, words: true}
        ],
        solves);
}
