// The page: what was measured where, a matrix chosen from all, and its sections.

/** Draws all plots, at their places' widths, or at that of a printed page. */
function redraw(width) {
    for (const draw of plots) draw(width);
}

/** What a reader must know before any number. */
function warnings(data) {
    const measured = data.results.filter((r) => r.measured);
    const busy = measured.filter(isBusy), wrong = measured.filter((r) => !r.validated);
    const notes = [];
    if (data.raw.interrupted)
        notes.push('The measuring was interrupted: what is missing was not measured.');
    if (wrong.length > 0) notes.push(`${wrong.length} results are WRONG: ${someOf(wrong)}.`);
    if (busy.length > 0)
        notes.push(
            `The machine was busy: ${busy.length} of ${measured.length} times have a spread ` +
            'above half their median. Their bars are pale and say “busy”. Do not compare them; ' +
            'measure again when nothing else runs.');
    notes.push(...slowerThreads(measured).slice(0, 1));
    return notes.map((note) => html('p', {class: 'note', role: 'alert'}, note));
}

/** What nz bench and nz study say of it, by the same numbers (cli/conditions/quiet.cpp). */
function slowerThreads(measured) {
    const plain = measured.filter((r) => r.method === 'csr.static');
    return plain.flatMap((one) => {
        if (one.threads !== 1 || one.median_s < 2e-4) return [];
        return plain
            .filter(
                (r) => r.matrix === one.matrix && r.threads > 1 && r.median_s > 1.5 * one.median_s)
            .map(
                (r) => `The machine was busy: csr.static takes ` +
                    `${short(r.median_s / one.median_s)} times as long on ${r.threads} threads ` +
                    `as on one (${one.matrix}). Measure again when nothing else runs.`);
    });
}

/** The first few, by name. */
function someOf(results) {
    const names = new Set(results.map((r) => `${r.method} on ${r.matrix}`));
    return [...names].slice(0, 5).join(', ');
}

function madeBy(data) {
    const {raw} = data, m = raw.machine ?? {},
          size = (bytes) => (bytes > 0 ? `${short(bytes)}B` : undefined);
    const commit = raw.commit ? `${raw.commit}${raw.dirty ? ', changed' : ''}` : undefined;
    const save = html(
        'button', {type: 'button', class: 'save', onclick: () => saveJson(raw)},
        'Save the measurements as JSON');
    return section(
        'How this was made', factsTable([
            ['command', html('code', {}, raw.command_line ?? `nz ${raw.command}`)],
            ['date', raw.date],
            [
                'processor',
                m.cpu && `${m.cpu}, ${m.cores} hardware threads, ${m.simd || 'no SIMD known'}`
            ],
            [
                'caches',
                [['L1d', m.l1d_bytes], ['L2', m.l2_bytes], ['L3', m.l3_bytes]]
                    .filter(([, b]) => b > 0)
                    .map(([n, b]) => `${n} ${size(b)}`)
                    .join(', ')
            ],
            ['memory', size(m.memory_bytes)],
            ['GPU', raw.gpu?.name],
            [
                'bandwidth',
                data.bandwidths
                    .map((b) => `${short(b.read_gbps)} GB/s read on ${threadsText(b.threads)}`)
                    .join(', ')
            ],
            ['nonzero', [raw.nz, commit && `commit ${commit}`].filter(Boolean).join(', ')],
            ['compiler', [raw.compiler, raw.flags].filter(Boolean).join(' ')],
            ['values', [raw.type ?? 'double', raw.values].filter(Boolean).join(', ')],
        ]),
        html('p', {}, save));
}

function saveJson(raw) {
    const link = html('a', {
        download: 'measurements.json',
        href: URL.createObjectURL(
            new Blob([JSON.stringify(raw, null, 1)], {type: 'application/json'}))
    });
    link.click();
    URL.revokeObjectURL(link.href);
}

/** A section, or, where it fails, a note that says so: the others are shown all the same. */
function attempt(build) {
    try {
        return build();
    } catch (fault) {
        document.documentElement.dataset.error = String(fault);
        return html(
            'p', {class: 'note'}, `A part of the page could not be drawn: ${fault.message}`);
    }
}

/** Links to the sections, those of the matrix among them. */
function contents() {
    const sections = [...document.querySelectorAll('section')];
    const link = ({id, firstChild}) =>
        html('li', {}, html('a', {href: `#${id}`}, firstChild.textContent));
    document.getElementById('contents').replaceChildren(...sections.map(link));
}

/** "on 2 threads" or "on a GPU": where the fastest times were measured. */
function placeText({threads}) {
    if (threads.length === 0) return '';
    return threads.includes(0) ? ' on a GPU' : ` on ${threadsText(threads.at(-1))}`;
}

function start() {
    const data = readMeasurements(JSON.parse(document.getElementById('data').textContent));
    const {matrices, raw} = data;
    const title = matrices.length === 1 ? matrices[0].name : `${matrices.length} matrices`;
    const version = raw.nz ? `nonzero ${raw.nz}` : 'nonzero';
    document.title = `${title}${placeText(data)} – ${version}`;
    const detail = html('div', {id: 'matrix'});
    const chooser = html(
        'select', {'aria-label': 'matrix'},
        ...matrices.map((A, k) => html('option', {value: k}, A.name)));
    const show = (A) => {
        plots.length = 0;
        chooser.value = String(matrices.indexOf(A));
        const builders = [
            () => matrixSection(A), () => methodsSection(data, A), () => rooflineSection(data, A),
            () => threadsSection(data, A), () => planSection(data, A), () => memorySection(A),
            () => solversSection(A)
        ];
        detail.replaceChildren(...builders.map(attempt).filter((part) => part !== undefined));
        contents();
        attempt(() => redraw());
    };
    chooser.addEventListener('change', () => show(matrices[Number(chooser.value)]));
    const several = matrices.length > 1;
    const jump = (A) => {
        show(A);
        detail.scrollIntoView();
    };
    document.getElementById('page').replaceChildren(
        html(
            'header', {},
            html('h1', {}, `Sparse products: ${title}${placeText(data)}, ${version}`),
            html(
                'p', {class: 'soft'},
                [`nz ${raw.command}`, raw.machine?.cpu, raw.gpu?.name, raw.date]
                    .filter(Boolean)
                    .join(' · '))),
        html('nav', {'aria-label': 'contents'}, html('ol', {id: 'contents'})), ...warnings(data),
        attempt(() => taughtSection(data)) ?? '',
        ...(several ?
                [
                    section('All matrices', attempt(() => heatMap(data, jump))),
                    html('p', {class: 'choice'}, html('label', {}, 'Matrix ', chooser))
                ] :
                []),
        detail, attempt(() => madeBy(data)));
    if (matrices.length > 0) show(matrices[0]);
    let width = window.innerWidth;
    window.addEventListener('resize', () => {
        if (width !== window.innerWidth) {
            width = window.innerWidth;
            redraw();
        }
    });
    window.addEventListener('beforeprint', () => redraw(660));
    window.addEventListener('afterprint', () => redraw());
    document.documentElement.dataset.readyMs = String(Math.round(performance.now()));
}

attempt(start);
