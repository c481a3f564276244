import { createPauseInstruction, createResumeInstruction, createThawAccountInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { MintExtensions } from '../../../src/sandbox/start-sandbox.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { paymentOf, useArena } from '../../helpers/transactions/hostile.js';
import { landAs } from '../../helpers/transactions/land-as.js';

const arena = useArena();
const PROGRAM = new PublicKey(PROGRAMS.token2022);
const reason = 'invalid_exact_svm_transaction_simulation_failed';

/** Terms in a new Token-2022 token, which the fixture's payer has, and the accounts of payer and seller. */
async function inTokenWith(extensions: MintExtensions) {
  const { fixture } = arena();
  const { mint } = fixture.sandbox.createMint({ program: 'token-2022', extensions });
  const payer = fixture.payer.publicKey.toBase58();
  fixture.sandbox.fundToken(payer, mint, 1_000_000n);
  fixture.sandbox.fundToken(fixture.payTo, mint, 0n);
  fixture.sandbox.airdrop(fixture.sandbox.treasury.publicKey.toBase58(), 1_000_000_000n);
  const terms = arena().terms({ asset: mint });
  const [source, destination] = [payer, fixture.payTo].map(
    (it) => new PublicKey(associatedTokenAddress(it, mint, PROGRAMS.token2022)),
  );
  const { draft } = await arena().honest(terms);
  return { terms, draft, mint: new PublicKey(mint), source: source!, destination: destination! };
}

/** Does on the chain what only the authority of the mint can do. */
function asIssuer(...instructions: TransactionInstruction[]): Promise<void> {
  const { fixture } = arena();
  return landAs(fixture, fixture.sandbox.treasury, ...instructions);
}

test('a token that is paused between verify and settle costs nothing, and pays when it goes on', async () => {
  const { fixture, facilitator } = arena();
  const { terms, draft, mint } = await inTokenWith({ pausable: true });
  const { publicKey } = fixture.sandbox.treasury;
  const payment = paymentOf(buildDraft(draft), terms);
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: true });
  await asIssuer(createPauseInstruction(mint, publicKey, [], PROGRAM));

  const before = fixture.sandbox.balance(terms.feePayer!);
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason });
  expect(settlement).not.toHaveProperty('signature');
  expect(before - fixture.sandbox.balance(terms.feePayer!)).toBe(0n);

  await asIssuer(createResumeInstruction(mint, publicKey, [], PROGRAM));
  await arena().pays(draft, terms);
});

test('a seller whose account is frozen is not paid, and is when it is thawed', async () => {
  const { terms, draft, mint, source, destination } = await inTokenWith({ defaultFrozen: true });
  const { publicKey } = arena().fixture.sandbox.treasury;
  const thaw = (account: PublicKey) => asIssuer(createThawAccountInstruction(account, mint, publicKey, [], PROGRAM));
  await thaw(source);
  await arena().turnsAway(buildDraft(draft), terms, reason, 'chain');
  await thaw(destination);
  await arena().pays(draft, terms);
});
