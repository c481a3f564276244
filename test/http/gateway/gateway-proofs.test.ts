import { VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { splitAmount } from '../../../src/protocol/money/split.js';
import { CALL_PRICE, type ClientResponse, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { confirmed, sendToChain, signTransfer, transferDirectly } from '../../helpers/transactions/direct-transfer.js';
import { encodeHeader, receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();

beforeEach(() => fixture().upstream.respond((res) => void res.end('paid for')));
afterEach(() => fixture().sandbox.faults.clear());

/** A call of a project, by default the fixture's with its key. */
function show(
  proof: ProofHeaders,
  { slug, rest = '', headers }: { slug?: string; rest?: string; headers?: ProofHeaders } = {},
) {
  const { client, project, key } = fixture();
  return client.call(`${slug ?? project.slug}${rest}`, { headers: { ...(headers ?? key.headers), ...proof } });
}

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
/** Why the payment was refused, as x402 says it. */
const refusal = ({ status, body }: ClientResponse) => [status, body['code'], body['error']];

const SERVED = [200, undefined];
const USED = [402, 'payment_already_used'];
/** The upstream's own response, once more. */
const REPLAY = [200, 'paid for', 'true', null];
const replay = ({ status, text, headers }: ClientResponse) => [
  status,
  text,
  headers.get('idempotency-replayed'),
  headers.get('x-service-error'),
];
const foreign = [402, 'payment_invalid', 'invalid_proof_foreign'];

/** What a direct payment of a call says. */
const memos = ({ key }: Pick<Caller, 'key'>, { slug }: { readonly slug: string } = fixture().project) => [
  `tollhouse:${slug}:${key.id}`,
];

/** What the legs of the fixture's project are. */
function legs(total = CALL_PRICE) {
  return splitAmount(total, fixture().project.split);
}

async function expectUntouched(act: () => Promise<void>): Promise<void> {
  const before = fixture().hits();
  await act();
  expect(fixture().hits()).toBe(before);
}

describe('a signature counts once', () => {
  test('written as text or as its 64 bytes', async () => {
    const asText = await fixture().pay();
    const asBytes = await fixture().pay();
    const bytesOf = (signature: string) => ({
      'x-service-payment': Buffer.from(bs58.decode(signature)).toString('base64'),
    });
    expect(outcome(await show(asText.header))).toEqual(SERVED);
    expect(outcome(await show(bytesOf(asBytes.signature)))).toEqual(SERVED);
    await expectUntouched(async () => {
      for (const { signature, header } of [asText, asBytes]) {
        for (const written of [header, bytesOf(signature)]) {
          expect(replay(await show(written))).toEqual(REPLAY);
          expect(outcome(await show(written, { rest: '?more' }))).toEqual(USED);
        }
      }
    });
  });

  test('when twenty copies come at once', async () => {
    const { header } = await fixture().pay();
    let answered = 0;
    // The one that is served waits until all others were turned away.
    fixture().upstream.respond((res) => void until(() => answered === 19).then(() => res.end('paid for')));
    const before = fixture().hits();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await show(header);
        answered += 1;
        return answer;
      }),
    );
    expect(fixture().hits()).toBe(before + 1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    expect(others.map(outcome)).toEqual(others.map(() => [409, 'payment_in_progress']));
    expect(replay(await show(header))).toEqual(REPLAY);
    expect(fixture().hits()).toBe(before + 1);
  });

  test('through whichever door: what paid by x402 is no proof, here or elsewhere', async () => {
    const { client, key, newCaller, newProject, payer, sandbox } = fixture();
    const simple = await newProject();
    const url = `${client.url}/v1/${simple.slug}`;
    const { v2 } = await signPayment({ sandbox, payer }, url, { init: { headers: key.headers } });
    const paid = await fetch(url, { headers: { ...key.headers, ...v2 } });
    expect([paid.status, await paid.text()]).toEqual([200, 'paid for']);
    await expectUntouched(async () => {
      const proof = proofHeader(receiptOf(paid).transaction);
      const stranger = await newCaller();
      for (const rest of ['?more', '/deeper']) {
        expect(outcome(await show(proof, { slug: simple.slug, rest }))).toEqual(USED);
        expect(outcome(await show(v2, { slug: simple.slug, rest }))).toEqual(USED);
      }
      const { headers } = stranger.key;
      expect(refusal(await show(proof, { slug: simple.slug, headers }))).toEqual(foreign);
      expect(outcome(await show(v2, { slug: simple.slug, headers }))).toEqual(USED);
      expect(replay(await show(v2, { slug: simple.slug }))).toEqual(REPLAY);
      expect(outcome(await show(proof, { slug: simple.slug }))).toEqual(USED);
    });
  });

  test('what a wallet signed for x402 is no proof, though somebody else has sent it', async () => {
    const { client, feePayer, key, newProject, payer, sandbox } = fixture();
    const simple = await newProject();
    const url = `${client.url}/v1/${simple.slug}`;
    const { transaction } = await signPayment({ sandbox, payer }, url, { init: { headers: key.headers } });
    // The payer's wallet had it sent by somebody else.
    const signed = VersionedTransaction.deserialize(transaction);
    signed.sign([feePayer]);
    const signature = await sendToChain(sandbox, signed.serialize());
    await confirmed(sandbox, signature);
    const unaddressed = [402, 'payment_invalid', 'invalid_proof_unaddressed'];
    await expectUntouched(async () => {
      expect(refusal(await show(proofHeader(signature), { slug: simple.slug }))).toEqual(unaddressed);
    });
  });
});

describe('a signature is public, so it counts for whom it belongs to', () => {
  test('not on another project, though that one has the same owner, price and recipients', async () => {
    const { newProject, pay, project } = fixture();
    const twin = await newProject({ split: project.split.map(({ recipient, bps }) => ({ recipient, bps })) });
    const { header } = await pay();
    await expectUntouched(async () => expect(refusal(await show(header, { slug: twin.slug }))).toEqual(foreign));
    expect(outcome(await show(header))).toEqual(SERVED);
  });

  test('not with another key, a stranger’s or the same owner’s', async () => {
    const { client, newCaller, pay, payer } = fixture();
    const stranger = await newCaller();
    const second = await client.key(await client.signIn(payer));
    const { header } = await pay();
    await expectUntouched(async () => {
      for (const { headers } of [stranger.key, second])
        expect(refusal(await show(header, { headers }))).toEqual(foreign);
    });
    expect(outcome(await show(header))).toEqual(SERVED);
  });

  test('made without a key it belongs to the wallet that paid', async () => {
    const { client, key, newCaller, project } = fixture();
    const caller = await newCaller();
    const { header } = await client.pay({ project, payer: caller.wallet });
    await expectUntouched(async () => {
      expect(refusal(await show(header, { headers: key.headers }))).toEqual(foreign);
    });
    expect(outcome(await show(header, { headers: caller.key.headers }))).toEqual(SERVED);
  });

  test('a direct transfer by the wallet of the key’s owner counts, by a stranger’s it does not', async () => {
    const { newCaller, sandbox } = fixture();
    const [caller, stranger] = [await newCaller(), await newCaller()];
    const paid = { legs: legs(), memos: memos(caller) };
    const byStranger = await transferDirectly(sandbox, { wallet: stranger.wallet, ...paid });
    const byOwner = await transferDirectly(sandbox, { wallet: caller.wallet, ...paid });
    const { headers } = caller.key;
    await expectUntouched(async () => {
      expect(refusal(await show(proofHeader(byStranger), { headers }))).toEqual(foreign);
    });
    expect(outcome(await show(proofHeader(byOwner), { headers }))).toEqual(SERVED);
    await expectUntouched(async () => {
      expect(replay(await show(proofHeader(byOwner), { headers }))).toEqual(REPLAY);
      expect(outcome(await show(proofHeader(byOwner), { headers, rest: '?more' }))).toEqual(USED);
    });
  });
});

describe('a transfer that is not the price', () => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await fixture().newCaller();
  });

  async function transferred(...given: Parameters<typeof signTransfer>[1]['legs'][number][]): Promise<ClientResponse> {
    const signature = await transferDirectly(fixture().sandbox, {
      wallet: caller.wallet,
      legs: given,
      memos: memos(caller),
    });
    return show(proofHeader(signature), { headers: caller.key.headers });
  }

  test.each([
    ['a missing leg', () => legs().slice(0, 1)],
    [
      'a leg that is short by one',
      () => legs().map((it, index) => (index === 1 ? { ...it, amount: it.amount - 1n } : it)),
    ],
    [
      'all of it for one recipient',
      () =>
        legs()
          .slice(0, 1)
          .map((it) => ({ ...it, amount: CALL_PRICE })),
    ],
  ])('is refused: %s', async (_what, made) => {
    await expectUntouched(async () => {
      const answer = refusal(await transferred(...made()));
      expect(answer).toEqual([402, 'payment_invalid', 'invalid_transfer_leg_missing']);
    });
  });

  test('is refused: another token', async () => {
    const { sandbox, owner, partner } = fixture();
    sandbox.fundToken(caller.wallet.publicKey.toBase58(), sandbox.tokens[1]!.mint, CALL_PRICE);
    expect(
      [owner, partner].map((it) => sandbox.tokenBalance(it.publicKey.toBase58(), sandbox.tokens[1]!.mint)),
    ).toEqual([0n, 0n]);
    const signature = await transferDirectly(sandbox, {
      wallet: caller.wallet,
      legs: legs(),
      memos: memos(caller),
      token: 'USDT',
    });
    await expectUntouched(async () => {
      const answer = refusal(await show(proofHeader(signature), { headers: caller.key.headers }));
      expect(answer).toEqual([402, 'payment_invalid', 'invalid_transfer_leg_missing']);
    });
  });

  test('is refused: one that failed on the chain', async () => {
    await expectUntouched(async () => {
      const tooMuch = legs().map((it) => ({ ...it, amount: 10n ** 15n }));
      const answer = refusal(await transferred(...tooMuch));
      expect(answer).toEqual([402, 'payment_invalid', 'invalid_exact_svm_transaction_failed']);
    });
  });
});

describe('a payment that cannot be looked at yet', () => {
  test('before it is confirmed it is 402 to send again in two seconds; then it is good', async () => {
    const { newCaller, sandbox } = fixture();
    const { wallet, key } = await newCaller();
    const { bytes, signature } = await signTransfer(sandbox, { wallet, legs: legs(), memos: memos({ key }) });
    const ask = () => show(proofHeader(signature), { headers: key.headers });
    await expectUntouched(async () => {
      expect(outcome(await ask())).toEqual([402, 'payment_not_confirmed']);
      sandbox.pauseSlots();
      await sendToChain(sandbox, bytes);
      const early = await ask();
      expect([...outcome(early), early.headers.get('retry-after')]).toEqual([402, 'payment_not_confirmed', '2']);
      expect(early.headers.get('payment-required')).not.toBeNull();
      sandbox.resumeSlots();
      await confirmed(sandbox, signature);
    });
    expect(outcome(await ask())).toEqual(SERVED);
  });

  test('while the RPC is away it is 503, and the payment is not burnt', async () => {
    const { header } = await fixture().pay();
    await expectUntouched(async () => {
      fixture().sandbox.faults.add({ kind: 'disconnect' });
      const away = await show(header);
      expect(outcome(away)).toEqual([503, 'payment_backend_unavailable']);
      expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
      fixture().sandbox.faults.clear();
    });
    let again = await show(header);
    while (again.status === 503) again = await show(header);
    expect(outcome(again)).toEqual(SERVED);
  });
});

test.each([
  ['empty', { 'x-service-payment': '' }],
  ['not base64', { 'x-service-payment': '<<>>' }],
  ['some bytes', { 'x-service-payment': Buffer.alloc(63, 1).toString('base64') }],
  ['the signature itself', { 'x-service-payment': '5'.repeat(88) }],
  ['far too long', { 'x-service-payment': 'A'.repeat(8_000) }],
  ['a payload that is no JSON', { 'payment-signature': 'AAAA' }],
  ['a payload that is no payment', { 'payment-signature': encodeHeader({ x402Version: 2 }) }],
  ['a version 1 payload that is no payment', { 'x-payment': encodeHeader([]) }],
])('a payment header that is %s is 400', async (_what, header: ProofHeaders) => {
  await expectUntouched(async () => {
    const answer = await show(header);
    expect(outcome(answer)).toEqual([400, 'invalid_payment_header']);
    expect(answer.headers.get('x-service-error')).toBe('gateway');
  });
});

test('while the chain cannot be asked, it is said that the payment stays good, and it does', async () => {
  const { header } = await fixture().pay();
  const outage = fixture().sandbox.faults.add({ kind: 'error', method: 'getTransaction' });
  await expectUntouched(async () => {
    const answer = await show(header);
    expect(outcome(answer)).toEqual([503, 'payment_backend_unavailable']);
    expect(answer.body['detail']).toMatch(/stays good for 10 minutes after that: send the same request/);
    expect(answer.body['detail']).not.toContain('nothing was charged');
  });
  outage.remove();
  expect(outcome(await show(header))).toEqual(SERVED);
});

// Last: the service's clock goes on.
test('a payment that was settled here is good for its call however late that comes, once', async () => {
  const late = await fixture().pay();
  fixture().advance(3_600_000);
  expect(outcome(await show(late.header))).toEqual(SERVED);
  const headers = { ...fixture().key.headers, ...late.header };
  expect((await fixture().client.call(`${fixture().project.slug}/other`, { headers })).status).toBe(402);
});
