// HTML and SVG elements. Text comes into the page as text alone, never as markup.

function fillElement(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined) continue;
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else
            element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== undefined));
    return element;
}

function html(name, attributes = {}, ...children) {
    return fillElement(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
    return fillElement(
        document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

/** Three digits, and a unit's prefix where many zeros would follow. */
function short(x) {
    if (!Number.isFinite(x)) return '-';
    if (x === 0) return '0';
    const size = Math.abs(x);
    if (size >= 1e9) return `${short(x / 1e9)} G`;
    if (size >= 1e6) return `${short(x / 1e6)} M`;
    if (size >= 1e4) return `${short(x / 1e3)} k`;
    if (size < 1e-3) return x.toExponential(1);
    return String(Number(x.toPrecision(3)));
}

const grouped = (n) => (Number.isFinite(n) ? n.toLocaleString('en') : '-');
const whole = (n) => grouped(Math.round(n));

function seconds(s) {
    if (!Number.isFinite(s)) return '-';
    if (s >= 1) return `${short(s)} s`;
    return s >= 1e-3 ? `${short(s * 1e3)} ms` : `${short(s * 1e6)} µs`;
}

/**
 * A table whose columns sort at a click on their heads.
 * columns: {head, value(row), text(value), words}: value is a number, or a string where words.
 */
function sortableTable(caption, columns, rows) {
    const body = html('tbody');
    const heads = columns.map((column) => {
        const button = html('button', {type: 'button', onclick: () => sortBy(column)}, column.head);
        return html('th', {scope: 'col', class: column.words ? 'words' : undefined}, button);
    });
    const cell = (column, row) => {
        const value = column.value(row);
        return html(
            'td', {class: column.words ? 'words' : undefined},
            column.text ? column.text(value) : value ?? '');
    };
    const fill = (sorted) => body.replaceChildren(
        ...sorted.map((row) => html('tr', {}, ...columns.map((column) => cell(column, row)))));
    const sortBy = (column) => {
        const head = heads[columns.indexOf(column)];
        const ascending = head.getAttribute('aria-sort') === (column.words ? null : 'descending');
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
        fill([...rows].sort(
            (a, b) => (ascending ? 1 : -1) * compare(column.value(a), column.value(b))));
    };
    fill(rows);
    return html(
        'div', {class: 'scroll'},
        html(
            'table', {}, html('caption', {}, caption), html('thead', {}, html('tr', {}, ...heads)),
            body));
}

/** Numbers by size, words by the alphabet; what is missing is least. */
function compare(a, b) {
    if (typeof a === 'string' || typeof b === 'string')
        return String(a ?? '').localeCompare(String(b ?? ''));
    return (a ?? -Infinity) - (b ?? -Infinity) || 0;
}

/** A table that waits behind its summary. */
function folded(summary, ...content) {
    return html('details', {}, html('summary', {}, summary), ...content);
}
