"""Longest path of a graph with networkx: prints its length and the CPU seconds of the call alone."""
import sys
import time

import networkx

graph = networkx.DiGraph()
with open(sys.argv[1], encoding="ascii") as lines:
    for line in lines:
        source, target, weight = map(int, line.split())
        known = graph.get_edge_data(source, target)
        if known is None or known["weight"] < weight:
            graph.add_edge(source, target, weight=weight)
start = time.process_time()
path = networkx.dag_longest_path(graph)
seconds = time.process_time() - start
length = sum(graph[a][b]["weight"] for a, b in zip(path, path[1:]))
print(length, f"{seconds:.9f}")
