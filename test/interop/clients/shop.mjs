// A seller on a sandbox: gates that settle after and before, and a project behind a gateway. The price is part of the address,
// so that no two payments are the same transaction.
//
// `openShop(tollhouse, sandbox)` is given the modules, so that it can be run against any build of them.
import { once } from 'node:events';
import { createServer } from 'node:http';

const PROJECT_PRICE = 20_000;

export async function openShop(
  { createFacilitator, createGateway, createRouter, openStorage, requirePayment },
  sandbox,
  express,
) {
  const { network, rpcUrl, wsUrl, createWallet, tokens } = sandbox;
  const [usdc] = tokens;
  const [feePayer, seller, payer] = [
    await createWallet({ sol: '1' }),
    await createWallet({ usdc: '0' }),
    await createWallet({ usdc: '10' }),
  ];
  const payTo = seller.publicKey.toBase58();
  const storage = await openStorage('memory:');
  const { ledger, idempotency } = storage;
  const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair: feePayer, ledger, idempotency });
  const gateway = createGateway({ facilitator, storage, allowPrivateNetworks: ['127.0.0.0/8'] });
  gateway.start();
  const price = (req) => ({ amount: BigInt(req.params.amount), asset: usdc.mint });
  const app = express();
  for (const settle of ['after', 'before']) {
    app.post(
      `/${settle}/:amount`,
      requirePayment({ facilitator, price, payTo, settle }),
      (req, res) => void req.pipe(res),
    );
  }
  app.use(createRouter({ facilitator, gateway, limits: false }));
  const [server, upstream] = [createServer(app), createServer((req, res) => void req.pipe(res))];
  const [url, upstreamUrl] = [await listening(server), await listening(upstream)];
  const { key, secret } = await gateway.keys.generate(payer.publicKey.toBase58(), { name: 'interop' });
  const headers = { 'content-type': 'application/json', 'x-service-key': key.publicKey, 'x-service-secret': secret };
  let sold = 0;

  return {
    /** What a client needs to pay. */
    setup: { secretKey: [...payer.secretKey], rpcUrl, network, mint: usdc.mint },
    /** One call of each kind, what each costs, and what it is answered. */
    async calls() {
      sold += 1;
      const amount = 10_000 + sold;
      const slug = `echo-${sold}`;
      const paid = String((PROJECT_PRICE + sold) / 1_000_000);
      const pricing = { amount: paid, token: 'USDC' };
      await gateway.projects.create(payTo, { slug, name: slug, upstream: { url: upstreamUrl }, pricing });
      const body = JSON.stringify({ sold });
      const init = { method: 'POST', headers, body };
      const paths = [`/after/${amount}`, `/before/${amount + 5_000}`, `/v1/${slug}`];
      return {
        calls: paths.map((path) => ({ url: url + path, init })),
        cost: amount + amount + 5_000 + PROJECT_PRICE + sold,
        body,
      };
    },
    /** The first thing that is asked of the chain. */
    touch: () => facilitator.supported(),
    /** What the payer has and what the seller got, in atomic units. */
    balances: () => [payer.publicKey.toBase58(), payTo].map((it) => Number(sandbox.tokenBalance(it, usdc.mint))),
    async close() {
      await gateway.close();
      await facilitator.close();
      await storage.close();
      for (const it of [server, upstream]) {
        it.closeAllConnections();
        it.close();
      }
      await sandbox.close();
    },
  };
}

async function listening(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}
