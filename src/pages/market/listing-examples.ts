import type { ShownListing } from './shown-listing.js';

type Example = ShownListing['example'];

/** Calls are let in by a service key, and paid for besides. */
const KEY = { 'X-Service-Key': '<API_KEY>', 'X-Service-Secret': '<API_SECRET>' };

/** The call as our own command: nothing in it can leave its quotes. */
export function terminalExample({ method, url, body }: Pick<Example, 'method' | 'url' | 'body'>): string {
  const parts = [
    `npx tollhouse pay ${quoted(url)}`,
    ...(method === 'GET' ? [] : [`--method ${method}`]),
    ...(body === null ? [] : [`--data ${quoted(JSON.stringify(body))}`]),
    ...Object.entries(headersOf(body)).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    '--keypair wallet.json',
  ];
  return parts.join(' \\\n  ');
}

/** How a key is made at a server, and a call made with it and paid: nothing in it can leave its quotes. */
export function keyCommands(server: string, { method, url }: Pick<Example, 'method' | 'url'>): string {
  return [
    `npx tollhouse login --server ${quoted(server)} --keypair wallet.json`,
    'npx tollhouse keys create --name mine',
    terminalExample({ method, url, body: null }),
  ].join('\n');
}

/** The call with x402's own client: each value in it is a literal of JSON. */
export function clientExample({ method, url, body }: Example): string {
  const sent = body === null ? '' : `\n  body: ${JSON.stringify(JSON.stringify(body))},`;
  return `import { readFile } from 'node:fs/promises';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

const keypair = JSON.parse(await readFile('wallet.json', 'utf8'));
const signer = await createKeyPairSignerFromBytes(Uint8Array.from(keypair));
const client = new x402Client().register('solana:*', new ExactSvmScheme(signer));
const payingFetch = wrapFetchWithPayment(fetch, client);
const response = await payingFetch(${JSON.stringify(url)}, {
  method: ${JSON.stringify(method)},
  headers: ${JSON.stringify(headersOf(body))},${sent}
});
console.log(await response.text());`;
}

function headersOf(body: unknown): Readonly<Record<string, string>> {
  return body === null ? KEY : { ...KEY, 'Content-Type': 'application/json' };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
