import { VersionedTransaction } from '@solana/web3.js';
import { CALL_PRICE, type MadeProject, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

const fixture = useGatewayFixture();

let caller: Caller;
let project: MadeProject;
beforeAll(async () => {
  caller = await fixture().newCaller();
  project = await fixture().newProject();
});

const create = (body: object) => fixture().client.ask('POST', '/create-payment', body, caller.key.headers);

test('what the 402 says to send is taken, and pays for the call', async () => {
  const { client } = fixture();
  const refused = await client.call(project.slug, { headers: caller.key.headers });
  const [, hint = ''] =
    /POST \/create-payment (\{.*?\}) and your service key/.exec(String(refused.body['detail'])) ?? [];
  const payer = caller.wallet.publicKey.toBase58();
  const asked = JSON.parse(hint);
  expect(asked).toEqual({ project: project.slug });

  const created = await create({ ...asked, payer });
  expect(created).toMatchObject({ status: 200, body: { token: 'USDC', transaction: { amount: Number(CALL_PRICE) } } });
  const { serialized } = created.body['transaction'] as { readonly serialized: string };
  const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
  transaction.sign([caller.wallet]);
  const signed_transaction = Buffer.from(transaction.serialize()).toString('base64');
  const settled = await client.ask('POST', '/settle', { payment_id: created.body['payment_id'], signed_transaction });
  const proof = proofHeader(String(settled.body['tx_signature']));
  const served = await client.call(project.slug, { headers: { ...caller.key.headers, ...proof } });
  expect(served.status).toBe(200);
});

test('it is the same payment as with all that is said', async () => {
  const recipient = project.split[0]?.recipient;
  const [short, long] = await Promise.all([
    create({ project: project.slug }),
    create({ project: project.slug, amount: '0.012347', token: 'USDC', recipient }),
  ]);
  const asked = async ({ body }: typeof short) => {
    const found = await fixture().client.ask('GET', `/payments/${String(body['payment_id'])}`);
    const { amount, token, split, recipient: first } = found.body;
    return { amount, token, split, first };
  };
  expect(await asked(short)).toMatchObject({ amount: Number(CALL_PRICE), token: 'USDC', first: recipient });
  expect(await asked(short)).toEqual(await asked(long));
});

test.each([
  [{ amount: 1 }, 'invalid_amount'],
  [{ token: 'USDT' }, 'invalid_token'],
  [{ recipient: '11111111111111111111111111111111' }, 'invalid_recipient'],
  [{ split: [] }, 'invalid_split'],
  [{ project: 'nowhere' }, 'project_not_found'],
  [{ project: null }, 'project_not_found'],
  [{ amuont: 1 }, 'invalid_request'],
])('what is said beside the project is checked as ever: %j', async (more, code) => {
  expect((await create({ project: project.slug, ...more })).body).toMatchObject({ code });
});

test('without a project all three are needed', async () => {
  expect(await create({})).toMatchObject({
    status: 400,
    body: {
      code: 'invalid_amount',
      errors: [{ pointer: '/amount' }, { pointer: '/token' }, { pointer: '/recipient' }],
    },
  });
  expect((await create({ slug: project.slug })).body['detail']).toContain('did you mean "project"?');
});
