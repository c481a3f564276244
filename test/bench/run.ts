// npm run bench -- [--quick] [--out <file without extension>] [name of a part]…
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { callBookBench } from './call-book.js';
import { stopContestants } from './contestant.js';
import { type Figure, holds } from './figure.js';
import { firstPaintBench } from './first-paint.js';
import { floodBench } from './flood.js';
import { gatesBench } from './gates.js';
import { gatewayBench } from './gateway.js';
import { growthBench } from './growth.js';
import { holdersBench } from './holders/holders.js';
import { importBench } from './import.js';
import { ledgerBench } from './ledger.js';
import { memoryBench } from './memory.js';
import { overloadBench } from './overload/overload.js';
import { paidBench } from './paid.js';
import { passesBench } from './passes.js';
import { processesBench } from './processes.js';
import { toMarkdown } from './report.js';
import { strangersBench } from './strangers/strangers.js';
import { tracingBench } from './tracing.js';
import { unpaidBench } from './unpaid.js';
import { verifyBench } from './verify.js';

const PARTS = [
  unpaidBench,
  paidBench,
  verifyBench,
  gatesBench,
  passesBench,
  gatewayBench,
  growthBench,
  memoryBench,
  processesBench,
  importBench,
  ledgerBench,
  callBookBench,
  floodBench,
  strangersBench,
  holdersBench,
  firstPaintBench,
  overloadBench,
  tracingBench,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, out: { type: 'string' } },
});
const chosen = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) {
  console.error(`there is no such part; there are: ${PARTS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

process.once('exit', stopContestants);
const begun = Date.now();
const results = new Map<string, readonly Figure[]>();
for (const { name, run } of chosen) {
  const progress = (text: string) => {
    console.error(`${String(Math.round((Date.now() - begun) / 1000)).padStart(4)} s  ${name}: ${text}`);
  };
  results.set(name, await run({ quick: values.quick, progress }));
}
const markdown = toMarkdown(results);
console.log(markdown);
if (values.out !== undefined) {
  writeFileSync(`${values.out}.md`, markdown);
  writeFileSync(`${values.out}.json`, `${JSON.stringify(Object.fromEntries(results), null, 2)}\n`);
}
const missed = [...results.values()].flat().filter((figure) => !holds(figure));
if (missed.length > 0) console.error(`missed: ${missed.map(({ name }) => name).join('; ')}`);
process.exit(missed.length === 0 ? 0 : 1);
