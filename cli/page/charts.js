// The kinds of chart: each function takes values and a width in pixels and returns an SVG element.

const shapes = ['circle', 'square', 'triangle', 'diamond', 'cross', 'star'];

/** The k-th shape around (x, y), so that series differ by more than their colour. */
function marker(k, x, y, size = 4, hollow = false) {
    const s = size;
    const path = {
        circle: `M${x - s} ${y}a${s} ${s} 0 1 0 ${2 * s} 0a${s} ${s} 0 1 0 ${- 2 * s} 0`,
        square: `M${x - s} ${y - s}h${2 * s}v${2 * s}h${- 2 * s}z`,
        triangle: `M${x} ${y - s * 1.2}L${x + s * 1.1} ${y + s}H${x - s * 1.1}z`,
        diamond:
            `M${x} ${y - s * 1.3}L${x + s * 1.3} ${y}L${x} ${y + s * 1.3}L${x - s * 1.3} ${y}z`,
        cross: `M${x - s} ${y - s}l${2 * s} ${2 * s}M${x + s} ${y - s}l${- 2 * s} ${2 * s}`,
        star: `M${x} ${y - s}v${2 * s}M${x - s} ${y}h${2 * s}`,
    }[shapes[k % shapes.length]];
    return svg('path', {class: hollow ? 'mark hollow stroke' : 'mark fill stroke', d: path});
}

function canvas(width, height, title) {
    return svg(
        'svg',
        {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title});
}

/** Text that fits into so many pixels, at about 6.4 a letter. */
function fitted(text, pixels) {
    const letters = Math.floor(pixels / 6.4);
    return text.length <= letters ? text : `${text.slice(0, Math.max(letters - 1, 1))}…`;
}

/**
 * Bars from the left, one a row.
 * bars: {label, value, low, high, colour, busy, strong, note, hint}
 */
function barChart({title, bars, unit, width}) {
    const rowHeight = 21, top = 6, bottom = top + bars.length * rowHeight;
    const longest = Math.max(...bars.map((bar) => bar.label.length)) * 6.6 + 12;
    const longestText = Math.max(...bars.map((bar) => barText(bar).length)) * 7 + 12;
    const left = Math.min(longest, width * 0.42), right = width - longestText;
    // A whisker far beyond all bars is cut off, so that the bars stay comparable.
    const longestBar = Math.max(...bars.map((bar) => bar.value));
    const longestWhisker = Math.max(...bars.map((bar) => bar.high ?? 0));
    const most = Math.max(longestBar, Math.min(longestWhisker, 1.3 * longestBar)) || 1;
    const x = linearScale(0, most, left, right);
    const chart = canvas(width, bottom + 40, title);
    chart.append(axisBelow({x, box: {left, right, top, bottom}, width, unit, text: tickText}));
    bars.forEach((bar, k) => chart.append(drawBar(bar, top + k * rowHeight, rowHeight, x, left)));
    return chart;
}

const barText = (bar) => short(bar.value) + (bar.note ?? '');

/** The axis of a chart whose rows have names: grid lines, ticks and the unit. */
function axisBelow({x, box, width, unit, text}) {
    const {left, right, top, bottom} = box, middle = {'text-anchor': 'middle'};
    const g = svg('g', {});
    for (const t of x.ticks(width < 500 ? 3 : 6)) {
        g.append(svg('line', {class: 'grid', x1: x(t), x2: x(t), y1: top, y2: bottom}));
        g.append(svg('text', {class: 'soft', x: x(t), y: bottom + 15, ...middle}, text(t)));
    }
    g.append(svg('path', {class: 'axis', d: `M${left} ${top}V${bottom}H${right}`}));
    g.append(svg('text', {x: (left + right) / 2, y: bottom + 33, ...middle}, unit));
    return g;
}

function drawBar(bar, y, height, x, left) {
    const middle = y + height / 2;
    const g = svg('g', {class: `c${bar.colour ?? 1}`}, svg('title', {}, bar.hint ?? bar.label));
    g.append(
        svg('text', {
            x: left - 6,
            y: middle + 4,
            'text-anchor': 'end',
            class: bar.strong ? 'strong' : undefined
        },
            fitted(bar.label, left - 6)));
    g.append(svg('rect', {
        class: bar.busy ? 'mark fill busy' : 'mark fill',
        x: left,
        y: y + 3,
        width: Math.max(x(bar.value) - left, 0.5),
        height: height - 6,
    }));
    const end = Math.min(Math.max(bar.high ?? 0, bar.value), x.high);
    if (bar.high > bar.low) {
        const cap = bar.high > x.high ? '' : 'm0 -4v8';
        g.append(svg('path', {
            class: 'whisker',
            d: `M${x(bar.low)} ${middle}H${x(end)}${cap}M${x(bar.low)} ${middle - 4}v8`
        }));
    }
    g.append(
        svg('text', {x: x(end) + 6, y: middle + 4, class: bar.strong ? 'strong' : undefined},
            barText(bar)));
    return g;
}

/** Columns that stand side by side: {label, value, hint}. */
function columnChart({title, columns, xTitle, yTitle, width}) {
    const height = 250, box = {left: 52, right: width - 22, top: 26, bottom: height - 42};
    const most = Math.max(...columns.map((c) => c.value), 1);
    const y = linearScale(0, most * 1.08, box.bottom, box.top);
    const step = (box.right - box.left) / columns.length;
    const x = (k) => box.left + (k + 0.5) * step;
    const chart = canvas(width, height, title);
    const every = Math.ceil(46 / step);
    chart.append(axes({
        x,
        y,
        box,
        xTitle,
        yTitle,
        xText: (k) => columns[k].label,
        yTicks: y.ticks(4),
        xTicks: columns.map((_, k) => k).filter((k) => k % every === 0)
    }));
    columns.forEach(
        (column, k) =>
            chart.append(svg('g', {class: 'c1'}, svg('title', {}, column.hint), svg('rect', {
                                 class: 'mark fill',
                                 x: x(k) - step * 0.4,
                                 width: step * 0.8,
                                 y: y(column.value),
                                 height: box.bottom - y(column.value)
                             }))));
    return chart;
}

/**
 * Curves with their names at their ends.
 * curves: {name, points: [[x, y, busy]], colour, marks}; guides: {name, points}; scales: "linear"
 * or "log"
 */
function lineChart({
    title,
    curves,
    guides = [],
    xTitle,
    yTitle,
    xTicks,
    xText,
    width,
    scales = ['linear', 'linear']
}) {
    const height = 320, room = Math.min(190, width * 0.36);
    const box = {left: 52, right: width - room, top: 26, bottom: height - 42};
    const all = [...curves, ...guides].flatMap((c) => c.points);
    const [x, y] = [0, 1].map((k) => {
        const values = all.map((p) => p[k]).filter((v) => scales[k] === 'linear' || v > 0);
        const least = scales[k] === 'linear' ? 0 : Math.min(...values);
        const most = Math.max(...values, least + 1e-30);
        const make = scales[k] === 'linear' ? linearScale : logScale;
        return k === 0 ? make(least, most > least ? most : least + 1, box.left, box.right - 8) :
                         make(least, most * 1.05, box.bottom, box.top);
    });
    const chart = canvas(width, height, title);
    chart.append(axes({
        x,
        y,
        box,
        xTitle,
        yTitle,
        xText,
        xTicks: xTicks ?? x.ticks(width < 500 ? 3 : 6),
        yTicks: y.ticks(6)
    }));
    const at = ([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
    for (const guide of guides)
        chart.append(svg('path', {class: 'guide', d: `M${guide.points.map(at).join('L')}`}));
    const named = [...curves, ...guides].filter((c) => c.points.length > 0);
    const heights = spreadOut(named.map((c) => y(c.points.at(-1)[1])), 15, box.top, box.bottom);
    named.forEach((c, k) => chart.append(drawEnd(c, x, y, heights[k], box.right, room)));
    curves.forEach((curve, k) => chart.append(drawCurve(curve, k, at, x, y)));
    return chart;
}

function drawCurve(curve, k, at, x, y) {
    const g = svg('g', {class: `c${curve.colour}`}, svg('title', {}, curve.hint ?? curve.name));
    g.append(svg('path', {class: 'mark curve stroke', d: `M${curve.points.map(at).join('L')}`}));
    const marked = curve.marks === 'all' ? curve.points : curve.points.slice(-1);
    for (const [a, b, busy] of marked) g.append(marker(k, x(a), y(b), 3.5, busy));
    return g;
}

/** A curve's name to the right of all curves, and a line that leads to its end. */
function drawEnd(curve, x, y, height, right, room) {
    const [a, b] = curve.points.at(-1);
    return svg(
        'g', {class: curve.colour ? `c${curve.colour}` : undefined},
        svg('path', {class: 'grid', d: `M${x(a) + 4} ${y(b)}L${right + 4} ${height}`}),
        svg('text', {class: curve.colour ? 'named' : 'soft', x: right + 8, y: height + 4},
            fitted(curve.name, room - 10)));
}

/**
 * Points in a plane with logarithmic axes, under roofs y = slope x.
 * points: {x, y, series, label, busy, hint}; roofs: {name, slope}; series: names, in the shapes'
 * order
 */
function roofline({title, points, roofs, series, width, xTitle, yTitle}) {
    const height = 400, box = {left: 52, right: width - 14, top: 26, bottom: height - 42};
    const xs = points.map((p) => p.x);
    const lowX = Math.min(...xs) * 0.8, highX = Math.max(...xs) * 1.25;
    const ys =
        [...points.map((p) => p.y), ...roofs.flatMap((r) => [r.slope * lowX, r.slope * highX])];
    const x = logScale(lowX, highX, box.left, box.right);
    const y = logScale(
        Math.min(...points.map((p) => p.y)) * 0.8, Math.max(...ys) * 1.15, box.bottom, box.top);
    const chart = canvas(width, height, title);
    chart.append(axes({x, y, box, xTitle, yTitle, xTicks: x.ticks(6), yTicks: y.ticks(7)}));
    const labels = roofs.map((r) => y(r.slope * highX) - 5);
    spreadOut(labels, 14, box.top + 8, box.bottom).forEach((labelAt, k) => {
        const {slope, name} = roofs[k], from = Math.max(lowX, y.low / slope);
        chart.append(svg('path', {
            class: 'mark guide',
            d: `M${x(from)} ${y(slope * from)}L${x(highX)} ${y(slope * highX)}`
        }));
        chart.append(
            svg('text', {class: 'soft halo', x: box.right - 2, y: labelAt, 'text-anchor': 'end'},
                name));
    });
    for (const p of points) {
        const k = series.indexOf(p.series);
        chart.append(
            svg('g', {
                class: `c${k + 1}`,
                'fill-opacity': p.label ? 1 : 0.55,
                'stroke-opacity': p.label ? 1 : 0.7
            },
                svg('title', {}, p.hint), marker(k, x(p.x), y(p.y), p.label ? 5.5 : 4, p.busy)));
    }
    for (const p of points.filter((q) => q.label)) {
        const onLeft = x(p.x) > (box.left + box.right) / 2;
        chart.append(
            svg('text', {
                class: 'strong halo',
                x: x(p.x) + (onLeft ? -9 : 9),
                y: y(p.y) - 8,
                'text-anchor': onLeft ? 'end' : 'start'
            },
                p.label));
    }
    return chart;
}

/** For each row two points on one logarithmic axis: {label, first, second, busy, strong, hint}. */
function dumbbells({title, rows, unit, width, text}) {
    const rowHeight = 21, top = 6, bottom = top + rows.length * rowHeight;
    const longest = Math.max(...rows.map((row) => row.label.length)) * 6.6 + 12;
    const left = Math.min(longest, width * 0.42), right = width - 26;
    const values = rows.flatMap((row) => [row.first, row.second]).filter((v) => v > 0);
    const x = logScale(Math.min(...values) * 0.85, Math.max(...values) * 1.15, left, right);
    const chart = canvas(width, bottom + 40, title);
    chart.append(axisBelow({x, box: {left, right, top, bottom}, width, unit, text}));
    rows.forEach((row, k) => {
        const y = top + (k + 0.5) * rowHeight;
        chart.append(
            svg('g', {}, svg('title', {}, row.hint),
                svg('text', {
                    x: left - 6,
                    y: y + 4,
                    'text-anchor': 'end',
                    class: row.strong ? 'strong' : undefined
                },
                    fitted(row.label, left - 6)),
                row.second > 0 ?
                    svg('path', {class: 'axis', d: `M${x(row.first)} ${y}H${x(row.second)}`}) :
                    undefined,
                svg('g', {class: 'c2'}, marker(3, x(row.first), y)),
                row.second > 0 ? svg('g', {class: 'c1'}, marker(0, x(row.second), y, 4, row.busy)) :
                                 undefined));
    });
    return chart;
}

/** Shapes and colours with their names. */
function legend(entries) {
    return html(
        'ul', {class: 'legend'},
        ...entries.map(
            ({name, shape, colour}) => html(
                'li', {},
                svg('svg', {width: 12, height: 12, class: `c${colour}`, 'aria-hidden': 'true'},
                    marker(shape, 6, 6, 4)),
                name)));
}
