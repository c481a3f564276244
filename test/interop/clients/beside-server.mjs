// Pays with one client for everything that a shop sells, in a process of the client's own and in that of the server.
//
//   node beside-server.mjs '{"build": "<folder of index.js and sandbox.js>", "express": "<module>", "client": "./payai.mjs",
//                            "first": "client" | "server" | "apart"}'
//
// `first` is what is loaded and used first: the client before the server asks the chain for anything, the server before the
// client is loaded, or each in its own process. Prints what happened as JSON.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { payAll } from './pay.mjs';
import { openShop } from './shop.mjs';

const { build, express, client, first } = JSON.parse(process.argv[2]);

if (first === 'client') await import(client);
const [tollhouse, { startSandbox }, { default: expressOf }] = await Promise.all(
  [`${build}/index.js`, `${build}/sandbox.js`, express].map((it) => import(it)),
);
const shop = await openShop(tollhouse, await startSandbox({ slotMs: 20, maxBlockhashAgeBlocks: 10_000 }), expressOf);
try {
  if (first === 'server') await shop.touch();
  const { calls, cost, body } = await shop.calls();
  const [had, earned] = shop.balances();
  const order = { client, setup: shop.setup, calls };
  const answers = first === 'apart' ? await payApart(order) : await payAll(order);
  const [has, earns] = shop.balances();
  console.log(JSON.stringify({ answers, body, cost, spent: had - has, earned: earns - earned }));
} finally {
  await shop.close();
}

async function payApart(order) {
  const program = fileURLToPath(new URL('pay.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(order)]);
  return JSON.parse(stdout);
}
