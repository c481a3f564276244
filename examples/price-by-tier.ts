// A price by membership tier: members who sign in with their wallet pay less, strangers pay in full.
//
//   npx unrun examples/price-by-tier.ts
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, readTier, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, tokens, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair: feePayer });

const tiers = {
  mint: 'PYUSD',
  levels: [
    { id: 'friend', minBalance: 10 },
    { id: 'patron', minBalance: 1_000 },
  ],
};
const PRICES: Readonly<Record<string, string>> = { friend: '$0.05', patron: '$0.01' };

const app = express();
const price = requirePayment({
  facilitator,
  price: (req) => PRICES[req.tier?.id ?? ''] ?? '$0.10',
  payTo: seller.publicKey.toBase58(),
});
app.get('/song', readTier({ facilitator, tiers }), price, (req, res) => {
  res.json({ song: 'la la la', tier: req.tier?.name ?? null });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/song --demo --rpc ${rpcUrl}`);
});
