"""What a prediction takes from Python: adds predict_python_us to a file that foretrace_ratios wrote.

usage: predict_python.py RATIOS.json PACKAGE_FOLDER TRACE
"""
import json
import statistics
import sys
import time


def main(path, package, trace):
    sys.path.insert(0, package)
    import foretrace

    job = foretrace.Predictor(trace)
    asked = 0

    def ask(number):
        nonlocal asked
        begin = time.process_time_ns()
        for _ in range(number):
            asked += 1
            factor = 0.5 + 0.001 * (asked % 997)
            job.predict(compute=factor, copies=factor, communication=factor, host=factor)
        return (time.process_time_ns() - begin) / number / 1e3

    ask(100)
    question_us = statistics.median(ask(100) for _ in range(51))
    with open(path, encoding="utf-8") as file:
        ratios = json.load(file)
    # What C++ takes grows with the tasks, what Python adds does not: a job of 10,000 tasks.
    added_us = question_us - ratios["predict_us"] * job.tasks / 1e4
    ratios["predict_python_us"] = ratios["predict_us"] + added_us
    with open(path, "w", encoding="utf-8") as file:
        json.dump(ratios, file, indent=2)
        file.write("\n")
    print(f"predict_python_us {ratios['predict_python_us']:.1f}: Python adds {added_us:.1f} us to a question (goal: 20)")


main(*sys.argv[1:])
