import { createCloseAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { paymentOf, useArena } from '../../helpers/transactions/hostile.js';
import { landAs } from '../../helpers/transactions/land-as.js';

const arena = useArena();

/** Closes the token account of a wallet, as the wallet can at any time; what is in it goes to the fixture's seller. */
async function closeAccount(wallet: Keypair, mint: string): Promise<void> {
  const { sandbox, payTo } = arena().fixture;
  const owner = wallet.publicKey.toBase58();
  const [account, heir] = [owner, payTo].map((it) => new PublicKey(associatedTokenAddress(it, mint, PROGRAMS.token)));
  const empty = createTransferInstruction(account!, heir!, wallet.publicKey, sandbox.tokenBalance(owner, mint));
  await landAs(
    arena().fixture,
    wallet,
    empty,
    createCloseAccountInstruction(account!, wallet.publicKey, wallet.publicKey),
  );
}

test.each([
  ['payer', 'invalid_exact_svm_payer_token_account_missing'],
  ['seller', 'invalid_exact_svm_recipient_token_account_missing'],
] as const)('a %s who closes the account between verify and settle costs nothing', async (who, reason) => {
  const { fixture, facilitator } = arena();
  const { sandbox } = fixture;
  const payer = await sandbox.createWallet({ usdc: '1', sol: '1' });
  const seller = await sandbox.createWallet({ usdc: '0', sol: '1' });
  const terms = arena().terms({ payTo: seller.publicKey.toBase58() });
  const { draft } = await arena().honest(terms, payer);
  const payment = paymentOf(buildDraft(draft), terms);
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: true });
  await closeAccount(who === 'payer' ? payer : seller, terms.asset);

  const before = sandbox.balance(terms.feePayer!);
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason });
  expect(settlement).not.toHaveProperty('signature');
  expect(before - sandbox.balance(terms.feePayer!)).toBe(0n);

  sandbox.fundToken(payer.publicKey.toBase58(), terms.asset, terms.amount);
  sandbox.fundToken(terms.payTo, terms.asset, 0n);
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
});
