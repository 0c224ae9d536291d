// What the page of a sweep shows, as its address: the point, figures and axes, what is kept of each, words.

export function saveSweep({ points, chosen, view, order, search }) {
  const parts = new URLSearchParams({ point: points.ids[chosen], show: Object.values(view).join(' '), axes: order.join(' ') });
  if (points.filters.size > 0) parts.set('keep', [...points.filters].map(([k, range]) => [k, ...range.map((each) => each.toFixed(4))].join(':')).join(' '));
  if (search.value) parts.set('words', search.value);
  history.replaceState(null, '', `#${parts}`);
}

/** The words that are searched. */
export function restoreSweep(sweep) {
  const parts = new URLSearchParams(location.hash.slice(1));
  const { ids, columns, axes, figures, filters } = sweep.points;
  const at = ids.findIndex((id) => String(id) === parts.get('point'));
  if (at >= 0) sweep.chosen = at;
  const shown = (parts.get('show') ?? '').split(' ').map(Number);
  const names = Object.keys(sweep.view);
  const fits = (k) => Number.isInteger(shown[k]) && shown[k] >= 0 && shown[k] < (k < 2 ? figures : axes).length;
  if (shown.length === names.length && names.every((_, k) => fits(k))) names.forEach((name, k) => { sweep.view[name] = shown[k]; });
  const order = (parts.get('axes') ?? '').split(' ').map(Number);
  if (order.length === columns.length && new Set(order).size === columns.length && order.every((k) => columns[k])) sweep.order = order;
  for (const each of (parts.get('keep') ?? '').split(' ')) {
    const [k, from, to] = each.split(':').map(Number);
    if (columns[k] && to > from) filters.set(k, [from, to]);
  }
  return parts.get('words');
}
