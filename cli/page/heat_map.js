// The table of coloured cells: every method on every matrix.

/** Methods down, matrices across: each one's speed in percent of the fastest on that matrix. */
function heatMap(data, show) {
    const threads = data.threads.includes(0) ? 0 : data.threads.at(-1);
    const columns = data.matrices.map((A) => heatColumn(A, threads));
    const mean = (method) =>
        columns.reduce((sum, c) => sum + (share(c, method) || 0), 0) / columns.length;
    const methods = [...new Set(columns.flatMap((c) => [...c.results.keys()]))];
    methods.sort((a, b) => mean(b) - mean(a));
    const explanation = 'Speed in percent of the fastest method on that matrix, on ' +
        threadsText(threads) + '; methods in the order of their mean; – where one declines, ' +
        '~ where the machine was busy. The name of a matrix shows it below.';
    return html(
        'figure', {id: 'heat-map'}, html('figcaption', {}, 'Methods over matrices'),
        html('p', {}, explanation), heatLegend(),
        html('div', {class: 'scroll'}, heatTable(columns, methods, show)));
}

function heatColumn(A, threads) {
    const own = comparable(A, threads).filter((r) => r.method !== 'plan');
    const results = new Map(own.map((r) => [r.method, r]));
    return {A, results, best: Math.max(...own.map((r) => r.gflops))};
}

const share = (column, method) => (100 * column.results.get(method)?.gflops) / column.best;

function heatTable(columns, methods, show) {
    const heads = columns.map(({A}) => {
        const button = html('button', {type: 'button', title: A.name, onclick: () => show(A)});
        button.append(A.name);
        return html('th', {scope: 'col'}, button);
    });
    const rows = methods.map((method) => {
        const cells = columns.map((c) => heatCell(c, method));
        return html('tr', {}, html('th', {scope: 'row'}, method), ...cells);
    });
    return html(
        'table', {class: columns.length > 12 ? 'heat many' : 'heat'},
        html('thead', {}, html('tr', {}, html('th', {}, 'method'), ...heads)),
        html('tbody', {}, ...rows));
}

function heatCell(column, method) {
    const {A, results} = column;
    const percent = share(column, method);
    if (!Number.isFinite(percent))
        return html('td', {class: 'none', title: `${method} declines ${A.name}`}, '–');
    const r = results.get(method);
    const title = `${method} on ${A.name}: ${short(r.gflops)} GFLOP/s`;
    const text = (isBusy(r) ? '~' : '') + Math.round(percent);
    return html('td', {class: `mark h${heatClass(percent)}`, title}, text);
}

/** The steps of the colours, in percent. */
const heatSteps = [25, 50, 75, 90, 100];
const heatClass = (percent) => heatSteps.slice(0, -1).filter((step) => percent >= step).length;

function heatLegend() {
    const text = (k) =>
        (k === 0 ? `below ${heatSteps[0]}` : `${heatSteps[k - 1]} to ${heatSteps[k]}`);
    const items = heatSteps.map(
        (_, k) => html('li', {}, html('span', {class: `swatch h${k}`}, `${text(k)} %`)));
    return html('ul', {class: 'legend'}, ...items);
}
