// The graphs of a page and what follows from them.
import { inflate } from './codec.mjs';
import { asRecorded, Engine } from './engine.mjs';

const mostUnpacked = 64 << 20; // bytes of what-ifs that nobody asked for yet

const workOf = ([name, operator, shapes, kind, kernelClass, part]) =>
  ({ name, operator, shapes, kind, kernelClass, part });
const stepOf = ([rank, number, begin, end]) => ({ rank, number, begin, end });

export class Document {
  /** @param {object} facts the JSON of the page @param {(id: string) => string} block its blocks @param {Engine} engine */
  constructor(facts, block, engine) {
    this.engine = engine;
    this.facts = facts;
    this.block = block;
    this.strings = facts.strings;
    this.loaded = new Map();
    this.unpacked = new Map(); // blocks that nothing was read from yet
    this.spare = null; // room of a run that is no more
    this.given = null; // the graph that a server made last
    this.shown = null; // the one before it, which is shown until then
  }

  static async open(block) {
    const [bytes, engine] = await Promise.all([inflate(block('facts')), Engine.start()]);
    return new Document(JSON.parse(new TextDecoder().decode(bytes)), block, engine);
  }

  variant(name) {
    return this.facts.variants.find((variant) => variant.name === name) ?? null;
  }

  /** A what-if that an engine made, in place of the one that it made before. */
  adopt({ variant, strings, bytes }) {
    this.known ??= this.strings.length;
    this.strings.length = this.known;
    this.strings.push(...strings);
    const moved = variant.works.map(([name, operator, shapes, ...rest]) =>
      [name + this.known, operator + this.known, shapes + this.known, ...rest]);
    this.facts.variants = this.facts.variants.filter((each) => each.name !== variant.name);
    this.facts.variants.push({ ...variant, works: moved, cards: '' }); // which come later
    this.given = { name: variant.name, bytes };
    const former = this.loaded.get(variant.name)?.graph;
    if (former) {
      this.spare = former.room ?? this.spare;
      if (this.shown) this.engine.close(this.shown);
      this.shown = former;
    }
    this.loaded.delete(variant.name);
  }

  /** Unpacks the what-ifs that the page carries, before they are asked for: one whenever `idle` resolves. */
  async prepare(idle) {
    let held = 0;
    for (const { name, block } of [...this.facts.variants]) {
      await idle();
      if (held > mostUnpacked) return;
      if (!this.loaded.has(name)) held += (await this.bytesOf(block).catch(() => null))?.length ?? 0; // who asks is told
    }
  }

  async bytesOf(block) {
    if (!this.unpacked.has(block)) this.unpacked.set(block, inflate(this.block(block)));
    return this.unpacked.get(block);
  }

  /** A graph that is no change of another one. */
  async alone(facts) {
    const side = { works: facts.works.map(workOf), lanes: facts.lanes, steps: facts.steps.map(stepOf), labels: facts.labels };
    return { ...side, graph: this.engine.open({ ...side, columns: facts.columns }, await inflate(this.block(facts.block))) };
  }

  /** The graph of the recorded run (null) or of a what-if that the page carries. */
  async side(name) {
    if (this.loaded.has(name)) return this.loaded.get(name);
    const { base } = this.facts;
    let side = null;
    if (name === null) {
      side = await this.alone(base);
    } else if (name === 'after') {
      side = await this.alone(this.facts.after);
    } else {
      const recorded = await this.side(null);
      const variant = this.variant(name);
      const bytes = this.given?.name === name ? this.given.bytes : await this.bytesOf(variant.block);
      this.unpacked.delete(variant.block);
      side = { works: recorded.works.slice(0, variant.works_from).concat(variant.works.map(workOf)),
        lanes: recorded.lanes.slice(0, variant.lanes_from).concat(variant.lanes),
        steps: variant.steps.map(stepOf), labels: recorded.labels };
      side.graph = this.engine.open({ ...side, columns: variant.columns }, bytes, recorded.graph, variant.works_from >= recorded.works.length);
    }
    this.loaded.set(name, side);
    return side;
  }

  /**
   * Simulates a side under factors. `again`: what the last such run of this graph was made of is
   * used again, so a slider that moves leaves nothing to collect; that run is then no more. So is the
   * one of a what-if that a server has made anew.
   */
  run(side, factors = asRecorded(), again = false) {
    const room = again ? (side.graph.room ??= this.takeSpare()) : {};
    return { ...side, room, ...this.engine.run(side.graph, factors, this.facts.step_number, room) };
  }

  takeSpare() {
    const { spare } = this;
    this.spare = null;
    return spare ?? {};
  }

  /** HTML of what the program says of a variant, in cards. */
  async cards(name) {
    const { cards } = this.variant(name);
    if (cards !== undefined) return cards; // an engine made them
    this.ofVariants ??= inflate(this.block('cards')).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
    return (await this.ofVariants)[name] ?? '';
  }
}
