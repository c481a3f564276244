import express from 'express';
import { createFacilitator, requirePayment } from '../../../src/index.js';
import { demoWallet } from '../../../src/sandbox/tokens/demo-wallets.js';

/**
 * A gate whose set-up was looked at, with much that is wrong, and that nobody closes: nothing of it may keep the process alive.
 */
const [keypair, payTo] = [demoWallet(0), demoWallet(1).publicKey.toBase58()];
const chain = { network: 'solana-devnet', rpcUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' } as const;
const facilitator = createFacilitator({ ...chain, keypair });
const server = express()
  .get('/', requirePayment({ facilitator, price: '$0.01', payTo }))
  .listen(0, '127.0.0.1', async () => {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
    await answer.arrayBuffer();
    while (facilitator.setup.known() === undefined) await new Promise((resolve) => setTimeout(resolve, 2));
    const codes = facilitator.setup.known()?.findings.map(({ code }) => code);
    console.log(`${answer.status} ${codes?.join(' ')}`);
    server.close();
  });
