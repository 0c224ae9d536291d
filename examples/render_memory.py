#!/usr/bin/env python3
"""Draws the device memory of a trace as SVG: foretrace inspect TRACE --memory --json | render_memory.py > memory.svg"""
import json
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP = 960, 300, 70, 40
MIB = 1 << 20


def size_text(value):
    for unit, scale in (("GiB", 1 << 30), ("MiB", MIB), ("KiB", 1 << 10)):
        if value >= scale:
            return f"{value / scale:.1f} {unit}"
    return f"{value} B"


def steps(times, values, base, end):
    """Corners of the staircase, at most one pair per pixel column: the highest value stands."""
    span = max(1, end)
    columns = {}
    last = base
    for time, value in zip(times, values):
        column = int((WIDTH - 1) * time / span)
        columns[column] = max(columns.get(column, last), value)
        last = value
        columns.setdefault(column + 1, value)
    corners, height = [(0, base)], base
    for column in sorted(columns):
        corners += [(column, height), (column, columns[column])]
        height = columns[column]
    return corners + [(WIDTH, last)]


def draw(title, device):
    curve = device["curve"]
    times, values = curve["time_ns"], curve["live_bytes"]
    end = times[-1] if times else 1
    peak = max(1, device["allocated_peak_bytes"])
    y = lambda value: TOP + HEIGHT * (1 - value / peak)
    points = " ".join(f"{LEFT + x},{y(v):.1f}" for x, v in
                      steps(times, values, device["allocated_before_bytes"], end))
    area = f"{LEFT},{TOP + HEIGHT} {points} {LEFT + WIDTH},{TOP + HEIGHT}"
    peak_x = LEFT + WIDTH * device["peak_at_ns"] / max(1, end)
    out = [f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}: peak '
           f'{size_text(device["allocated_peak_bytes"])} at {device["peak_at_ns"] / 1e6:.1f} ms'
           f', {escape(device["peak_operator"] or "no operator")}</text>',
           f'<polygon points="{area}" fill="#9ecae1"/>',
           f'<polyline points="{points}" fill="none" stroke="#2171b5" stroke-width="1"/>',
           f'<circle cx="{peak_x:.1f}" cy="{y(peak):.1f}" r="4" fill="#cb181d"/>']
    base = device["allocated_before_bytes"]
    out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(base):.1f}" y2="{y(base):.1f}" '
               'stroke="#666" stroke-dasharray="4 3"/>')
    out.append(f'<text x="{LEFT + WIDTH}" y="{y(base) - 4:.1f}" font-size="11" text-anchor="end">'
               f'before the trace: {size_text(base)}</text>')
    for i in range(5):
        value = peak * i // 4
        out.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" font-size="11" text-anchor="end">'
                   f'{size_text(value)}</text>')
        x = LEFT + WIDTH * i / 4
        out.append(f'<text x="{x:.0f}" y="{TOP + HEIGHT + 16}" font-size="11" '
                   f'text-anchor="middle">{end * i / 4 / 1e6:.1f} ms</text>')
    # What holds the peak, as one bar.
    at, y_bar = LEFT, TOP + HEIGHT + 32
    colours = ["#3182bd", "#e6550d", "#31a354", "#756bb1", "#969696", "#d6616b", "#8c6d31",
               "#17becf", "#bcbd22", "#e377c2", "#7f7f7f"]
    for share, colour in zip(device["categories"], colours):
        width = WIDTH * share["bytes"] / peak
        out.append(f'<rect x="{at:.1f}" y="{y_bar}" width="{width:.1f}" height="16" '
                   f'fill="{colour}"><title>{escape(share["name"])}: '
                   f'{size_text(share["bytes"])}</title></rect>')
        if width > 110:
            out.append(f'<text x="{at + 4:.1f}" y="{y_bar + 12}" font-size="11" fill="#fff">'
                       f'{escape(share["name"])} {size_text(share["bytes"])}</text>')
        at += width
    return out


def main():
    document = json.load(sys.stdin)
    panels = [(trace["input"]["path"].rsplit("/", 1)[-1], device)
              for trace in document["traces"] for device in trace.get("device_memory", {}).get("devices", [])]
    if not panels:
        sys.exit("render_memory.py: no device memory in the document, expected the output of "
                 "foretrace inspect TRACE --memory --json")
    tall = TOP + HEIGHT + 70
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" '
          f'height="{tall * len(panels)}" font-family="sans-serif">')
    print('<rect width="100%" height="100%" fill="#fff"/>')
    for i, (title, device) in enumerate(panels):
        print(f'<g transform="translate(0,{tall * i})">')
        print("\n".join(draw(f'{title}, device {device["device"]}', device)))
        print("</g>")
    print("</svg>")


if __name__ == "__main__":
    main()
