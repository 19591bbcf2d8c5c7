// Rows and grids of cells: pointed at by mouse, finger or keys, and lit.

/**
 * Lets arrow keys move between cells, of which one at a time is a stop of the tab key; `next(cell,
 * right, down)` gives a neighbour. Every cell tells `pointer` its target when it is pointed at.
 */
function makeMovable(cells, next) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    cells.forEach((cell, k) => {
        cell.tabIndex = k === 0 ? 0 : -1;
        cell.addEventListener('keydown', (event) => {
            const to = steps[event.key] && next(cell, ...steps[event.key]);
            if (!to) return;
            event.preventDefault();
            cells.forEach((other) => (other.tabIndex = -1));
            to.tabIndex = 0;
            to.focus();
        });
    });
}

/** Tells `pointer` when something points at the cell: `target()` is what it stands for. */
function makePointable(cell, target, pointer) {
    cell.addEventListener('pointerenter', (event) => {
        if (event.pointerType !== 'touch') pointer.at(target());
    });
    cell.addEventListener('pointerleave', (event) => {
        if (event.pointerType !== 'touch') pointer.at(undefined);
    });
    cell.addEventListener('focus', () => cell.matches(':focus-visible') && pointer.at(target()));
    cell.addEventListener('blur', () => pointer.at(undefined));
    cell.addEventListener('click', () => pointer.keep(target()));
    cell.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        pointer.keep(target());
    });
}

/** The matrix, a cell an element: {element, light(entries, state)}. */
function densePicture(matrix, pointer) {
    const small = matrix.cols <= 12 && matrix.entries.every((e) => brief(e.value).length <= 5);
    const cells = [];
    const every = small ? 1 : 8;
    const head = (number, what) => html(
        'th', {scope: what, 'aria-label': `${what} ${number}`},
        html('span', {}, number % every === 0 ? number : ''));
    const cellAt = (row, col) => {
        const e = matrix.at(row, col);
        const cell = html(
            'td', {role: 'gridcell', class: e === undefined ? 'zero' : 'entry'},
            html(
                'span', {},
                e === undefined ? '' :
                    small       ? brief(matrix.entries[e].value) :
                                  ''));
        cell.dataset.at = `${row},${col}`;
        cell.setAttribute(
            'aria-label',
            `row ${row}, column ${col}: ${e === undefined ? 'no entry' : matrix.entries[e].value}`);
        makePointable(
            cell, () => ({entries: e === undefined ? [] : [e], row, col, cell: true}), pointer);
        return cell;
    };
    const body = Array.from({length: matrix.rows}, (_, row) => {
        const line = Array.from({length: matrix.cols}, (_, col) => cellAt(row, col));
        cells.push(line);
        return html('tr', {role: 'row'}, head(row, 'row'), ...line);
    });
    const columns = Array.from({length: matrix.cols}, (_, col) => head(col, 'col'));
    const table = html(
        'table', {class: small ? 'dense' : 'dense fine', role: 'grid', 'aria-label': 'matrix A'},
        html('thead', {}, html('tr', {role: 'row'}, html('th'), ...columns)),
        html('tbody', {}, ...body));
    makeMovable(cells.flat(), (cell, right, down) => {
        const [row, col] = cell.dataset.at.split(',').map(Number);
        return cells[row + down]?.[col + right];
    });
    const light = (target, state) => cells.forEach((line, row) => line.forEach((cell, col) => {
        const e = matrix.at(row, col);
        const lane = state.lanes.get(e);
        cell.classList.toggle('done', state.multiplied.has(e));
        cell.classList.toggle('now', lane !== undefined);
        const here = target?.cell && target.row === row && target.col === col;
        cell.classList.toggle('lit', Boolean(here || target?.entries.includes(e)));
        if (lane === undefined)
            delete cell.dataset.lane;
        else
            cell.dataset.lane = lane;
    }));
    return {element: html('div', {class: 'scroll'}, table), light};
}

/** Sectors in a row that hold nothing but padding, or nothing but alignment, are drawn as one. */
function sectorsToDraw(array) {
    const size = Math.max(1, Math.floor(32 / array.bytes)), sectors = [];
    for (let first = 0; first < array.cells.length; first += size) {
        const last = Math.min(first + size, array.cells.length);
        const kinds = new Set(array.cells.slice(first, last).map((_, k) => fillOf(array, first + k)));
        const fill = kinds.size === 1 ? [...kinds][0] : undefined;
        const before = sectors.at(-1);
        if (fill && before?.fill === fill)
            before.last = last;
        else
            sectors.push({first, last, fill});
    }
    return sectors;
}

/** Values of four digits; the digits of structure are numbers, or one each: bits. */
function cellText(array, k) {
    const fill = fillOf(array, k), text = array.cells[k];
    if (fill) return fill === 'padding' ? '*' : '';
    return array.role === 'values' ? brief(text) : text;
}

/** An array, cell by cell, in the sectors of 32 bytes that memory delivers. */
function drawnArray(array, elements, pointer) {
    const drawn = [], all = [];
    const cellFor = (first, last, text, label) => {
        const cell = html('span', {class: 'cell', role: 'img', 'aria-label': label}, text);
        cell.dataset.element = first;
        for (let k = first; k < last; ++k) drawn[k] = cell;
        const entriesHere = () => elements.ofElement.get(elementKey(array.name, first)) ?? [];
        makePointable(
            cell, () => ({entries: last - first === 1 ? entriesHere() : [], label}), pointer);
        all.push(cell);
        return cell;
    };
    const sectors = sectorsToDraw(array).map(({first, last, fill}) => {
        const folded = fill && last - first > 1;
        const inside = folded ?
            [cellFor(
                first, last, `${last - first} × ${fill}`,
                `${array.name}[${first} to ${last - 1}]: ${fill}`)] :
            Array.from({length: last - first}, (_, k) => {
                const text = cellText(array, first + k);
                const padding = text === '*' ? 'padding' : array.cells[first + k];
                const what = fillOf(array, first + k) ?? padding;
                return cellFor(
                    first + k, first + k + 1, text, `${array.name}[${first + k}] = ${what}`);
            });
        const sector = html('span', {class: folded ? 'sector folded' : 'sector'}, ...inside);
        sector.dataset.first = first;
        return sector;
    });
    const lines = [];
    for (const sector of sectors) {
        const first = Number(sector.dataset.first);
        if (lines.length === 0 || array.pitch && first % array.pitch === 0)
            lines.push(html('div', {class: 'cells'}));
        lines.at(-1).append(sector);
    }
    makeMovable(all, (cell, right, down) => all[all.indexOf(cell) + right + down]);
    const count = `${array.cells.length} × ${array.bytes} bytes`;
    const element = html(
        'div', {class: `array role-${array.role}`, role: 'group', 'aria-label': array.name},
        html(
            'div', {class: 'array-name'}, html('code', {}, array.name),
            html('span', {class: 'soft'}, count)),
        ...lines);
    element.dataset.array = array.name;
    return {array, element, cell: (k) => drawn[k], all};
}
