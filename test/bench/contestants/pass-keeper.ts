import { Keypair } from '@solana/web3.js';
import type { RequestHandler } from 'express';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { passTokensOf } from '../../../src/identity/default-pass-tokens.js';
import { newId } from '../../../src/lib/ids.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { serveApp } from '../../helpers/http/app-server.js';
import type { ContestantParts } from '../contestant.js';

/** Where passes are kept, by the name of the route. `memory` without a storage. */
export interface PassKeeperSettings {
  readonly databases: Readonly<Record<string, string>>;
}

/** More than a bench can send. */
const USES = 1_000_000_000n;
/** Nobody answers there: what a pass covers costs no call. */
const NO_RPC = 'http://127.0.0.1:9';
const handler: RequestHandler = (_req, res) => void res.json({ members: 'only', rows: [1, 2, 3, 4, 5] });

/** One Express app with the same response behind a pass of each store, and behind none. */
export async function start({ databases }: PassKeeperSettings): Promise<ContestantParts> {
  const payTo = Keypair.generate().publicKey.toBase58();
  const tokens: Record<string, string> = {};
  const gates: (readonly [path: string, gate: RequestHandler])[] = [];
  for (const [name, url] of [['memory', undefined] as const, ...Object.entries(databases)]) {
    const kept = url === undefined ? {} : { storage: await openStorage(url) };
    const options = { network: 'solana-devnet', rpcUrl: NO_RPC, keypair: Keypair.generate(), check: false } as const;
    const facilitator = createFacilitator({ ...options, tokens: SANDBOX_TOKENS, ...kept });
    const scope = `GET /${name}`;
    const wallet = Keypair.generate().publicKey.toBase58();
    const bought = { kind: 'uses', bought: USES, left: USES } as const;
    const pass = {
      id: newId('pas'),
      paymentId: newId('pay'),
      wallet,
      site: `${payTo} solana-devnet`,
      scope,
      ...bought,
    };
    const { id, serial } = await facilitator.passes.open(pass);
    tokens[name] = await passTokensOf(facilitator).issue({ ...pass, passId: id, serial });
    const sold = { facilitator, payTo, price: '$0.50', pass: { uses: Number(USES) } };
    gates.push([`/${name}`, requirePayment(sold) as RequestHandler]);
  }
  const server = await serveApp((app) => {
    app.get('/bare', handler);
    for (const [path, gate] of gates) app.get(path, gate, handler);
  });
  return { ...server, asks: { tokens: () => tokens } };
}
