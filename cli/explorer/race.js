// The race: one slider for all panels, and what each has done so far.

/**
 * Buttons and a slider from step 0 to the last, of which there are `count()`: `show(step)` is
 * called at every change. {element, go(step), step(), stop()}.
 */
function stepper(count, show) {
    const slider = html('input', {
        type: 'range',
        min: 0,
        max: 0,
        value: 0,
        'aria-label': 'step',
        oninput: () => (stop(), go(Number(slider.value))),
    });
    const number = html('output', {}, '');
    let timer;
    const stop = () => {
        clearInterval(timer);
        timer = undefined;
        play.textContent = 'Play';
    };
    const go = (step) => {
        slider.max = count();
        slider.value = Math.min(Math.max(step, 0), count());
        number.textContent = `step ${slider.value} of ${count()}`;
        slider.setAttribute('aria-valuetext', number.textContent);
        show(Number(slider.value));
    };
    const advance = () => {
        go(Number(slider.value) + 1);
        if (Number(slider.value) >= count()) stop();
    };
    const play = html(
        'button', {
            type: 'button',
            onclick: () => {
                if (timer !== undefined) return stop();
                if (Number(slider.value) >= count()) go(0);
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
        'div', {class: 'stepper', role: 'group', 'aria-label': 'steps of all panels'},
        button('‹', 'one step back', -1), play, button('›', 'one step on', 1), slider, number);
    return {element, go, stop, step: () => Number(slider.value)};
}

const share = (part, all) => (all > 0 ? ` (${Math.round(100 * part / all)}%)` : '');

/** Rows of the table of totals: what they are called, and their text for a panel. */
const totalRows = [
    ['steps', ({mine, panel}) => `${mine} of ${panel.steps}`],
    ['entries multiplied', ({state, entries}) => `${state.multiplied.size} of ${entries}`],
    ['sectors', ({now}) => grouped(now.sectors)],
    ['bytes moved', ({now}) => grouped(now.moved)],
    ['bytes used', ({now}) => grouped(now.used) + share(now.used, now.moved)],
    ['lanes idle', ({now, mine}) => grouped(now.idle) + share(now.idle, 32 * mine)],
];

/** The running totals of panels: {element, show(step, states)}. */
function totalsTable(matrix, panels) {
    const table = html('table', {class: 'totals'});
    const show = (step, states) => {
        const racing = panels.filter((panel) => panel.totals);
        const about = racing.map((panel) => {
            const mine = Math.min(step, panel.steps);
            const state = states.get(panel);
            return {panel, mine, state, now: panel.totals[mine], entries: matrix.entries.length};
        });
        const bar = ({panel, mine}) => html('progress', {
            max: Math.max(1, ...racing.map((p) => p.steps)),
            value: mine,
            'aria-label': `${panel.name}: steps`,
        });
        table.replaceChildren(
            html('caption', {}, 'Totals so far'),
            html(
                'thead', {},
                html(
                    'tr', {}, html('td'),
                    ...about.map((a) => html('th', {scope: 'col'}, a.panel.name, bar(a))))),
            html(
                'tbody', {},
                ...totalRows.map(
                    ([head, text]) => html(
                        'tr', {}, html('th', {scope: 'row'}, head),
                        ...about.map((a) => html('td', {}, text(a)))))));
        table.hidden = racing.length === 0;
    };
    return {element: html('div', {class: 'scroll'}, table), show};
}
