// A panel: a layout's arrays, and a kernel that a slider runs over them.

/** "0–7,9" */
function laneRanges(lanes) {
    const parts = [];
    for (const lane of lanes) {
        const last = parts.at(-1);
        if (last && last[1] === lane - 1)
            last[1] = lane;
        else
            parts.push([lane, lane]);
    }
    return parts.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(',');
}

function stepText(kernel, step, elementBytes) {
    const {block, warp} = placeOfWarp(kernel, step.warp);
    const lanes = step.at.flatMap((cell, lane) => (cell < 0 ? [] : [lane]));
    const sectors = sectorsOf(step, elementBytes).size;
    return `Block ${block}, warp ${warp}: ${lanes.length === 1 ? 'lane' : 'lanes'} ${
        laneRanges(lanes)} ${step.store ? 'store' : 'load'}${lanes.length === 1 ? 's' : ''} ${
        step.array}, ${many(sectors, 'sector')} of 32 bytes.`;
}

function factsText(layout, matrix) {
    const fills = layout.arrays.filter((a) => a.role === 'values' && a.entries)
                      .flatMap((a) => a.cells.map((_, k) => fillOf(a, k)));
    const count = (fill) => fills.filter((f) => f === fill).length;
    const alignment = count('alignment');
    const facts = [`${grouped(layout.bytes)} bytes`];
    if (matrix.entries.length > 0)
        facts.push(`${short(layout.bytes / matrix.entries.length)} an entry`);
    if (fills.length > 0)
        facts.push(`${grouped(fills.length - alignment)} places, ${count('padding')} padding`);
    if (alignment > 0) facts.push(`${grouped(alignment)} more for alignment`);
    return [...facts, ...layout.scalars.map(([name, value]) => `${name} = ${value}`)].join(' · ');
}

/** The 32 lanes of the warp that is at work. */
function laneStrip() {
    const lanes = Array.from({length: 32}, (_, lane) => {
        const box = html('li', {}, html('small', {}, lane), html('span'));
        box.dataset.lane = lane;
        return box;
    });
    const element =
        html('ol', {class: 'lanes', 'aria-label': 'the 32 lanes of the warp'}, ...lanes);
    const show = (step, role, reader) => lanes.forEach((box, lane) => {
        const cell = step?.at[lane] ?? -1;
        box.className = cell < 0 ? '' : `at-work role-${role}`;
        box.lastChild.textContent = cell < 0 ? '' : cell;
        box.classList.toggle('lit', reader?.lane === lane && reader.warp === step?.warp);
    });
    return {element, show};
}

/** A kernel over a drawn layout: its lanes at a step, and what it says of an entry. */
function kernelRun(kernel, layout, drawn, matrix, goTo) {
    const said = html('p', {class: 'said'}), strip = laneStrip();
    const about = html('p', {class: 'reader', 'aria-live': 'polite'});
    const byName = new Map(drawn.map((d) => [d.array.name, d]));
    let current, reader;
    const markCells = (step) => {
        for (const d of drawn)
            for (const cell of d.all) {
                cell.classList.remove('now');
                delete cell.dataset.lane;
            }
        const d = byName.get(step?.array);
        if (!d) return;
        const lanesOf = new Map();
        step.at.forEach((_, lane) => cellsOf(step, lane).forEach((k) => {
            const cell = d.cell(k);
            if (cell) lanesOf.set(cell, [...(lanesOf.get(cell) ?? []), lane]);
        }));
        for (const [cell, lanes] of lanesOf) {
            cell.classList.add('now');
            cell.dataset.lane = laneRanges([...new Set(lanes)]);
        }
    };
    const showSums = (state) => {
        const y = byName.get('y');
        state.sums.forEach((sum, row) => {
            const begun = matrix.entries.some((e, k) => e.row === row && state.multiplied.has(k));
            y.cell(row).textContent = begun || state.stored.has(row) ? brief(sum) : '';
            y.cell(row).setAttribute('aria-label', `y[${row}] = ${sum}`);
            y.cell(row).classList.toggle('stored', state.stored.has(row));
        });
    };
    /** The state after so many steps, of which it may have fewer. */
    const show = (count) => {
        const mine = Math.min(count, kernel.steps.length);
        current = mine === count ? kernel.steps[mine - 1] : undefined;
        const state = stateAfter(kernel, mine, matrix);
        showSums(state);
        markCells(current);
        const array = byName.get(current?.array)?.array;
        const step = current ? stepText(kernel, current, bytesOfCell(current, array)) :
                               `Ended at step ${mine}.`;
        said.textContent = mine === 0 ?
            'Step 0: nothing is loaded yet. Warps run one after the other here; on a GPU, together.' :
            step + endText(kernel, mine, state, matrix);
        strip.show(current, array?.role ?? 'y', reader);
        return {...state, lanes: new Map((current?.entries ?? []).map(([lane, e]) => [e, lane]))};
    };
    const tell = (target) => {
        reader =
            target?.entries.length === 1 ? readerOf(kernel, layout, target.entries[0]) : undefined;
        about.replaceChildren(...(reader ? readerText(kernel, reader, goTo) : []));
        strip.show(current, byName.get(current?.array)?.array.role ?? 'y', reader);
    };
    return {element: html('div', {class: 'run'}, said, strip.element, about), tell, show};
}

function readerText(kernel, {warp, lane, loaded, multiplied}, goTo) {
    const place = placeOfWarp(kernel, warp);
    const link = (step) => html(
        'button', {type: 'button', class: 'link', onclick: () => goTo(step)}, `step ${step}`);
    const parts = [`Lane ${lane} of warp ${place.warp}, block ${place.block}, `];
    if (loaded) parts.push('loads its value in ', link(loaded), ' and ');
    return [...parts, 'multiplies it in ', link(multiplied), '.'];
}

/** At the end: which rows are summed elsewhere. */
function endText(kernel, count, state, matrix) {
    if (count < kernel.steps.length) return '';
    const open = matrix.rows - state.stored.size;
    if (open === 0) return ' All rows are summed and stored.';
    return ` All entries are multiplied. ${
               many(open, 'row')} of y: empty, or summed behind this by ` +
        'a launch that reads no matrix.';
}

/**
 * A panel over one layout, `wanted` being a kernel's or a format's name: {element, light(target),
 * show(step), steps, totals, name, close}. It tells `changed` when its layout is another one.
 */
function layoutPanel({data, matrix, pointer, goTo, changed, onClose}, wanted) {
    const formats = [...new Set(data.layouts.map((l) => l.format))];
    const choices = (of) => data.kernels.filter((k) => data.layouts[k.layout].format === of);
    const chooseFormat = html(
        'select', {'aria-label': 'format', onchange: () => changeFormat(chooseFormat.value)},
        ...formats.map((f) => html('option', {value: f}, f)));
    const chooseKernel =
        html('select', {'aria-label': 'kernel', onchange: () => draw(Number(chooseKernel.value))});
    const body = html('div');
    let drawn = [], elements, run, target;
    const panel = {};

    const draw = (kernelNumber) => {
        const kernel = data.kernels[kernelNumber];
        const layout = kernel ? data.layouts[kernel.layout] :
                                data.layouts.find((l) => l.format === chooseFormat.value);
        elements = elementsOf(layout, matrix);
        const arrays = arraysOf(layout, matrix);
        drawn = arrays.map((a) => drawnArray(a, elements, pointer));
        run = kernel && kernelRun(kernel, layout, drawn, matrix, goTo);
        panel.name = kernel?.method ?? layout.format;
        panel.steps = kernel?.steps.length ?? 0;
        panel.totals = kernel && totalsOf(kernel, arrays);
        panel.element.setAttribute('aria-label', panel.name);
        const none = html('p', {class: 'soft'}, 'No GPU kernel over this layout has a trace.');
        body.replaceChildren(
            html('p', {class: 'facts-line soft'}, factsText(layout, matrix)),
            run ? run.element : none,
            html('div', {class: 'arrays'}, ...drawn.map((d) => d.element)));
        panel.light(target);
        changed(panel);
    };
    const changeFormat = (to, method) => {
        chooseFormat.value = to;
        const kernels = choices(to);
        chooseKernel.replaceChildren(
            ...kernels.map((k) => html('option', {value: data.kernels.indexOf(k)}, k.method)));
        chooseKernel.disabled = kernels.length === 0;
        if (kernels.length === 0) return draw(undefined);
        const kernel = kernels.find((k) => k.method === method) ?? plainest(kernels);
        chooseKernel.value = data.kernels.indexOf(kernel);
        draw(data.kernels.indexOf(kernel));
    };
    panel.choose = (name) => {
        const kernel = data.kernels.find((k) => k.method === name);
        changeFormat(kernel ? data.layouts[kernel.layout].format : name, name);
    };
    panel.light = (to) => {
        target = to;
        const keys = new Set((to?.entries ?? []).flatMap((e) => elements.ofEntry[e]));
        for (const d of drawn) d.all.forEach((cell) => cell.classList.remove('lit'));
        for (const d of drawn)
            d.array.cells.forEach((_, k) => {
                if (keys.has(elementKey(d.array.name, k))) d.cell(k).classList.add('lit');
            });
        run?.tell(to);
    };
    panel.show = (step) => run?.show(step);
    const close = html(
        'button', {
            type: 'button',
            class: 'close',
            'aria-label': 'close this panel',
            title: 'close',
            onclick: () => onClose(panel)
        },
        '×');
    panel.element = html(
        'section', {class: 'panel'},
        html('div', {class: 'panel-head'}, chooseFormat, chooseKernel, close), body);
    panel.choose(wanted);
    return panel;
}
