import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { signPayment } from '../../helpers/transactions/payments.js';

/** So many groups that were offered before are remembered. */
const REMEMBERED = 20;
const USES = 10;

describe('an offer of a group that its seller has taken back', () => {
  const fixture = useGatewayFixture();
  let caller: Caller;
  let project: MadeProject;

  beforeEach(async () => {
    fixture().upstream.respond((res) => void res.end('paid for'));
    caller = await fixture().newCaller();
    project = await fixture().newProject({ pricing: { offers: [offerOf(0)] } });
  });

  const offerOf = (group: number, uses = USES) => {
    return { amount: '0.05', token: 'USDC', pass: { uses, group: `group-${group}` } };
  };
  const url = () => `${fixture().client.url}/v1/${project.slug}`;
  const wallet = () => ({ sandbox: fixture().sandbox, payer: caller.wallet });
  const address = () => caller.wallet.publicKey.toBase58();
  const spent = () => -fixture().sandbox.tokenBalance(address(), fixture().sandbox.tokens[0]!.mint);
  const call = async (headers: ProofHeaders) =>
    passAnswer(await fetch(url(), { headers: { ...caller.key.headers, ...headers } }));
  const passes = () => fixture().facilitator.passes.list(address());

  async function offer(...offers: readonly object[]): Promise<void> {
    const path = `/api/v1/projects/${project.id}`;
    const { status, text } = await fixture().client.ask('PATCH', path, { pricing: { offers } }, fixture().asOwner);
    expect([status, text]).toEqual([200, text]);
  }

  /** Takes back one group after the other. */
  async function offerOthers(last: number, first = 1): Promise<void> {
    for (let group = first; group <= last; group += 1) await offer(offerOf(group));
  }

  test('covers calls among the last twenty; then a call is 402 and takes nothing, until it is offered again', async () => {
    const { token } = await buyPass(wallet(), url(), { headers: caller.key.headers });
    await offerOthers(REMEMBERED);
    expect(await call(token)).toMatchObject({ status: 200, left: String(USES - 2) });
    const paid = spent();
    await offerOthers(REMEMBERED + 1, REMEMBERED + 1);
    expect(await call(token)).toMatchObject({ status: 402, code: 'pass_of_another_route' });
    expect([await passes(), spent() - paid]).toMatchObject([[{ left: BigInt(USES - 2) }], 0n]);
    await offer(offerOf(0));
    expect(await call(token)).toMatchObject({ status: 200, left: String(USES - 3) });
    expect(spent()).toBe(paid);
  });

  test.each([1, REMEMBERED + 1])(
    'is not paid by who has accepted it, and nothing else is bought for that, %d offers later',
    async (changes) => {
      const { v2 } = await signPayment(wallet(), url(), { init: { headers: caller.key.headers } });
      const paid = spent();
      await offerOthers(changes);
      expect(await call(v2)).toMatchObject({ status: 402, code: 'no_matching_requirements' });
      expect([await passes(), spent() - paid]).toEqual([[], 0n]);
    },
  );

  test('is not paid by who has accepted more of it than is offered for the same price now', async () => {
    const { v2 } = await signPayment(wallet(), url(), { init: { headers: caller.key.headers } });
    const paid = spent();
    await offer(offerOf(0, USES - 1));
    expect(await call(v2)).toMatchObject({ status: 402, code: 'no_matching_requirements' });
    expect([await passes(), spent() - paid]).toEqual([[], 0n]);
  });

  test('leaves who has paid for a call that failed with all of it, whatever is offered when he comes again', async () => {
    fixture().upstream.respond((res) => void res.writeHead(500).end('no'));
    const { v2 } = await signPayment(wallet(), url(), { init: { headers: caller.key.headers } });
    const failed = await fetch(url(), { headers: { ...caller.key.headers, ...v2 } });
    expect(await passAnswer(failed.clone())).toMatchObject({ status: 500, left: String(USES) });
    const token = { 'access-pass': failed.headers.get('access-pass') ?? '' };
    fixture().upstream.respond((res) => void res.end('paid for'));
    const paid = spent();
    await offerOthers(REMEMBERED + 1);
    for (const shown of [v2, token, {}]) expect(await call(shown)).toMatchObject({ status: 402 });
    expect([await passes(), spent() - paid]).toMatchObject([[{ left: BigInt(USES) }], 0n]);
    await offer(offerOf(0));
    expect(await call(token)).toMatchObject({ status: 200, left: String(USES - 1) });
    // Its key is of the wallet that has paid.
    expect(await call({})).toMatchObject({ status: 200, left: String(USES - 2) });
    expect(spent()).toBe(paid);
  });
});
