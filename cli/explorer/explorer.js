// The explorer: the matrix beside panels of layouts; what is pointed at is lit everywhere.

/** What is pointed at now, or else what was kept by a click: `changed(target)` hears of it. */
function makePointer(changed) {
    let hovered, kept;
    const tell = () => changed(hovered ?? kept, kept);
    return {
        at: (target) => (hovered = target, tell()),
        keep: (target) => (kept = target, tell()),
        release: () => (hovered = kept = undefined, tell()),
    };
}

function targetText(target, matrix) {
    if (!target) return 'Point at an entry or at any element of an array. A click keeps it.';
    if (target.cell && target.entries.length === 0)
        return `Row ${target.row}, column ${target.col}: no entry.`;
    if (target.entries.length === 0) return target.label;
    if (target.entries.length > 1) return `${target.label}: ${entriesText(target.entries)}.`;
    const {row, col, value} = matrix.entries[target.entries[0]];
    return `Row ${row}, column ${col}: ${value}.`;
}

function legendOfRoles() {
    const items = [
        ['values', 'values'], ['columns', 'columns'], ['structure', 'structure'], ['x', 'x'],
        ['y', 'y']
    ].map(([role, text]) => html('li', {}, html('span', {class: `key role-${role}`}), text));
    return html(
        'ul', {class: 'legend roles'}, ...items,
        html('li', {}, html('span', {class: 'key lit'}), 'pointed at'));
}

function declinedNotes(declined) {
    if (declined.length === 0) return undefined;
    const items =
        declined.map(({format, why}) => html('li', {}, html('code', {}, format), `: ${why}`));
    return folded(
        `${many(declined.length, 'format')} cannot hold this matrix`, html('ul', {}, ...items));
}

function howToRead() {
    return folded(
        'How to read this page',
        html(
            'p', {},
            'Framed groups of cells are sectors of 32 bytes, the least that memory delivers; the small ' +
                'number is that of the first element. A dot is padding. A step is one load or store that ' +
                'the lanes of a warp issue together; filled cells are touched in it, with the number of ' +
                'the lane. A lane multiplies an entry in the step that loads its element of x.'),
        html(
            'p', {},
            'Arrow keys move between cells, Enter keeps one, Escape lets go. x is 1, 2, 3 and so on. ' +
                'y shows the sums so far, pale until a lane stores them.'));
}

function startExplorer() {
    const data = JSON.parse(document.getElementById('data').textContent);
    const matrix = readMatrix(data.matrix), panels = [];
    let target, active;
    const told = html('p', {class: 'told', 'aria-live': 'polite'});
    const runs = html('p', {class: 'soft runs'});
    const idle = {multiplied: new Set(), lanes: new Map()};
    const pointer = makePointer((to) => {
        target = to;
        told.textContent = targetText(target, matrix);
        panels.forEach((panel) => panel.light(target));
        picture.light(target, active?.state ?? idle);
    });
    const picture = densePicture(matrix, pointer);
    const onActive = (panel, kernel, state) => {
        active = {panel, state};
        runs.textContent = state.multiplied.size === 0 ?
            '' :
            `${kernel.method}: ${state.multiplied.size} of ${matrix.entries.length} multiplied.`;
        picture.light(target, state);
    };
    const place = html('div', {class: 'panels'});
    const onClose = (panel) => {
        panel.stop();
        panels.splice(panels.indexOf(panel), 1);
        panel.element.remove();
        if (active?.panel === panel) panels[0]?.refresh();
    };
    const add = html(
        'button', {type: 'button', class: 'save', onclick: () => addPanel(unseen())},
        'Add a format');
    const formats = [...new Set(data.layouts.map((l) => l.format))];
    const unseen = () => {
        const seen = panels.map((p) => p.element.querySelector('select').value);
        return formats.find((f) => !seen.includes(f)) ?? formats[0];
    };
    const addPanel = (format) => {
        const panel = layoutPanel({data, matrix, pointer, onActive, onClose}, format);
        panels.push(panel);
        place.append(panel.element);
        panel.light(target);
    };
    document.title = `${matrix.name} – nonzero`;
    const wide = matrix.cols > 16 ? 'explorer wide' : 'explorer';
    document.getElementById('page').replaceChildren(
        html(
            'header', {}, html('h1', {}, matrix.name),
            html(
                'p', {class: 'soft'},
                `${matrix.rows} × ${matrix.cols}, ${
                    entriesText(matrix.entries)} · y = A x with x = 1, 2, 3, …`)),
        html(
            'div', {class: wide},
            html(
                'section', {class: 'matrix', 'aria-label': 'matrix'}, picture.element, told, runs,
                legendOfRoles()),
            html('div', {class: 'side'}, place, html('p', {class: 'choice-add'}, add))),
        ...[howToRead(), declinedNotes(data.declined)].filter(Boolean));
    const second = ['ell', 'sell', 'coo'].find((f) => f !== data.first && formats.includes(f));
    const first = formats.includes(data.first) ? data.first : formats[0];
    for (const format of [first, second])
        if (format) addPanel(format);
    panels[0]?.refresh();
    pointer.release();
    document.addEventListener('keydown', (event) => event.key === 'Escape' && pointer.release());
}

try {
    startExplorer();
} catch (fault) {
    document.documentElement.dataset.error = String(fault);
    throw fault;
}
