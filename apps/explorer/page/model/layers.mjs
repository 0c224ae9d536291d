// Layers of the model, as the recording has them: of every task of the recorded graph one, or none.

export class Layers {
  /** `base`: facts of a graph; `strings`: its names. */
  constructor({ layers = [], layer_runs: runs = [] }, strings) {
    this.parents = layers.map(([, parent]) => parent);
    this.names = layers.map(([name]) => strings[name]);
    // within the layer around it: "Conv2d_0" of "ResNet_0/Conv2d_0"
    this.own = this.names.map((name, k) => {
      const around = this.names[this.parents[k]] || '';
      return around && name.startsWith(around) && name.length > around.length + 1 ? name.slice(around.length + 1) : name;
    });
    this.of = new Int32Array(runs.reduce((sum, count, k) => sum + (k % 2 ? count : 0), 0));
    for (let k = 0, at = 0; k < runs.length; k += 2) {
      this.of.fill(runs[k], at, at + runs[k + 1]);
      at += runs[k + 1];
    }
  }

  /** Of a task; 0: none. */
  keyOf(task) { return this.of[task] ?? 0; }

  /** The names of the layers that a task is in, the outermost first; `own`: each within the one around it. */
  namesOf(task, own = false) {
    const names = [];
    for (let layer = this.keyOf(task); layer > 0; layer = this.parents[layer]) names.unshift((own ? this.own : this.names)[layer]);
    return names;
  }
}
