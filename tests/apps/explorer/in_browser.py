"""Opens pages that `report` writes in headless Chromium: in_browser.py CHROMIUM FORETRACE ROOT WORK.

Each must come alive, put nothing into the console, ask for nothing, and show names as text, whatever
they are. A page without scripts must still hold the sentence and the ranking.
"""
import gzip
import json
import os
import re
import subprocess
import sys

CHROMIUM, FORETRACE, ROOT, WORK = sys.argv[1:5]
os.makedirs(WORK, exist_ok=True)
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("failed:", text)


def report(trace, page, *options):
    """Of a trace, or what another command writes: its words stand in place of the trace."""
    words = trace if isinstance(trace, list) else ["report", trace]
    subprocess.run([FORETRACE, *words, "-o", page, *options], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL)
    return open(page, encoding="utf-8").read()


def opened(page, *options):
    """The document after its scripts ran, and what was written to the console."""
    ran = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--log-level=0", "--virtual-time-budget=8000", "--window-size=1440,1200",
         f"--user-data-dir={WORK}/profile", "--dump-dom", *options, "file://" + page],
        capture_output=True, timeout=120, check=False)
    console = [line for line in ran.stderr.decode(errors="replace").splitlines()
               if "CONSOLE" in line]
    return ran.stdout.decode(errors="replace"), console


def hostile_trace(path):
    """The demo with names that would be markup, end the script, or reorder text."""
    names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202egnirts",
             "a" * 1_000_000, "\"'><svg onload=alert(1)>", "@SCRIPT@"]
    demo = os.path.join(ROOT, "examples/traces/demo_generated_cnn.json.gz")
    with gzip.open(demo) as file:
        trace = json.load(file)
    kernels = {}
    for event in trace["traceEvents"]:
        if event.get("cat") in ("kernel", "cpu_op"):
            known = kernels.setdefault(event["name"], len(kernels))
            if known % 2 == 0:
                event["name"] = names[known // 2 % len(names)] + str(known)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)


demo = os.path.join(ROOT, "examples/traces/demo_generated_cnn.json.gz")
hostile = os.path.join(WORK, "hostile.json")
hostile_trace(hostile)
pages = [("the demo", demo, []), ("a stack", demo, ["--apply", "mixed_precision"]),
         ("hostile names", hostile, []),
         ("four ranks", os.path.join(ROOT, "tests/fixtures/job"), []),
         ("two runs", ["compare", demo, hostile], []),
         ("a plan", ["report", "--scenario", "examples/recipes/report/pipeline.json"], []),
         ("a sweep", ["report", "--sweep", os.path.join(WORK, "results")], [])]
subprocess.run([FORETRACE, "sweep", "examples/recipes/sweeps/gpt3_512.json", "-o",
                os.path.join(WORK, "results"), "--quiet"], check=True, cwd=ROOT,
               stdout=subprocess.DEVNULL)
for name, trace, options in pages:
    page = os.path.join(WORK, name.replace(" ", "_") + ".html")
    text = report(trace, page, *options)
    check(text.count("<script") == text.count("</script>"), f"{name}: scripts end once each")
    check(not re.search(r"<(img|svg onload)|\u202e", text), f"{name}: names stay text")
    check(not re.search(r"<[a-z][^>]*\s(src|href)=|url\(|@import", text), f"{name}: nothing to fetch")
    check("<h1 id=\"sentence\">" in text, f"{name}: the sentence stands in the file")
    if not isinstance(trace, list):
        check("class=\"gain" in text, f"{name}: the ranking stands in the file")
    document, console = opened(page)
    check("data-ready=\"yes\"" in document, f"{name}: comes alive")
    check(not console, f"{name}: {console[:3]}")
    check("alert(1)" not in re.sub(r"&lt;[^&]*|<[^>]*title=\"[^\"]*\"", "", document)
          or "<script>alert" not in document, f"{name}: no script from names")
print("checked", len(pages), "pages")
sys.exit(1 if failures else 0)
