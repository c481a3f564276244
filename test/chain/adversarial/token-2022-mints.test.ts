import { Keypair } from '@solana/web3.js';
import type { MintExtensions } from '../../../src/sandbox/start-sandbox.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { type Arena, tokenNamed, useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();
const someone = Keypair.generate().publicKey.toBase58();

/** A mint with extensions, of which the payer has plenty, and the seller an account. */
function mintWith({ fixture }: Arena, extensions: MintExtensions): string {
  const { mint } = fixture.sandbox.createMint({ program: 'token-2022', extensions });
  fixture.sandbox.fundToken(fixture.payer.publicKey.toBase58(), mint, 1_000_000n);
  fixture.sandbox.fundToken(fixture.payTo, mint, 0n);
  return mint;
}

const REFUSED: readonly [string, MintExtensions][] = [
  ['a transfer hook', { transferHook: { programId: someone } }],
  ['a permanent delegate', { permanentDelegate: someone }],
  ['confidential transfers', { confidentialTransfer: true }],
  ['no transfers at all', { nonTransferable: true }],
];

const NOT_ACCEPTED = REFUSED.map(
  ([name, extensions]) => [name, extensions, 'invalid_exact_svm_mint_not_accepted'] as const,
);
const FEE = { transferFee: { basisPoints: 1, maximumFee: 1n } };

test.each([...NOT_ACCEPTED, ['a transfer fee', FEE, 'invalid_exact_svm_mint_transfer_fee'] as const])(
  'a mint with %s is refused',
  async (_name, extensions, reason) => {
    const terms = arena().terms({ asset: mintWith(arena(), extensions) });
    const { draft } = await arena().honest(terms);
    await arena().turnsAway(buildDraft(draft), terms, reason, 'chain');
    const { simulateTransaction, sendTransaction } = arena().fixture.sandbox.calls;
    expect({ simulateTransaction, sendTransaction }).toEqual({ simulateTransaction: 0, sendTransaction: 0 });
  },
);

test.each([
  ['no extensions', {}],
  ['a transfer fee of nothing', { transferFee: { basisPoints: 0, maximumFee: 0n } }],
  ['an authority that may close it', { closeAuthority: someone }],
])('a mint with %s is good', async (_name, extensions) => {
  const terms = arena().terms({ asset: mintWith(arena(), extensions) });
  const { draft } = await arena().honest(terms);
  await arena().pays(draft, terms);
});

test('a Token-2022 token of the list is good', async () => {
  const terms = arena().terms({ asset: tokenNamed(arena().facilitator, 'PYUSD').mint });
  const { draft } = await arena().honest(terms);
  await arena().pays(draft, terms);
});

test.each([
  ['a permanent delegate', { permanentDelegate: someone }],
  ['confidential transfers', { confidentialTransfer: true }],
])('a mint with %s is good where the operator allows it', async (_name, extensions) => {
  const { fixture } = arena();
  const terms = arena().terms({ asset: mintWith(arena(), extensions) });
  const { draft } = await arena().honest(terms);
  const transaction = buildDraft(draft);
  const payment = { scheme: 'exact', network: terms.network, transaction };
  expect(await arena().facilitator.settle(payment, terms)).toMatchObject({ status: 'failed' });
  const tolerant = fixture.facilitatorWith({ allowMints: [terms.asset] });
  expect(await tolerant.settle(payment, terms)).toMatchObject({ status: 'settled' });
  expect(fixture.sandbox.tokenBalance(terms.payTo, terms.asset)).toBe(terms.amount);
});

test.each([
  ['a permanent delegate', true, { permanentDelegate: someone }],
  ['a transfer fee', false, FEE],
])('on the list of tokens, a mint with %s is good: %s', async (_name, good, extensions) => {
  const { fixture, facilitator } = arena();
  const mint = mintWith(arena(), extensions);
  const token = { ...tokenNamed(facilitator, 'PYUSD'), symbol: 'OWN', mint };
  const trusting = fixture.facilitatorWith({ tokens: [...facilitator.tokens, token] });
  const terms = arena().terms({ asset: mint });
  const { draft } = await arena().honest(terms);
  const payment = { scheme: 'exact', network: terms.network, transaction: buildDraft(draft) };
  expect(await trusting.verify(payment, terms)).toMatchObject({ ok: good });
});
