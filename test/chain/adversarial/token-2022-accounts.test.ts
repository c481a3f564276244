import {
  createDisableRequiredMemoTransfersInstruction,
  createEnableCpiGuardInstruction,
  createEnableRequiredMemoTransfersInstruction,
  createReallocateInstruction,
  ExtensionType,
} from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { paymentOf, tokenNamed, useArena } from '../../helpers/transactions/hostile.js';
import { landAs } from '../../helpers/transactions/land-as.js';

const arena = useArena();
const PROGRAM = new PublicKey(PROGRAMS.token2022);

/** A payer and a seller with accounts of a Token-2022 token, and room in the account of one of them for an extension. */
async function openSale(whose: 'payer' | 'seller', extension: ExtensionType) {
  const { fixture, facilitator } = arena();
  const { mint } = tokenNamed(facilitator, 'PYUSD');
  const payer = await fixture.sandbox.createWallet({ pyusd: '1', sol: '1' });
  const seller = await fixture.sandbox.createWallet({ pyusd: '0', sol: '1' });
  const wallet: Keypair = whose === 'payer' ? payer : seller;
  const { publicKey } = wallet;
  const account = new PublicKey(associatedTokenAddress(publicKey.toBase58(), mint, PROGRAMS.token2022));
  await landAs(fixture, wallet, createReallocateInstruction(account, publicKey, [extension], publicKey, [], PROGRAM));
  const terms = arena().terms({ asset: mint, payTo: seller.publicKey.toBase58() });
  return { terms, payer, wallet, account, draft: (await arena().honest(terms, payer)).draft };
}

test('a seller whose account asks for memos is not paid without, which is told to both sides, and is when it asks no more', async () => {
  const { fixture, facilitator } = arena();
  const { terms, payer, wallet, account, draft } = await openSale('seller', ExtensionType.MemoTransfer);
  const target = { payTo: terms.payTo, price: { asset: terms.asset, amount: terms.amount } };
  const codes = async () => (await facilitator.check(target)).findings.map(({ code }) => code);
  expect(await codes()).not.toContain('recipient_account_needs_memo');
  await landAs(fixture, wallet, createEnableRequiredMemoTransfersInstruction(account, wallet.publicKey, [], PROGRAM));
  expect(await codes()).toContain('recipient_account_needs_memo');
  await arena().turnsAway(buildDraft(draft), terms, 'invalid_exact_svm_transaction_simulation_failed', 'chain');
  const message = expect.stringContaining('a memo stands directly before');
  expect(await facilitator.verify(paymentOf(buildDraft(draft), terms), terms)).toMatchObject({ message });
  await landAs(fixture, wallet, createDisableRequiredMemoTransfersInstruction(account, wallet.publicKey, [], PROGRAM));
  expect(await codes()).not.toContain('recipient_account_needs_memo');
  await arena().pays(draft, terms, payer);
});

test.each(['payer', 'seller'] as const)(
  'a %s whose account is guarded against other programs pays and is paid',
  async (who) => {
    const { terms, payer, wallet, account, draft } = await openSale(who, ExtensionType.CpiGuard);
    await landAs(arena().fixture, wallet, createEnableCpiGuardInstruction(account, wallet.publicKey, [], PROGRAM));
    await arena().pays(draft, terms, payer);
  },
);
