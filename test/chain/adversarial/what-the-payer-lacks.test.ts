import { ACCOUNT_SIZE, AccountLayout, AccountState } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

test('a payer with one unit too little is refused, and good once it has it', async () => {
  const { sandbox } = arena().fixture;
  const terms = arena().terms();
  const payer = await sandbox.createWallet({ usdc: '0.009999' });
  const { draft } = await arena().honest(terms, payer);
  await arena().turnsAway(buildDraft(draft), terms, 'insufficient_funds', 'chain');
  sandbox.fundToken(payer.publicKey.toBase58(), terms.asset, 1n);
  await arena().pays(draft, terms, payer);
});

test('a payer without a token account is told so, and good once it has one', async () => {
  const { sandbox } = arena().fixture;
  const terms = arena().terms();
  const payer = Keypair.generate();
  const { draft } = await arena().honest(terms, payer);
  await arena().turnsAway(buildDraft(draft), terms, 'invalid_exact_svm_payer_token_account_missing', 'chain');
  sandbox.fundToken(payer.publicKey.toBase58(), terms.asset, terms.amount);
  await arena().pays(draft, terms, payer);
});

test('a payer whose tokens are frozen is told so', async () => {
  const { sandbox } = arena().fixture;
  const terms = arena().terms();
  const payer = await sandbox.createWallet({ usdc: '1' });
  const address = associatedTokenAddress(payer.publicKey.toBase58(), terms.asset, PROGRAMS.token);
  const account = sandbox.account(address)!;
  const data = Buffer.alloc(ACCOUNT_SIZE);
  AccountLayout.encode({ ...AccountLayout.decode(account.data), state: AccountState.Frozen }, data);
  sandbox.setAccount(address, { ...account, data });
  const { draft } = await arena().honest(terms, payer);
  const transaction = buildDraft(draft);
  await arena().turnsAway(transaction, terms, 'invalid_exact_svm_transaction_simulation_failed', 'chain');
  const payment = { scheme: 'exact', network: terms.network, transaction };
  const message = expect.stringContaining('frozen');
  expect(await arena().facilitator.verify(payment, terms)).toMatchObject({ message });
  sandbox.setAccount(address, account);
  await arena().pays(draft, terms, payer);
});

test('a recipient without a token account is refused, and good once it has one', async () => {
  const { sandbox } = arena().fixture;
  const terms = arena().terms({ payTo: Keypair.generate().publicKey.toBase58() });
  const { draft } = await arena().honest(terms);
  await arena().turnsAway(buildDraft(draft), terms, 'invalid_exact_svm_recipient_token_account_missing', 'chain');
  sandbox.fundToken(terms.payTo, terms.asset, 0n);
  await arena().pays(draft, terms);
});

test('too few compute units are refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_transaction_simulation_failed',
    refusedBy: 'chain',
    hostile: (honest) => ({
      ...honest,
      changeMessage: (it) => {
        const units = Buffer.of(2, 0x20, 0x4e, 0, 0);
        const at = it.indexOf(units);
        return Buffer.concat([it.subarray(0, at), Buffer.of(2, 0x64, 0, 0, 0), it.subarray(at + units.length)]);
      },
    }),
  }));
