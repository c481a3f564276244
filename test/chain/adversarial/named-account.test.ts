import { Keypair } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { Terms } from '../../../src/protocol/types.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { headerV2, useArena } from '../../helpers/transactions/hostile.js';
import { createGate } from '../../helpers/transactions/payments.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';
import { until } from '../../helpers/until.js';

const FEE = 10_001n;

const arena = useArena();
/** Together they are more than the owner has. */
const cheap = () => arena().terms({ amount: 300_000n });
const dear = () => arena().terms({ amount: 900_000n });

async function ownPayment(owner: Keypair) {
  const { draft } = await arena().honest(cheap(), owner);
  return headerV2(buildDraft(draft), cheap());
}

/** Signed by somebody who has nothing, out of the account of another. */
async function stolenPayment(owner: Keypair) {
  const terms = dear();
  const source = associatedTokenAddress(owner.publicKey.toBase58(), terms.asset, PROGRAMS.token);
  const { draft, scene } = await arena().honest(terms, Keypair.generate());
  return headerV2(buildDraft(withTransfer(draft, transferChecked({ ...scene.transfer, source }))), terms);
}

/** Routes where money comes first and nothing is simulated, at a node that may be held up. */
async function openRoutes() {
  const { fixture } = arena();
  const proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
  const facilitator = fixture.facilitatorWith({ rpcUrl: proxy.url });
  const gate = ({ asset, amount, payTo, maxTimeoutSeconds }: Terms, settle: 'after' | 'before') =>
    requirePayment({ facilitator, price: { asset, amount }, payTo, maxTimeoutSeconds, settle });
  const url = await fixture.serve((app) => {
    app.get('/simulated', gate(cheap(), 'after'), (_req, res) => void res.send('sold'));
    app.get('/cheap', gate(cheap(), 'before'), (_req, res) => void res.send('sold'));
    app.get('/dear', gate(dear(), 'before'), (_req, res) => void res.send('sold'));
  });
  const buy = async (path: string, headers: Record<string, string>) => (await fetch(url + path, { headers })).status;
  return { proxy, buy };
}

test.each([
  ['that was looked at is not even tried', true],
  ['that nobody has looked at is tried once, and does not stand in the way of its owner', false],
])('what strangers name as theirs of an account %s', async (_what, isSeen) => {
  const { sandbox } = arena().fixture;
  const { proxy, buy } = await openRoutes();
  const owner = await sandbox.createWallet({ usdc: isSeen ? '1.3' : '1' });
  const lamports = () => sandbox.balance(cheap().feePayer!);
  const before = lamports();
  if (isSeen) expect(await buy('/simulated', await ownPayment(owner))).toBe(200);

  const node = createGate();
  const tries = isSeen ? 0 : 1;
  let tried = 0;
  proxy.decide = ({ method }) => {
    if (method !== 'sendTransaction' || tried === tries) return 'pass';
    tried += 1;
    return node.opened.then(() => 'pass');
  };
  const stolen = await Promise.all([1, 2, 3, 4].map(() => stolenPayment(owner)));
  const ends = Promise.all(stolen.map((headers) => buy('/dear', headers)));
  await (isSeen ? ends : until(() => tried === tries));
  expect(await buy('/cheap', await ownPayment(owner))).toBe(200);
  node.open();
  expect(await ends).toEqual([402, 402, 402, 402]);
  expect(before - lamports()).toBe(isSeen ? 2n * FEE : FEE);
  await proxy.close();
});
