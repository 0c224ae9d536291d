// The points of a sweep: axes and figures in columns, and what is best among them.

export class Points {
  constructor(facts) {
    this.axes = facts.axes.map((axis) => ({ ...axis, values: axis.values.map(String) }));
    this.objectives = facts.objectives;
    this.ids = facts.ids;
    const named = new Set(facts.objectives.map(({ name }) => name));
    this.figures = [...facts.objectives, ...facts.metrics.filter(({ name }) => !named.has(name))];
    this.size = facts.objectives[0].values.length;
    this.filters = new Map(); // of a column: [low, high] in shares of its range
    this.columns = [...this.axes.map((axis) => this.columnOfAxis(axis)),
      ...this.objectives.map((objective) => this.columnOfFigure(objective))];
  }

  columnOfAxis(axis) {
    const isListed = axis.values.length > 0;
    const low = isListed ? 0 : Math.min(...axis.where);
    const high = isListed ? Math.max(1, axis.values.length - 1) : Math.max(...axis.where);
    const of = axis.logarithmic && low > 0
      ? (value) => Math.log(value / low) / (Math.log(high / low) || 1) : (value) => (value - low) / (high - low || 1);
    return { name: axis.name, axis, values: axis.where, low, high, share: axis.where.map(of),
      text: (value) => (isListed ? axis.values[value] : `${Number(value.toPrecision(4))}${axis.unit ? ` ${axis.unit}` : ''}`) };
  }

  columnOfFigure({ name, unit, values, maximized }) {
    const known = values.filter((value) => value !== null);
    const low = known.reduce((a, b) => Math.min(a, b), Infinity);
    const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    return { name, unit, values, maximized, low, high, share: values.map((value) => (value - low) / (high - low || 1)) };
  }

  /** Where the document of the sweep has a figure of a point; an expression over several has no place of its own. */
  placeOf(i, key) { return key ? `point ${this.ids[i]} /${key}` : `point ${this.ids[i]}`; }

  /** Points that every filter lets through. */
  shown() {
    const out = [];
    for (let i = 0; i < this.size; ++i) {
      let fits = true;
      for (const [column, [from, to]] of this.filters) {
        const share = this.columns[column].share[i];
        if (share < from || share > to) fits = false;
      }
      if (fits) out.push(i);
    }
    return out;
  }

  isBetter(a, b, objective) { return objective.maximized ? a > b : a < b; }

  /** Best first by the first objective. */
  ordered(points) {
    const { values, maximized } = this.objectives[0];
    return [...points].sort((a, b) => (maximized ? values[b] - values[a] : values[a] - values[b]) || a - b);
  }

  /** Of these points those that no other beats in two figures. */
  front(points, first, second) {
    const order = points.filter((i) => first.values[i] !== null && second.values[i] !== null)
      .sort((a, b) => (this.isBetter(first.values[a], first.values[b], first) ? -1
        : this.isBetter(first.values[b], first.values[a], first) ? 1
          : this.isBetter(second.values[a], second.values[b], second) ? -1 : 1));
    const front = [];
    for (const i of order) {
      const last = front[front.length - 1];
      if (last === undefined || this.isBetter(second.values[i], second.values[last], second)) front.push(i);
    }
    return front;
  }

  /** The best figure at every value of an axis, or of two: [{at: [a, b], point}]. */
  bestAt(points, axes, objective) {
    const cells = new Map();
    for (const i of points) {
      const at = axes.map((axis) => binOf(axis, axis.where[i]));
      const key = at.join(' ');
      const known = cells.get(key);
      if (!known) cells.set(key, { at, point: i, count: 1 });
      else {
        known.count += 1;
        if (this.isBetter(objective.values[i], objective.values[known.point], objective)) known.point = i;
      }
    }
    return [...cells.values()];
  }
}

const bins = 16;
/** The value of a listed axis, or the part of a range that a number lies in. */
export function binOf(axis, where) {
  if (axis.values.length > 0) return where;
  axis.low ??= Math.min(...axis.where);
  axis.high ??= Math.max(...axis.where);
  return Math.min(bins - 1, Math.floor(bins * (where - axis.low) / (axis.high - axis.low || 1)));
}
export function binText(axis, bin) {
  if (axis.values.length > 0) return axis.values[bin];
  return Number((axis.low + (bin + 0.5) * (axis.high - axis.low) / bins).toPrecision(3)).toString();
}
export const binCount = (axis) => (axis.values.length > 0 ? axis.values.length : bins);
