// One meaning, one colour. The colours are in style.css, searched for the least difference that
// people with colour vision deficiencies see; here is what has which.

export const classes = [
  ['product', 'products (GEMM, convolution, attention)'],
  ['norm', 'normalization, softmax, reduction'],
  ['elementwise', 'elementwise'],
  ['movement', 'copies, gather, layout'],
  ['optimizer', 'optimizer'],
  ['collective', 'communication'],
  ['other', 'other kernels'],
  ['host', 'CPU: named regions'],
  ['call', 'CPU: calls'],
  ['wait', 'waiting'],
  ['late', 'waiting for late ranks'],
  ['plain', 'CPU: outside every region'],
  ['forward', 'forward'],
  ['backward', 'backward'],
  ['update', 'optimizer'],
];
const index = Object.fromEntries(classes.map(([name], i) => [name, i]));
export const waitClass = index.wait;
export const lateClass = index.late;
export const isWaiting = (cls) => cls === index.wait || cls === index.late;
export const hostClass = index.host;
export const plainClass = index.plain;

// in the order of foretrace::KernelClass
const ofKernel = ['product', 'product', 'product', 'norm', 'norm', 'elementwise', 'norm', 'movement',
  'movement', 'optimizer', 'collective', 'other'];

/** Of a step that was never recorded: its work has no kernels, but phases. */
const ofPhase = { 1: index.forward, 2: index.backward, 3: index.update };
export const classOfPhase = (phase, work) => (work.kind === 2 && ofPhase[phase] !== undefined ? ofPhase[phase] : classOf(work));

export function classOf(work) {
  switch (work.kind) {
    case 2: return index[ofKernel[work.kernelClass] ?? 'other'];
    case 3: return work.part === 1 ? lateClass : index.collective;
    case 4: case 5: return index.movement;
    case 6: return index.wait;
    case 9: return index.collective;
    default: return index.call;
  }
}

/** The colours of the theme that is shown, by class. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  return classes.map(([name]) => style.getPropertyValue(`--${name}`).trim());
}
export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
