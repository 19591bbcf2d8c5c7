// What GPU kernels ask of the memory: the table of `nz explain`, and its picture of a warp.

const lanesOfWarp = 32, sectorLetters = 'abcdefghijklmnopqrstuvwxyz012345';

/** By what the elements of an array are to a product, in the legend's order. */
const roles = {
    columns: {name: 'columns', colour: 1},
    values: {name: 'values', colour: 3},
    x: {name: 'x', colour: 2},
    y: {name: 'y', colour: 4},
    structure: {name: 'the rest of the format', colour: 6},
};
const roleOf = ({role}) => (Object.hasOwn(roles, role) ? roles[role] : roles.structure);

/** For each lane, which of the step's sectors it touches; -1 where it is idle. */
function sectorsOf({lanes}) {
    const letters = typeof lanes === 'string' ? [...lanes.slice(0, lanesOfWarp)] : [];
    return letters.map((letter) => sectorLetters.indexOf(letter));
}

const sectorCount = (step) => Math.max(-1, ...sectorsOf(step)) + 1;
const lanesAtWork = (step) => sectorsOf(step).filter((sector) => sector >= 0).length;
const bytesText = (bytes) => `${short(bytes)}B`;
const arrayName = (step) => `${step.array}${step.store ? ' =' : ''}`;

function memorySection(A) {
    const methods = list(A.explain?.methods), counted = methods.filter((m) => m.requests >= 0);
    if (counted.length === 0) return undefined;
    const pictures = list(A.explain.pictures).filter((p) => list(p.shown).length > 0);
    const text = 'Counted on the CPU from the addresses that each kernel\'s warps touch, without ' +
        'a GPU and without its time. Best first: what moves the fewest bytes, times how much ' +
        `longer than an equal share the busiest warp works.${partText(A)}`;
    const table = kernelTable(A, counted);
    return section(
        'The memory\'s view', html('p', {}, text),
        pictures.length > 0 ? warpFigure(pictures) : undefined,
        A.results.some((r) => r.threads === 0) ? table : folded('GPU kernels as a table', table),
        html(
            'p', {class: 'soft'},
            'A request is one load or store of a warp. Sectors, of 32 bytes, are those of a mean ' +
                'load, of all arrays and of columns, values and x; lanes, of 32, take part in one. ' +
                'Used are the bytes of different elements over those of the sectors moved. What ' +
                `misses L1 is told by a model of ${A.explain.l1_model}.`),
        notCounted(methods));
}

/** Of a large matrix a part is counted. */
function partText(A) {
    const {rows, entries} = A.explain;
    if (!Array.isArray(rows)) return '';
    return ` The matrix is large: counted are rows ${grouped(rows[0] + 1)} to ` +
        `${grouped(rows[1])} alone, as a matrix of ${grouped(entries)} entries.`;
}

function notCounted(methods) {
    const declined = methods.filter((m) => m.declined);
    if (declined.length === 0) return undefined;
    const columns = [
        {head: 'method', value: (m) => m.method, words: true},
        {head: 'because', value: (m) => m.declined, words: true}
    ];
    return folded(
        `${declined.length} methods are not counted`,
        sortableTable('Methods that are not counted', columns, declined));
}

/** Kernels that ask the same of the memory as one, by all of their names; those timed apart. */
function withTheSameFigures(counted, timed) {
    const groups = new Map();
    for (const m of counted) {
        const key = JSON.stringify({...m, method: timed(m) === undefined ? '' : m.method});
        groups.set(key, [...(groups.get(key) ?? []), m]);
    }
    return [...groups.values()].map(
        (same) => ({...same[0], method: same.map((m) => m.method).join(', ')}));
}

function kernelTable(A, counted) {
    const sectors = (of) => (m) => m.sectors_a_request?.[of];
    const timed = (m) => A.results.find((r) => r.method === m.method && r.threads === 0)?.median_s;
    const columns = [
        {head: 'method', value: (m) => m.method, words: true},
        {head: 'bound by', value: (m) => m.binds, words: true},
        {head: 'requests', value: (m) => m.requests, text: whole},
        {head: 'sectors', value: sectors('loads'), text: short},
        {head: 'columns', value: sectors('columns'), text: short},
        {head: 'values', value: sectors('values'), text: short},
        {head: 'x', value: sectors('x'), text: short},
        {head: 'used, %', value: (m) => 100 * m.used_of_moved, text: short},
        {head: 'lanes', value: (m) => m.lanes, text: short},
        {head: 'moved', value: (m) => m.moved_bytes, text: bytesText},
        {head: 'time', value: timed, text: seconds},
    ];
    const shown = columns.filter((c) => c.head !== 'time' || counted.some(timed));
    const rows = withTheSameFigures(counted, timed);
    return sortableTable('What each GPU kernel asks of the memory', shown, rows);
}

/** One of the pictures, chosen by its method, with its steps as a table. */
function warpFigure(pictures) {
    const label = (p, k) => `${p.method}, ${k === 0 ? 'the best' : 'the last'} of the table`;
    const chooser = html(
        'select', {'aria-label': 'kernel'},
        ...pictures.map((p, k) => html('option', {value: k}, label(p, k))));
    const chosen = () => pictures[Number(chooser.value)];
    const figure = plot(
        'warp', 'One warp of a kernel, step by step',
        'Lanes across, steps down: in each step the lanes of a warp load or store together. ' +
            'Neighbours of one shade share a sector of 32 bytes; idle lanes are empty. The fewer ' +
            'sectors for full lanes, the better.',
        (width) => warpPicture(chosen(), width));
    const below = html('div');
    const describe = () => below.replaceChildren(...belowPicture(chosen()));
    chooser.addEventListener('change', () => {
        describe();
        redraw();
    });
    describe();
    const entries = Object.values(roles).map(({name, colour}) => ({name, colour, shape: 1}));
    return html('div', {}, html('p', {}, 'A warp of ', chooser), figure, legend(entries), below);
}

function belowPicture(picture) {
    const {shown, requests, place} = picture, left = requests - shown.length;
    const drawn = left > 0 ? `The first ${shown.length} of its ${grouped(requests)} steps; ${
                                 grouped(left)} are left out.` :
                             `All of its ${grouped(requests)} steps.`;
    return [
        html('p', {class: 'soft'}, `${picture.method}: ${place}. ${drawn}`),
        folded('The steps as a table', stepTable(shown))
    ];
}

function stepTable(shown) {
    const number = new Map(shown.map((step, k) => [step, k]));
    return sortableTable(
        'Steps of the warp',
        [
            {head: 'step', value: (step) => number.get(step)},
            {head: 'array', value: arrayName, words: true},
            {head: 'what', value: (step) => roleOf(step).name, words: true},
            {head: 'lanes at work', value: lanesAtWork},
            {head: 'sectors', value: sectorCount},
        ],
        shown);
}

function warpPicture({method, shown}, width) {
    const rowHeight = width < 500 ? 13 : 15, top = 40, left = Math.min(150, 0.3 * width);
    const right = width - 58, cell = Math.min((right - left) / lanesOfWarp, 22);
    const end = left + cell * lanesOfWarp;
    const chart = canvas(width, top + rowHeight * shown.length + 8, `A warp of ${method}`);
    chart.append(
        svg('text', {x: (left + end) / 2, y: 13, 'text-anchor': 'middle'}, 'lane'),
        svg('text', {x: 2, y: top - 8}, 'step'), svg('text', {x: end + 6, y: top - 8}, 'sectors'));
    for (const lane of [0, 8, 16, 24, 31])
        chart.append(
            svg('text',
                {class: 'soft', x: left + (lane + 0.5) * cell, y: top - 8, 'text-anchor': 'middle'},
                lane));
    shown.forEach(
        (step, k) => chart.append(
            warpStep(step, k, {y: top + k * rowHeight, height: rowHeight, left, cell, end})));
    return chart;
}

function warpStep(step, k, {y, height, left, cell, end}) {
    const name = fitted(arrayName(step), left - 38);
    const g =
        svg('g', {class: `c${roleOf(step).colour}`},
            svg('text', {class: 'soft', x: 22, y: y + height - 4, 'text-anchor': 'end'}, k),
            svg('text', {x: 30, y: y + height - 4}, name), svg('rect', {
                class: 'grid',
                x: left,
                y: y + 0.5,
                width: end - left,
                height: height - 1,
            }));
    const all = sectorCount(step);
    sectorsOf(step).forEach((sector, lane) => {
        if (sector < 0) return;
        g.append(
            svg('rect', {
                class: 'mark fill',
                'fill-opacity': sector % 2 === 0 ? 1 : 0.45,
                x: left + lane * cell,
                y: y + 1,
                width: cell - 1,
                height: height - 2
            },
                svg('title', {}, `lane ${lane}: ${step.array}, sector ${sector + 1} of ${all}`)));
    });
    g.append(svg('text', {x: end + 6, y: y + height - 4}, all));
    return g;
}
