// Compares a module of WebAssembly with the one that pages carry, and puts it in its place where they differ:
// node compare.mjs MODULE.wasm ENGINE_MODULE.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

const [built, carried] = process.argv.slice(2);
const head = `// Compiled from the sources of the program, deflated, as base64: cmake --build --preset dev --target page_engine
export const engineModule = '`;
const bytes = readFileSync(built);
const text = /engineModule = '([^']*)'/.exec(readFileSync(carried, 'utf8'))?.[1];
if (text && bytes.equals(inflateRawSync(Buffer.from(text, 'base64')))) {
  console.log(`${carried} is what the sources give: ${bytes.length} bytes`);
} else {
  writeFileSync(carried, `${head}${deflateRawSync(bytes, { level: 9, memLevel: 9 }).toString('base64')}';\n`);
  console.error(`${carried} was not what the sources give: it is written anew, ${bytes.length} bytes`);
  process.exit(1);
}
