import { AuthorityType, createSetAuthorityInstruction } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { RequirePaymentOptions } from '../../../src/middleware/terms/payment-options.js';
import type { Terms } from '../../../src/protocol/types.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { refusalOf, tokenNamed, useArena } from '../../helpers/transactions/hostile.js';
import { landAs } from '../../helpers/transactions/land-as.js';
import { askTerms, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const arena = useArena();
const reason = 'invalid_exact_svm_recipient_token_account_not_owned';

/** A seller with a token account, one who is to get it, and terms that pay the seller. */
async function openSale() {
  const { sandbox } = arena().fixture;
  const [seller, thief] = [
    await sandbox.createWallet({ usdc: '0', sol: '1' }),
    await sandbox.createWallet({ sol: '1' }),
  ];
  const terms = arena().terms({ payTo: seller.publicKey.toBase58() });
  const account = new PublicKey(associatedTokenAddress(terms.payTo, terms.asset, PROGRAMS.token));
  const pass = (from: Keypair, to: Keypair): Promise<void> => {
    const ownership = AuthorityType.AccountOwner;
    return landAs(
      arena().fixture,
      from,
      createSetAuthorityInstruction(account, from.publicKey, ownership, to.publicKey),
    );
  };
  return { terms, handOver: () => pass(seller, thief), giveBack: () => pass(thief, seller) };
}

test('a seller whose token account belongs to another wallet sells nothing, and sells again once it is back', async () => {
  const { terms, handOver, giveBack } = await openSale();
  const { draft } = await arena().honest(terms);
  await handOver();
  await arena().turnsAway(buildDraft(draft), terms, reason, 'chain');
  await giveBack();
  await arena().pays(draft, terms);
});

test('who settles without having verified is refused as well, at no cost', async () => {
  const { terms, handOver, giveBack } = await openSale();
  const { fixture, facilitator } = arena();
  const { draft } = await arena().honest(terms);
  const { scheme, network } = terms;
  const payment = { scheme, network, transaction: buildDraft(draft) };
  await handOver();
  const before = fixture.sandbox.balance(terms.feePayer!);
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason });
  expect(settlement).not.toHaveProperty('signature');
  expect(fixture.sandbox.balance(terms.feePayer!)).toBe(before);
  await giveBack();
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
});

test('a delegate on the account of the seller is no concern of who pays', async () => {
  const { terms } = await openSale();
  const { sandbox } = arena().fixture;
  const account = associatedTokenAddress(terms.payTo, terms.asset, PROGRAMS.token);
  const state = sandbox.account(account)!;
  const data = Uint8Array.from(state.data);
  data.set([1, 0, 0, 0, ...arena().fixture.payer.publicKey.toBytes()], 72);
  sandbox.setAccount(account, { ...state, data });
  await arena().pays((await arena().honest(terms)).draft, terms);
});

/** A gate of a facilitator of its own, and how often its handler ran. */
async function openShop({ payTo }: Terms, facilitator: EmbeddedFacilitator, options: Partial<RequirePaymentOptions>) {
  let runs = 0;
  const url = await arena().fixture.serve((app) => {
    const gate = requirePayment({ facilitator, payTo, price: '$0.01', ...options });
    app.get('/', gate, (_req, res) => {
      runs += 1;
      res.json({ served: true });
    });
  });
  const { sandbox } = arena().fixture;
  // Each by a payer of its own: of several payments of one wallet the later are looked at.
  const sign = async () => (await signPayment({ sandbox, payer: await sandbox.createWallet({ usdc: '1' }) }, url)).v2;
  return { url, runs: () => runs, sign, pay: async () => fetch(url, { headers: await sign() }) };
}

test("with settle: 'before' nothing is sent to it, and whose it is was asked once for all payments", async () => {
  const { fixture } = arena();
  const { sandbox } = fixture;
  const { terms, handOver, giveBack } = await openSale();
  const shop = await openShop(terms, fixture.facilitatorWith({ blockhashHints: false }), { settle: 'before' });
  await handOver();
  sandbox.resetCalls();
  expect(await refusalOf(await shop.pay())).toEqual({ status: 402, reason });
  expect([sandbox.calls.sendTransaction, shop.runs()]).toEqual([0, 0]);
  await giveBack();
  expect((await shop.pay()).status).toBe(200);
  const headers = await shop.sign();
  sandbox.resetCalls();
  expect((await fetch(shop.url, { headers })).status).toBe(200);
  expect(sandbox.calls).toMatchObject({ getMultipleAccounts: 0, simulateTransaction: 0, sendTransaction: 1 });
  expect(sandbox.tokenBalance(terms.payTo, terms.asset)).toBe(2n * terms.amount);
});

test('the operator hears of one that was handed over long after the first look at the set-up', async () => {
  const warned: string[] = [];
  jest.spyOn(process, 'emitWarning').mockImplementation((...[text]) => void warned.push(String(text)));
  let now = Date.now();
  const { fixture } = arena();
  const { terms, handOver } = await openSale();
  const facilitator = fixture.facilitatorWith({ blockhashHints: false, check: true, now: () => now });
  const shop = await openShop(terms, facilitator, {});
  await askTerms(shop.url);
  await until(() => facilitator.setup.known()?.ok === true);
  expect((await shop.pay()).status).toBe(200);

  await handOver();
  now += 120_000;
  expect(await refusalOf(await shop.pay())).toEqual({ status: 402, reason });
  await until(() => facilitator.setup.known()?.ok === false);
  expect(facilitator.setup.known()?.findings.map(({ code }) => code)).toEqual(['recipient_account_foreign']);
  expect(warned.join()).toContain(`the USDC token account of ${terms.payTo}`);
  expect((await facilitator.health()).status).toBe('degraded');
  jest.restoreAllMocks();
});

test('of a Token-2022 token it is the same', async () => {
  const { fixture, facilitator } = arena();
  const { mint } = tokenNamed(facilitator, 'PYUSD');
  const terms = arena().terms({ asset: mint });
  const { draft } = await arena().honest(terms);
  const account = associatedTokenAddress(terms.payTo, mint, PROGRAMS.token2022);
  const state = fixture.sandbox.account(account)!;
  const data = Uint8Array.from(state.data);
  data.set(fixture.payer.publicKey.toBytes(), 32);
  fixture.sandbox.setAccount(account, { ...state, data });
  await arena().turnsAway(buildDraft(draft), terms, reason, 'chain');
  fixture.sandbox.setAccount(account, state);
  await arena().pays(draft, terms);
});
