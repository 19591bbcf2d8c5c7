// What the explorer's data say, asked by entry, by layout and by kernel.

/** Which entries an element of an array is needed for: `array[number]` as a key. */
const elementKey = (array, number) => `${array}[${number}]`;

/** The matrix: entries {row, col, value}, found by row and column; x is 1, 2, 3 ... */
function readMatrix({name, rows, cols, entries}) {
    const all = entries.map(([row, col, value]) => ({row, col, value}));
    const numbers = new Map(all.map(({row, col}, k) => [`${row},${col}`, k]));
    return {
        name,
        rows,
        cols,
        entries: all,
        at: (row, col) => numbers.get(`${row},${col}`),
        x: Array.from({length: cols}, (_, j) => j + 1),
    };
}

/** The arrays of a product over a layout: the layout's own, x and y. */
function arraysOf(layout, matrix) {
    const bytes = 8, scalars = new Map(layout.scalars);
    // Where columns are stored in full each begins a line: the pitch of the array's own part.
    const pitchOf = (name) => scalars.get(name.split('.').slice(0, -1).concat('pitch').join('.'));
    return [
        ...layout.arrays.map((a) => ({...a, pitch: a.entries && Number(pitchOf(a.name) ?? 0)})),
        {name: 'x', role: 'x', bytes, cells: matrix.x.map(String)},
        {name: 'y', role: 'y', bytes, cells: Array(matrix.rows).fill('')},
    ];
}

/** How a cell is filled where it stands for no entry: padding, alignment, or undefined. */
function fillOf(array, k) {
    if (array.entries === undefined || array.entries[k] >= 0) return undefined;
    return array.cells[k] === '' ? 'alignment' : 'padding';
}

/** Which elements belong to an entry, and which entries to an element. */
function elementsOf(layout, matrix) {
    const ofEntry = matrix.entries.map(
        ({row, col}, k) => [...(layout.places[k] ?? []), ['x', col], ['y', row]].map(
            ([a, n]) => elementKey(a, n)));
    for (const array of layout.arrays)
        (array.entries ?? []).forEach((e, cell) => {
            if (e >= 0) ofEntry[e].push(elementKey(array.name, cell));
        });
    const ofElement = new Map();
    ofEntry.forEach((keys, e) => keys.forEach((key) => {
        if (!ofElement.has(key)) ofElement.set(key, []);
        ofElement.get(key).push(e);
    }));
    return {ofEntry, ofElement};
}

/** The cells that a step's lane touches: one, or neighbours that one load fetches together. */
function cellsOf(step, lane) {
    const first = step.at[lane] ?? -1;
    return first < 0 ? [] : Array.from({length: step.cells ?? 1}, (_, k) => first + k);
}

/** The sectors of 32 bytes that a step's lanes touch. */
function sectorsOf(step, elementBytes) {
    const sectors = new Set();
    step.at.forEach((_, lane) => {
        for (const cell of cellsOf(step, lane)) sectors.add(Math.floor(cell * elementBytes / 32));
    });
    return sectors;
}

/** The bytes of a cell of the array that a step touches, which may be one that is not drawn. */
const bytesOfCell = (step, array) => array?.bytes ?? step.bytes;

/**
 * Running totals of a kernel after 0, 1, 2 ... steps: {sectors, moved, used, idle}. `moved` are the
 * bytes of the sectors, `used` those of the different elements of each step, `idle` the lanes that
 * a step leaves out: as nz explain counts them.
 */
function totalsOf(kernel, arrays) {
    const byName = new Map(arrays.map((a) => [a.name, a]));
    const all = [{sectors: 0, moved: 0, used: 0, idle: 0}];
    for (const step of kernel.steps) {
        const before = all.at(-1), bytes = bytesOfCell(step, byName.get(step.array));
        const cells = new Set(step.at.flatMap((_, lane) => cellsOf(step, lane)));
        const sectors = sectorsOf(step, bytes).size;
        all.push({
            sectors: before.sectors + sectors,
            moved: before.moved + 32 * sectors,
            used: before.used + (step.used ?? bytes * cells.size),
            idle: before.idle + 32 - step.at.filter((cell) => cell >= 0).length,
        });
    }
    return all;
}

/** Where a warp stands in its launch: {kernel, block, warp}. */
function placeOfWarp(kernel, number) {
    let warp = number;
    for (const launch of kernel.launches) {
        if (warp < launch.warps)
            return {
                kernel: launch.kernel,
                block: Math.floor(warp / launch.block),
                warp: warp % launch.block
            };
        warp -= launch.warps;
    }
    return undefined;
}

/** What has happened after `count` steps: sums by row, entries multiplied, rows stored. */
function stateAfter(kernel, count, matrix) {
    const sums = Array(matrix.rows).fill(0), multiplied = new Set(), stored = new Set();
    for (const step of kernel.steps.slice(0, count)) {
        for (const [, e] of step.entries ?? []) {
            const {row, col, value} = matrix.entries[e];
            multiplied.add(e);
            sums[row] += value * matrix.x[col];
        }
        if (step.store && step.array === 'y')
            step.at.filter((row) => row >= 0).forEach((row) => stored.add(row));
    }
    return {sums, multiplied, stored};
}

/** Who multiplies an entry: {warp, lane, multiplied, loaded}, steps counted from 1. */
function readerOf(kernel, layout, entry) {
    for (const [k, step] of kernel.steps.entries())
        for (const [lane, e] of step.entries ?? [])
            if (e === entry)
                return {
                    warp: step.warp,
                    lane,
                    multiplied: k + 1,
                    loaded: valueLoad(kernel, layout, k, lane, entry)
                };
    return undefined;
}

function valueLoad(kernel, layout, before, lane, entry) {
    const valuesOf = new Map(
        layout.arrays.filter((a) => a.role === 'values').map((a) => [a.name, a.entries ?? []]));
    for (let k = before - 1; k >= 0 && kernel.steps[k].warp === kernel.steps[before].warp; --k) {
        const step = kernel.steps[k];
        if (valuesOf.get(step.array)?.[step.at[lane] ?? -1] === entry) return k + 1;
    }
    return undefined;
}

/** Four digits of a number, and what is no number as it is. */
function brief(text) {
    const x = Number(text);
    return text === '' || !Number.isFinite(x) ? text : String(Number(x.toPrecision(4)));
}

const many = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
/** The kernel to begin with: of those over one layout the plainest. */
const plainest = (kernels) =>
    kernels.find(({method}) => /\.(scalar|row|column|atomic)$/.test(method)) ?? kernels[0];

const entriesText = (entries) => `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
