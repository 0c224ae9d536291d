#!/usr/bin/env python3
"""Draws a simulated timeline (foretrace ... --timeline FILE) as an SVG picture.

usage: render_timeline.py TIMELINE.json PICTURE.svg [--steps N] [--title TEXT]

One panel per view (baseline, prediction), one row per host thread and stream, one colour per phase.
A column of pixels shows what filled most of its time. Needs nothing but Python 3.
"""
import argparse
import collections
import html
import json

WIDTH, LEFT, ROW, GAP = 1200, 170, 22, 6
COLOURS = {
    "forward": "#3b7dd8", "backward": "#d9772b", "update": "#4a9d5b", "data_loading": "#b04a9c",
    "communication": "#8a6d3b", "unknown": "#8c8c8c", "host": "#b9c2cc", "waiting": "#e6e9ed",
}
NAMES = {
    "forward": "forward", "backward": "backward", "update": "optimizer", "data_loading": "data loading",
    "communication": "communication", "unknown": "unknown phase", "host": "host work between calls",
    "waiting": "waiting for the device",
}


def read(path):
    """Views by name: rows of (start, end, phase) in ms, and the steps."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in events
               if e["ph"] == "M" and e["name"] == "process_name"}
    thread = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
              if e["ph"] == "M" and e["name"] == "thread_name"}
    views = collections.OrderedDict()
    for event in events:
        if event["ph"] != "X":
            continue
        view = process[event["pid"]].split(":")[0] if ":" in process[event["pid"]] else "timeline"
        rows, steps = views.setdefault(view, (collections.OrderedDict(), []))
        begin, end = event["ts"] / 1e3, (event["ts"] + event["dur"]) / 1e3
        if event["cat"] == "step":
            steps.append((begin, end, event["name"]))
            continue
        waits = event.get("args", {}).get("kind") == "synchronization"
        name = thread.get((event["pid"], event["tid"]), "?")
        rows.setdefault(name, []).append((begin, end, "waiting" if waits else event["cat"]))
    return views


def columns(events, begin, end, pixels):
    """Per pixel the phase that fills most of it, or None."""
    filled = [collections.Counter() for _ in range(pixels)]
    scale = pixels / (end - begin)
    for start, stop, phase in events:
        if stop <= begin or start >= end:
            continue
        first, last = (max(start, begin) - begin) * scale, (min(stop, end) - begin) * scale
        for pixel in range(int(first), min(int(last), pixels - 1) + 1):
            filled[pixel][phase] += min(last, pixel + 1) - max(first, pixel)
    return [max(c, key=c.get) if sum(c.values()) > 0.15 else None for c in filled]


def runs(pixels):
    """(first, length, phase) of equal neighbours."""
    at = 0
    while at < len(pixels):
        end = at
        while end < len(pixels) and pixels[end] == pixels[at]:
            end += 1
        if pixels[at]:
            yield at, end - at, pixels[at]
        at = end


def panel(out, top, name, view, window):
    rows, steps = view
    begin, length = window
    pixels = WIDTH - LEFT - 20
    scale = pixels / length
    out.append(f'<text x="8" y="{top + 14}" font-weight="bold">{html.escape(name)}</text>')
    for first, last, title in steps:
        if first - begin < length and last > begin:
            x = LEFT + max(0.0, first - begin) * scale
            w = (min(last, begin + length) - max(first, begin)) * scale
            out.append(f'<rect x="{x:.1f}" y="{top}" width="{w:.1f}" height="18" fill="none" stroke="#9aa4af"/>')
            if w > 90:
                out.append(f'<text x="{x + 5:.1f}" y="{top + 13}" fill="#4b5560">{html.escape(title)}: '
                           f'{last - first:.1f} ms</text>')
    top += 18 + GAP
    for row, events in sorted(rows.items(), key=lambda item: (item[0].startswith("stream"), item[0])):
        if not any(start < begin + length and end > begin for start, end, _ in events):
            continue
        label = row if len(row) < 24 else row[:22] + "…"
        out.append(f'<text x="8" y="{top + 15}" fill="#4b5560">{html.escape(label)}</text>')
        for first, count, phase in runs(columns(events, begin, begin + length, pixels)):
            out.append(f'<rect x="{LEFT + first}" y="{top}" width="{count}" height="{ROW}" '
                       f'fill="{COLOURS.get(phase, COLOURS["unknown"])}"/>')
        top += ROW + GAP
    return top


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("timeline")
    parser.add_argument("picture")
    parser.add_argument("--steps", type=int, default=2, help="steps to show, of the longest view")
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    views = read(options.timeline)
    longest = max((sum(e - b for b, e, _ in s[1:1 + options.steps]) for _, s in views.values()), default=0)
    length = longest or max(e for rows, _ in views.values() for row in rows.values() for _, e, _ in row)
    out, top = [], 30 if options.title else 8
    for name, view in views.items():
        begin = view[1][1][0] if len(view[1]) > 1 else 0.0
        top = panel(out, top, name, view, (begin, length)) + 10
    x = LEFT
    shown = {phase for rows, _ in views.values() for row in rows.values() for _, _, phase in row}
    for phase in [phase for phase in NAMES if phase in shown]:
        out.append(f'<rect x="{x}" y="{top}" width="12" height="12" fill="{COLOURS[phase]}"/>'
                   f'<text x="{x + 17}" y="{top + 11}" fill="#4b5560">{NAMES[phase]}</text>')
        x += 40 + 7 * len(NAMES[phase])
    height = top + 24
    title = f'<text x="8" y="19" font-size="15" font-weight="bold">{html.escape(options.title)}</text>'
    with open(options.picture, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
                   f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">\n'
                   f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n{title}\n' + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
