// From values to pixels: scales, their ticks, and axes.

function linearScale(low, high, from, to) {
    const scale = (x) => from + ((x - low) / (high - low)) * (to - from);
    return Object.assign(scale, {low, high, ticks: (count) => niceTicks(low, high, count)});
}

function logScale(low, high, from, to) {
    const scale = (x) => from + (Math.log(x / low) / Math.log(high / low)) * (to - from);
    const ticks = (count) => {
        const fewest = 3, plain = logTicks(low, high, count);
        return plain.length >= fewest ? plain : niceTicks(low, high, fewest + 1);
    };
    return Object.assign(scale, {low, high, ticks});
}

/** About `count` multiples of 1, 2 or 5 times a power of ten. */
function niceTicks(low, high, count) {
    const raw = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((s) => s * power >= raw);
    const ticks = [];
    for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); ++k)
        ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
}

/** About `count`: the densest of three sets of digits for each decade that is not too many. */
function logTicks(low, high, count) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const every = Math.max(1, Math.ceil((last - first) / count));
    for (const digits of [[1, 2, 5], [1, 3], [1]]) {
        const ticks = [];
        for (let k = first; k <= last; k += every)
            for (const digit of digits) ticks.push(Number(`${digit}e${k}`));
        const inside = ticks.filter((t) => t >= low * (1 - 1e-9) && t <= high * (1 + 1e-9));
        if (inside.length <= count + 2 && every === 1 || digits.length === 1) return inside;
    }
}

/** As tick labels: powers of ten with their exponent where plain digits would be long. */
function tickText(x) {
    if (x !== 0 && (x < 1e-3 || x >= 1e6)) return x.toExponential(0).replace('e+', 'e');
    return short(x);
}

/** Both axes of a plot, with grid lines, ticks and the axes' titles. */
function axes({x, y, xTicks, yTicks, xTitle, yTitle, xText = tickText, yText = tickText, box}) {
    const {left, right, top, bottom} = box;
    const g = svg('g', {});
    for (const t of yTicks) {
        g.append(svg('line', {class: 'grid', x1: left, x2: right, y1: y(t), y2: y(t)}));
        g.append(
            svg('text', {class: 'soft', x: left - 6, y: y(t) + 4, 'text-anchor': 'end'}, yText(t)));
    }
    for (const t of xTicks) {
        g.append(svg('line', {class: 'grid', x1: x(t), x2: x(t), y1: top, y2: bottom}));
        g.append(svg(
            'text', {class: 'soft', x: x(t), y: bottom + 16, 'text-anchor': 'middle'}, xText(t)));
    }
    g.append(svg('path', {class: 'axis', d: `M${left} ${top}V${bottom}H${right}`}));
    g.append(svg('text', {x: (left + right) / 2, y: bottom + 34, 'text-anchor': 'middle'}, xTitle));
    g.append(svg('text', {x: left - 44, y: top - 8}, yTitle));
    return g;
}

/** Heights of labels that want to stand at `wanted`, moved apart by at least `gap`. */
function spreadOut(wanted, gap, top, bottom) {
    const order = wanted.map((y, k) => ({y: Math.max(y, top), k})).sort((a, b) => a.y - b.y);
    for (let k = 1; k < order.length; ++k) order[k].y = Math.max(order[k].y, order[k - 1].y + gap);
    let floor = bottom;
    for (let k = order.length - 1; k >= 0; --k) {
        order[k].y = Math.min(order[k].y, floor);
        floor = order[k].y - gap;
    }
    const heights = [];
    for (const {y, k} of order) heights[k] = y;
    return heights;
}
