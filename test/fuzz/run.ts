// npm run fuzz -- [--runs <inputs of each rule>] [--requests <to the server>] [part of a rule's name | server]…
import { parseArgs } from 'node:util';
import { CHAIN } from './chain.js';
import { openDifferential } from './differential.js';
import { openFuzzedServer } from './endpoints.js';
import { openLandedFuzz } from './landed-money.js';
import { SERVICE } from './service.js';
import { WIRE } from './wire.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '10000' }, requests: { type: 'string', default: '5000' } },
});
const [runs, requests] = [Number(values.runs), Number(values.requests)];
const isChosen = (name: string) => positionals.length === 0 || positionals.some((part) => name.includes(part));
const differential = await openDifferential();
const landed = await openLandedFuzz();
const server = isChosen('server') ? await openFuzzedServer() : undefined;
let inputs = 0;
let broken = 0;

console.log('| rule | inputs | s |\n|---|---:|---:|');
for (const { name, run } of [...WIRE, ...SERVICE, ...CHAIN, differential, landed]) {
  if (isChosen(name)) await hold(name, runs, () => run(runs));
}
if (server !== undefined) await hold('requests to the server', requests, () => server.run(requests));
const { tried, accepted, executed } = differential.figures;
if (tried > 0) {
  console.log(`\nSpoiled payments: ${tried}, accepted by our rules: ${accepted}, executed by the chain: ${executed}.`);
}
const { executed: moved, handedOver, inner, payments } = landed.figures;
if (landed.figures.tried > 0) {
  const some = `accounts handed over in ${handedOver}, inner instructions in ${inner}, payments recognised: ${payments}`;
  console.log(`\nLanded transactions: ${landed.figures.tried}, without an error: ${moved}, ${some}.`);
}
if (server !== undefined) {
  console.log(`\nAnswers: ${[...server.answers].map(([status, count]) => `${count} × ${status}`).join(', ')}.`);
  await server.close();
}
console.log(`\n${inputs} inputs, ${broken} rules broken.`);
process.exit(broken === 0 ? 0 : 1);

async function hold(name: string, count: number, run: () => void | Promise<void>): Promise<void> {
  const begun = performance.now();
  inputs += count;
  try {
    await run();
  } catch (error) {
    broken += 1;
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  console.log(`| ${name} | ${count} | ${((performance.now() - begun) / 1000).toFixed(1)} |`);
}
