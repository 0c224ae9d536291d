// What a timeline shows as parts of a link: time, tracks, what is chosen.

/** Adds to the parts of a link what differs from how a page opens. */
export function addView(parts, timeline) {
  const { chosen, tracks } = timeline;
  if (timeline.hasSteps && !timeline.isStep) parts.set('time', 'run');
  if (!timeline.isAll()) parts.set('view', `${Math.round(timeline.from)} ${Math.round(timeline.to)}`);
  if (tracks.state) parts.set('tracks', tracks.state);
  if (chosen) {
    const { side, row, i } = chosen;
    parts.set('chosen', [side, row.key, row.task[i], row.label[i]].join(' '));
  }
}

/** What a link asks for: {view, chosen}; tracks and the kind of time are set at once. */
export function readView(parts, timeline) {
  timeline.tracks.state = parts.get('tracks') ?? '';
  timeline.isStep = parts.get('time') !== 'run';
  const [from, to] = (parts.get('view') ?? '').split(' ').map(Number);
  const [side, key, task, label] = (parts.get('chosen') ?? '').split(' ');
  return { view: to > from ? { from, to } : null, chosen: key ? { side: Number(side), key, task: Number(task), label: Number(label) } : null };
}

/** The slice of a run that is of a task and a label. */
export function markOf(runs, { side, key, task, label }) {
  const row = runs[side]?.rows.find((each) => each.key === key);
  const i = row ? row.task.findIndex((each, k) => each === task && row.label[k] === label) : -1;
  return i < 0 ? null : { side, row, i };
}
