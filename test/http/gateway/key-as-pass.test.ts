import type { Request, Response } from 'express';
import { newId } from '../../../src/lib/ids.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import type { MadeKey, MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const PACK = { amount: '0.05', token: 'USDC', pass: { uses: 4 } };

describe.each(DAILY_DATABASES)('a service key whose owner has a pass, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true });
  let fixture: GatewayFixture;
  let caller: Caller;
  let app: string;

  beforeAll(async () => {
    fixture = opened();
    const { facilitator, gateway } = fixture;
    const payTo = fixture.owner.publicKey.toBase58();
    const send = (req: Request, res: Response) => void res.json({ by: req.pass?.wallet ?? null });
    app = await fixture.serve((it) => {
      const key = serviceKeyAuth({ gateway });
      const sold = requirePayment({ facilitator, payTo, price: '0.05 USDC', pass: { uses: 4 } });
      it.get('/row', key, sold, send);
      it.get('/any', anyOf(key, sold), send);
      it.get('/reading', serviceKeyAuth({ gateway, scopes: ['spending:read'] }), sold, send);
      it.get('/alone', key, send);
      const ofProject = serviceKeyAuth({ gateway, project: fixture.project.id });
      it.get('/own', ofProject, send);
      it.get('/own-row', ofProject, sold, send);
      const pass = { uses: 4, group: 'weather' };
      it.get('/group', key, requirePayment({ facilitator, payTo, price: '0.05 USDC', pass }), send);
    });
  });
  beforeEach(async () => {
    fixture.upstream.respond((res) => void res.end('paid for'));
    caller = await fixture.newCaller();
  });

  const newKey = async (wanted: object = {}, { wallet } = caller) =>
    fixture.client.key(await fixture.client.signIn(wallet), { ...wanted });
  const urlOf = ({ slug }: MadeProject) => `${fixture.client.url}/v1/${slug}`;
  const buy = (url: string, key = caller.key) =>
    buyPass({ sandbox: fixture.sandbox, payer: caller.wallet }, url, { headers: key.headers });
  const get = (url: string, { headers }: MadeKey) => fetch(url, { headers });
  const ask = async (url: string, key: MadeKey) => passAnswer(await get(url, key));

  test('uses it at the project without a sign-in, and is told no token of it', async () => {
    const url = urlOf(await fixture.newProject({ pricing: { offers: [PACK] } }));
    await buy(url);
    const other = await newKey();
    const answer = await get(url, other);
    expect([answer.status, answer.headers.get('access-pass-remaining')]).toEqual([200, '2']);
    expect(answer.headers.get('access-pass')).toBeNull();
    expect(await ask(url, caller.key)).toMatchObject({ status: 200, left: '1' });
    fixture.upstream.respond((res) => void res.writeHead(500).end());
    expect(await ask(url, other)).toMatchObject({ status: 500, left: '1' });
    fixture.upstream.respond((res) => void res.end('paid for'));
    expect(await ask(url, other)).toMatchObject({ status: 200, left: '0' });
    expect(await ask(url, other)).toMatchObject({ status: 402, code: 'pass_used_up' });
  });

  test('is none of another owner, of another project, of a pass that was revoked, and of one that may not call', async () => {
    const url = urlOf(await fixture.newProject({ pricing: { offers: [PACK] } }));
    const another = urlOf(await fixture.newProject({ pricing: { offers: [PACK] } }));
    await buy(url);
    const [stranger, reader] = [await fixture.newCaller(), await newKey({ scopes: ['spending:read'] })];
    expect(await ask(url, stranger.key)).toMatchObject({ status: 402, code: 'payment_required' });
    expect(await ask(another, caller.key)).toMatchObject({ status: 402, code: 'payment_required' });
    expect(await ask(url, reader)).toMatchObject({ status: 403, code: 'insufficient_scope' });
    const { passes } = fixture.facilitator;
    const [pass] = await passes.list(caller.wallet.publicKey.toBase58());
    await passes.revoke(pass!.id);
    expect(await ask(url, caller.key)).toMatchObject({ status: 402, code: 'pass_revoked' });
  });

  test('whose budget is used up by what was bought uses it still', async () => {
    const url = urlOf(await fixture.newProject({ pricing: { offers: [PACK] } }));
    const tight = await newKey({ spending: { limit: '0.05', token: 'USDC', window: 'total' } });
    await buy(url, tight);
    expect(await ask(url, tight)).toMatchObject({ status: 200, left: '2' });
    const by = await fixture.client.signIn(caller.wallet);
    const { body } = await fixture.client.ask('GET', `/api/v1/spending?key=${tight.id}`, undefined, by);
    expect(body['budgets']).toMatchObject([{ used: '0.05', left: '0' }]);
  });

  test('uses it at a gate of an app behind serviceKeyAuth, by the owner that the key has proven', async () => {
    await buy(`${app}/row`);
    const answer = await get(`${app}/row`, await newKey());
    expect([answer.status, answer.headers.get('access-pass-remaining')]).toEqual([200, '2']);
    expect(answer.headers.get('access-pass')).toBeNull();
    expect(await answer.json()).toEqual({ by: caller.wallet.publicKey.toBase58() });
    const stranger = await fixture.newCaller();
    expect(await ask(`${app}/row`, stranger.key)).toMatchObject({ status: 402, code: 'payment_required' });
  });

  test('opens what a key alone opens, and then nothing is taken', async () => {
    await buy(`${app}/row`);
    expect(await ask(`${app}/any`, caller.key)).toEqual({ status: 200, left: null, code: undefined });
    expect(await ask(`${app}/row`, caller.key)).toMatchObject({ left: '2' });
  });

  test('uses nothing where it may not spend: without the scope to call', async () => {
    await buy(`${app}/reading`);
    expect(await ask(`${app}/reading`, caller.key)).toMatchObject({ status: 200, left: '2' });
    const reader = await newKey({ scopes: ['spending:read'] });
    expect(await ask(`${app}/reading`, reader)).toMatchObject({ status: 402, code: 'payment_required' });
  });

  test.each([
    ['project_id', (id: string) => ({ project_id: id })],
    ['allowed_projects', (id: string) => ({ allowed_projects: [id] })],
  ])('that names projects by %s opens and pays nothing of an app but what is of them', async (_field, restrict) => {
    const { id } = fixture.project;
    const owner = { ...caller, wallet: fixture.owner };
    const [limited, free] = [await newKey(restrict(id), owner), await newKey({}, owner)];
    const other = await fixture.newProject();
    const elsewhere = await newKey(restrict(other.id), owner);
    const { passes } = fixture.facilitator;
    for (const path of ['/row', '/own-row']) await buy(app + path);
    const wallet = fixture.owner.publicKey.toBase58();
    for (const pass of await passes.list(caller.wallet.publicKey.toBase58())) {
      await passes.open({ ...pass, id: newId('pas'), paymentId: newId('call'), wallet });
    }
    for (const path of ['/alone', '/row', '/any']) {
      expect(await ask(`${app}${path}`, limited)).toMatchObject({ status: 403, code: 'key_project_not_allowed' });
    }
    expect(await ask(`${app}/own`, elsewhere)).toMatchObject({ status: 403, code: 'key_project_not_allowed' });
    expect(await ask(`${app}/own`, limited)).toMatchObject({ status: 200 });
    expect(await ask(`${app}/own`, free)).toMatchObject({ status: 200 });
    expect(await ask(`${app}/alone`, free)).toMatchObject({ status: 200 });
    expect(await ask(`${app}/own-row`, elsewhere)).toMatchObject({ status: 403, code: 'key_project_not_allowed' });
    expect(await ask(`${app}/own-row`, limited)).toMatchObject({ status: 200 });
    expect(await ask(`${app}/row`, free)).toMatchObject({ status: 200 });
  });

  test('of a group uses it at the project and at the gates of the app that its seller is paid at', async () => {
    const group = { ...PACK, pass: { uses: 4, group: 'weather' } };
    const url = urlOf(await fixture.newProject({ pricing: { offers: [group] } }));
    await buy(url);
    expect(await ask(`${app}/group`, caller.key)).toMatchObject({ status: 200, left: '2' });
    expect(await ask(url, caller.key)).toMatchObject({ status: 200, left: '1' });
    expect(await ask(`${app}/row`, caller.key)).toMatchObject({ status: 402, code: 'payment_required' });
  });
});
