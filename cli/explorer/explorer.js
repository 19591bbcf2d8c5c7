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
                'number is that of the first element. * is padding; alignment is what lies behind the last row, ' +
                'so that the next part begins at a whole sector. A step is one load or store that ' +
                'the lanes of a warp issue together; filled cells are touched in it, with the number of ' +
                'the lane. A lane multiplies an entry in the step that loads its element of x.'),
        html(
            'p', {},
            'The slider runs all panels at once: a step of each. Bytes moved are those of the sectors, ' +
                'bytes used those of the different elements of a step; a lane is idle in a step that it ' +
                'takes no part in. Arrow keys move the slider.'),
        html(
            'p', {},
            'Arrow keys move between cells, Enter keeps one, Escape lets go. x is 1, 2, 3 and so on. ' +
                'y shows the sums so far, pale until a lane stores them.'));
}

/**
 * What a link says behind its "#": matrix=, or cells= where it was typed, left=, right=, step=; and
 * embed, which leaves the matrix and the panels alone.
 */
function readLink() {
    const said = new URLSearchParams(location.hash.slice(1));
    const text = (name) => said.get(name) || undefined;
    return {
        matrix: text('matrix'),
        cells: text('cells'),
        panels: [text('left'), text('right')],
        step: Number.parseInt(said.get('step'), 10) || 0,
        embed: said.has('embed'),
    };
}

function writeLink({matrix, cells, panels, step}) {
    const said = new URLSearchParams(cells ? {cells} : {matrix});
    ['left', 'right'].forEach((side, k) => panels[k] && said.set(side, panels[k]));
    if (step > 0) said.set('step', step);
    if (readLink().embed) said.set('embed', '');
    history.replaceState(undefined, '', `#${said}`);
}

/** The panels' names to begin with: the link's where there are such, `tell` hears of others. */
function panelNames({first, data}, wanted, tell) {
    const formats = [...new Set(data.layouts.map((l) => l.format))];
    const known = new Set([...formats, ...data.kernels.map((k) => k.method)]);
    for (const name of wanted) {
        if (!name || known.has(name)) continue;
        const no = data.declined.find((d) => d.format === name.split('.')[0]);
        tell(no ? `No ${name} here. ${no.why}.` : `${name} is not among the formats of this matrix.`);
    }
    const [left, right] = wanted.map((name) => (known.has(name) ? name : undefined));
    const one = left ?? (known.has(first) ? first : formats[0]);
    const other = (f) => f !== one?.split('.')[0] && formats.includes(f);
    const second = ['ell', 'sell', 'coo'].find(other);
    return [one, right ?? second].filter(Boolean);
}

/**
 * A matrix beside its panels: {element, names(), step(), stop(), release()}. `moved()` is called
 * when a link would say something else.
 */
function matrixView({first, data}, wanted, tell, moved) {
    const matrix = readMatrix(data.matrix), panels = [], states = new Map();
    let target, active;
    const told = html('p', {class: 'told', 'aria-live': 'polite'});
    const runs = html('p', {class: 'soft runs'});
    const idle = {multiplied: new Set(), lanes: new Map()};
    const pointer = makePointer((to) => {
        target = to;
        told.textContent = targetText(target, matrix);
        panels.forEach((panel) => panel.light(target));
        picture.light(target, states.get(active) ?? idle);
    });
    const picture = densePicture(matrix, pointer);
    const totals = totalsTable(matrix, panels);
    const showActive = () => {
        const state = states.get(active) ?? idle, several = panels.length > 1;
        panels.forEach((p) => p.element.classList.toggle('active', several && p === active));
        runs.textContent =
            active?.totals ? `${active.name}: ${state.multiplied.size} of ${
                                 matrix.entries.length} multiplied.` :
                             '';
        picture.light(target, state);
    };
    const steps = stepper(
        () => Math.max(0, ...panels.map((p) => p.steps)),
        (step) => {
            for (const panel of panels) states.set(panel, panel.show(step));
            totals.show(step, states);
            showActive();
            moved();
        });
    const place = html('div', {class: 'panels'});
    const refresh = () => steps.go(steps.step());
    const onClose = (panel) => {
        panels.splice(panels.indexOf(panel), 1);
        panel.element.remove();
        if (active === panel) active = panels[0];
        refresh();
    };
    const formats = [...new Set(data.layouts.map((l) => l.format))];
    const unseen = () => {
        const seen = panels.map((p) => p.element.querySelector('select').value);
        return formats.find((f) => !seen.includes(f)) ?? formats[0];
    };
    const addPanel = (name) => {
        const goTo = (step) => (steps.stop(), steps.go(step));
        const changed = (panel) => panels.includes(panel) && refresh();
        const panel = layoutPanel({data, matrix, pointer, goTo, changed, onClose}, name);
        const activate = () => panels.includes(panel) && (active = panel, showActive());
        panel.element.addEventListener('pointerdown', activate);
        panel.element.addEventListener('focusin', activate);
        panels.push(panel);
        active ??= panel;
        place.append(panel.element);
        panel.light(target);
        refresh();
    };
    const add = html(
        'button', {type: 'button', class: 'save', onclick: () => addPanel(unseen())},
        'Add a format');
    for (const name of panelNames({first, data}, wanted.panels, tell)) addPanel(name);
    steps.go(wanted.step);
    pointer.release();
    const wide = matrix.cols > 16 ? 'explorer wide' : 'explorer';
    const element = html(
        'div', {class: wide},
        html(
            'section', {class: 'matrix', 'aria-label': 'matrix'}, picture.element, told, runs,
            legendOfRoles()),
        html(
            'div', {class: 'side'}, steps.element, totals.element, place,
            html('p', {class: 'choice-add'}, add)));
    return {
        element,
        names: () => panels.slice(0, 2).map((p) => p.name),
        step: steps.step,
        stop: steps.stop,
        release: pointer.release,
    };
}

function headText({matrix, about}) {
    return `${about ? `${about} ` : ''}${matrix.rows} × ${matrix.cols}, ${
        entriesText(matrix.entries)} · y = A x with x = 1, 2, 3, …`;
}

/** The page: a matrix of several, one that was typed, and what a link asks for. */
function startExplorer() {
    const {matrices, first, live: wasm} = JSON.parse(document.getElementById('data').textContent);
    const live = wasm && liveLibrary(wasm);
    let view, shown, cells, linked;
    const title = html('h1'), about = html('p', {class: 'soft'}), place = html('div');
    const note = html('p', {class: 'note', role: 'status'});
    const tell = (text) => (note.textContent = text, note.hidden = text === '');
    const choose = html('select', {
        'aria-label': 'matrix',
        onchange: () => openMatrix(choose.value, {panels: view.names(), step: 0}),
    });
    const alone = html('a', {class: 'alone', target: '_blank', rel: 'noopener'}, 'Open alone');
    const link = () => {
        clearTimeout(linked);  // a browser allows few in a second
        linked = setTimeout(() => {
            writeLink({matrix: shown.matrix.name, cells, panels: view.names(), step: view.step()});
            alone.href = location.href.replace(/&embed=?/, '');
        }, 300);
    };
    const draw = (data, text, wanted) => {
        view?.stop();
        shown = data, cells = text;
        view = undefined;
        const made = matrixView({first, data}, wanted, tell, () => view && link());
        view = made;
        document.title = `${data.matrix.name} – nonzero`;
        title.textContent = data.matrix.name;
        about.textContent = headText(data);
        typed?.fill(data);
        const names = matrices.map((m) => m.matrix.name);
        choose.replaceChildren(
            ...(text === undefined ? names : [...names, data.matrix.name])
                .map((name) => html('option', {value: name}, name)));
        choose.value = data.matrix.name;
        choose.hidden = choose.options.length < 2;
        place.replaceChildren(...[view.element, howToRead(), declinedNotes(data.declined)].filter(
            Boolean));
        link();
    };
    const openTyped = async (text, wanted) => {
        const data = await live.explore(text);
        tell('');
        data.matrix.name = 'typed';
        draw(data, text, wanted);
    };
    /** At once where the page has its layouts. */
    const openMatrix = (name, wanted) => {
        tell('');
        const data = matrices.find((m) => m.matrix.name === name) ?? matrices[0];
        if (name && name !== data.matrix.name) tell(`No matrix ${name} is in this page.`);
        if (data.layouts) return draw(data, undefined, wanted);
        live.explore(marketText(data.matrix)).then((told) => {
            Object.assign(data, told, {matrix: data.matrix});
            draw(data, undefined, wanted);
        }, (why) => tell(why.message));
    };
    const typed =
        live && typedMatrix((text) => openTyped(text, {panels: view.names(), step: 0}));
    const follow = () => {
        const wanted = readLink();
        document.documentElement.toggleAttribute('data-embed', wanted.embed);
        if (wanted.cells === undefined) return openMatrix(wanted.matrix, wanted);
        if (!live) {
            openMatrix(undefined, wanted);
            return tell('This page lays out no typed matrix: it has no WebAssembly.');
        }
        openTyped(wanted.cells, wanted).catch((why) => {
            openMatrix(undefined, wanted);
            tell(why.message);
        });
    };
    document.getElementById('page').replaceChildren(
        html('header', {}, title, html('p', {class: 'choice-matrix'}, choose, alone), about),
        ...[typed?.element, note, place].filter(Boolean));
    follow();
    window.addEventListener('hashchange', follow);
    document.addEventListener('keydown', (event) => event.key === 'Escape' && view?.release());
}

try {
    startExplorer();
} catch (fault) {
    document.documentElement.dataset.error = String(fault);
    throw fault;
}
