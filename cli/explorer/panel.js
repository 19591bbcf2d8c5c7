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
    const stored = layout.arrays.filter((a) => a.role === 'values' && a.entries)
                       .reduce((sum, a) => sum + a.entries.length, 0);
    const facts = [`${grouped(layout.bytes)} bytes`];
    if (matrix.entries.length > 0)
        facts.push(`${short(layout.bytes / matrix.entries.length)} an entry`);
    if (stored > 0)
        facts.push(`${grouped(stored)} places for ${many(matrix.entries.length, 'value')}`);
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

/** Buttons and a slider from step 0 to the last: `show(step)` is called at every change. */
function stepper(count, show) {
    const slider = html('input', {
        type: 'range',
        min: 0,
        max: count,
        value: 0,
        'aria-label': 'step',
        oninput: () => go(Number(slider.value)),
    });
    const number = html('output', {}, '');
    let timer;
    const stop = () => {
        clearInterval(timer);
        timer = undefined;
        play.textContent = 'Play';
    };
    const go = (step) => {
        slider.value = Math.min(Math.max(step, 0), count);
        number.textContent = `step ${slider.value} of ${count}`;
        slider.setAttribute('aria-valuetext', number.textContent);
        show(Number(slider.value));
    };
    const advance = () => {
        go(Number(slider.value) + 1);
        if (Number(slider.value) >= count) stop();
    };
    const play = html(
        'button', {
            type: 'button',
            onclick: () => {
                if (timer !== undefined) return stop();
                if (Number(slider.value) >= count) go(0);
                timer = setInterval(advance, 700);
                play.textContent = 'Pause';
            }
        },
        'Play');
    const button = (text, label, step) => html(
        'button', {
            type: 'button',
            'aria-label': label,
            title: label,
            onclick: () => (stop(), go(Number(slider.value) + step))
        },
        text);
    const element = html(
        'div', {class: 'stepper'}, button('‹', 'one step back', -1), play,
        button('›', 'one step on', 1), slider, number);
    return {element, go: (step) => (stop(), go(step)), stop, step: () => Number(slider.value)};
}

/** A kernel over a drawn layout: its steps, its lanes, and what it says of an entry. */
function kernelRun(kernel, layout, drawn, matrix, changed) {
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
    const show = (count) => {
        current = count === 0 ? undefined : kernel.steps[count - 1];
        const state = stateAfter(kernel, count, matrix);
        const y = byName.get('y');
        state.sums.forEach((sum, row) => {
            const begun = matrix.entries.some((e, k) => e.row === row && state.multiplied.has(k));
            y.cell(row).textContent = begun || state.stored.has(row) ? brief(sum) : '';
            y.cell(row).setAttribute('aria-label', `y[${row}] = ${sum}`);
            y.cell(row).classList.toggle('stored', state.stored.has(row));
        });
        markCells(current);
        const array = byName.get(current?.array)?.array;
        said.textContent = current === undefined ?
            'Step 0: nothing is loaded yet. Warps run one after the other here; on a GPU, together.' :
            stepText(kernel, current, array?.bytes ?? 8) + endText(kernel, count, state, matrix);
        strip.show(current, array?.role ?? 'y', reader);
        changed(state, new Map((current?.entries ?? []).map(([lane, e]) => [e, lane])));
    };
    const steps = stepper(kernel.steps.length, show);
    const tell = (target) => {
        reader =
            target?.entries.length === 1 ? readerOf(kernel, layout, target.entries[0]) : undefined;
        about.replaceChildren(...(reader ? readerText(kernel, reader, steps) : []));
        strip.show(current, byName.get(current?.array)?.array.role ?? 'y', reader);
    };
    const element = html('div', {class: 'run'}, steps.element, said, strip.element, about);
    return {element, tell, stop: steps.stop, refresh: () => steps.go(steps.step())};
}

function readerText(kernel, {warp, lane, loaded, multiplied}, steps) {
    const place = placeOfWarp(kernel, warp);
    const link = (step) => html(
        'button', {type: 'button', class: 'link', onclick: () => steps.go(step)}, `step ${step}`);
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

/** A panel over one layout: {element, light(target), use()}. */
function layoutPanel({data, matrix, pointer, onActive, onClose}, format) {
    const formats = [...new Set(data.layouts.map((l) => l.format))];
    const choices = (of) => data.kernels.filter((k) => data.layouts[k.layout].format === of);
    const chooseFormat = html(
        'select', {'aria-label': 'format', onchange: () => changeFormat(chooseFormat.value)},
        ...formats.map((f) => html('option', {value: f}, f)));
    const chooseKernel =
        html('select', {'aria-label': 'kernel', onchange: () => draw(Number(chooseKernel.value))});
    const body = html('div');
    let drawn = [], elements, run, target;
    const panel = {stop: () => run?.stop()};

    const draw = (kernelNumber) => {
        run?.stop();
        const kernel = data.kernels[kernelNumber];
        const layout = kernel ? data.layouts[kernel.layout] :
                                data.layouts.find((l) => l.format === chooseFormat.value);
        elements = elementsOf(layout, matrix);
        drawn = arraysOf(layout, matrix).map((a) => drawnArray(a, elements, pointer));
        run = kernel &&
            kernelRun(
                  kernel, layout, drawn, matrix,
                  (state, lanes) => onActive(panel, kernel, {...state, lanes}));
        const none = html('p', {class: 'soft'}, 'No GPU kernel over this layout has a trace.');
        body.replaceChildren(
            html('p', {class: 'facts-line soft'}, factsText(layout, matrix)),
            run ? run.element : none,
            html('div', {class: 'arrays'}, ...drawn.map((d) => d.element)));
        run?.refresh();
        panel.light(target);
    };
    const changeFormat = (to) => {
        chooseFormat.value = to;
        const kernels = choices(to);
        chooseKernel.replaceChildren(
            ...kernels.map((k) => html('option', {value: data.kernels.indexOf(k)}, k.method)));
        chooseKernel.disabled = kernels.length === 0;
        if (kernels.length > 0) chooseKernel.value = data.kernels.indexOf(plainest(kernels));
        draw(kernels.length === 0 ? undefined : Number(chooseKernel.value));
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
    panel.refresh = () => run?.refresh();
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
        'section', {class: 'panel', 'aria-label': 'layout'},
        html('div', {class: 'panel-head'}, chooseFormat, chooseKernel, close), body);
    changeFormat(format);
    return panel;
}
