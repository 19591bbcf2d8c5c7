// Matrices that are typed in the page, laid out by the library itself, compiled to WebAssembly.

/** The functions of the system that the library links and has no use for here. */
const noSystem = {
    wasi_snapshot_preview1: Object.fromEntries(
        [
            'clock_time_get', 'environ_get', 'environ_sizes_get', 'fd_close', 'fd_seek', 'fd_write',
            'proc_exit'
        ].map((name) => [name, () => 0])),
};

/** {explore(text)}: a promise of what nz show tells of that matrix. It fails with the reason. */
function liveLibrary(base64) {
    let started;
    const start = async () => {
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const {instance} = await WebAssembly.instantiate(bytes, noSystem);
        instance.exports._initialize();
        return instance.exports;
    };
    const explore = async (text) => {
        const library = await (started ??= start());
        const typed = new TextEncoder().encode(text);
        const room = library.room_for(typed.length);
        new Uint8Array(library.memory.buffer, room, typed.length).set(typed);
        const answer = library.explore(), memory = new Uint8Array(library.memory.buffer);
        const told = new TextDecoder().decode(memory.subarray(answer, memory.indexOf(0, answer)));
        const data = JSON.parse(told);
        if (data.fault !== undefined)
            throw Error(data.fault.replace(/^input:(\d+): /, 'Line $1: ').replace(/^input: /, ''));
        return data;
    };
    return {explore};
}

/** The matrix as a Matrix Market file. */
function marketText({rows, cols, entries}) {
    const lines = entries.map(([row, col, value]) => `${row + 1} ${col + 1} ${value}`);
    const banner = '%%MatrixMarket matrix coordinate real general';
    return [banner, `${rows} ${cols} ${entries.length}`, ...lines, ''].join('\n');
}

/** The matrix as a grid of cells, where it is small; else as a file. Complex ones as nothing. */
function typedText({matrix}) {
    const values = matrix.entries.map((entry) => entry[2]);
    if (!values.every(Number.isFinite)) return '';
    if (matrix.cols > 12 || matrix.rows > 12 || values.includes(0)) return marketText(matrix);
    const grid = Array.from({length: matrix.rows}, () => Array(matrix.cols).fill('0'));
    for (const [row, col, value] of matrix.entries) grid[row][col] = String(value);
    const width = Math.max(1, ...grid.flat().map((cell) => cell.length));
    return grid.map((line) => line.map((cell) => cell.padStart(width)).join(' ')).join('\n');
}

/** Where a matrix is typed: `take(text)` is a promise, whose failure is told. */
function typedMatrix(take) {
    const text = html('textarea', {id: 'cells', rows: 6, spellcheck: 'false'});
    const fault = html('p', {class: 'fault', role: 'status'});
    const lay = async () => {
        fault.textContent = '';
        try {
            await take(text.value);
        } catch (why) {
            fault.textContent = why.message;
        }
    };
    const element = folded(
        'Type or paste a matrix',
        html(
            'label', {for: 'cells'},
            'A grid of numbers, a row a line, or a Matrix Market file; up to 64 × 64 with 400 entries.'),
        text,
        html(
            'div', {},
            html('button', {type: 'button', class: 'save', onclick: lay}, 'Lay it out')),
        fault);
    return {element, fill: (data) => (text.value = typedText(data))};
}
