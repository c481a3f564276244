import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';

let fixture: TollFixture;
let storage: Storage;
let gateway: Gateway;
let me: string;

beforeAll(async () => {
  fixture = await openTollFixture();
  storage = await openStorage('memory:');
  const facilitator = fixture.facilitatorWith({ storage });
  gateway = createGateway({ facilitator, allowPrivateNetworks: ['127.0.0.0/8'] });
  me = fixture.payTo;
});
afterAll(async () => {
  await gateway.close();
  await fixture.close();
  await storage.close();
});

const SPENDING = { limit: '10', token: 'USDC', window: 'day' } as const;
const PROJECT = {
  name: 'Weather',
  upstream: { url: 'http://127.0.0.1:9999' },
  pricing: { amount: '0.01', token: 'USDC' },
} as const;

const OFFER = { amount: '0.5', token: 'USDC', pass: { uses: 100 } } as const;

/** A refusal as it is told: `validation_failed`, the field, and what is said of it. */
const refusal = (pointer: string, told: string) => ({
  code: 'validation_failed',
  message: expect.stringContaining(told),
  context: { errors: [{ pointer }] },
});

test.each([
  [{}, '/name', 'must be a text'],
  [{ name: 'x', budget: '10 USDC/day' }, '/budget', 'did you mean "spending"?'],
  [{ name: 'x', spendings: SPENDING }, '/spendings', 'did you mean "spending"?'],
  [{ name: 'x', spending: { ...SPENDING, window: 'daily' } }, '/spending/window', 'one of hour, day, month, total'],
  [{ name: 'x', spending: { limit: '10', token: 'USDC' } }, '/spending/window', 'one of hour, day, month, total'],
  [{ name: 'x', spending: { ...SPENDING, windw: 'day' } }, '/spending/windw', 'did you mean "window"?'],
  [{ name: 'x', expiresAt: 'tomorrow' }, '/expiresAt', 'milliseconds since the epoch'],
  [{ name: 'x', expiresAt: '2030-01-01' }, '/expiresAt', 'milliseconds since the epoch'],
  [{ name: 'x', scopes: ['calls'] }, '/scopes/0', 'must be one of call,'],
  [{ name: 'x', scopes: 'call' }, '/scopes', 'must be a list'],
  [{ name: 'x', allowedIps: ['localhost'] }, '/allowed_ips/0', 'must be an IP address'],
  [{ name: 'x', metadata: { n: 1 } }, '/metadata/n', 'must be a text'],
  [undefined, '', 'must be an object, as in { name: "weather bot" }'],
])('a program that asks for a key wrongly is told where: %j', async (wanted, pointer, told) => {
  await expect(gateway.keys.generate(me, wanted as never)).rejects.toMatchObject(refusal(pointer, told));
});

test('a key that is asked for rightly has its budget and its end', async () => {
  const expiresAt = Date.now() + 60_000;
  const { key } = await gateway.keys.generate(me, { name: ' x ', spending: SPENDING, expiresAt, scopes: ['call'] });
  expect(key).toMatchObject({ scopes: ['call'], expiresAt, spending: { limit: 10_000_000n, window: 'day' } });
  expect(await gateway.keys.list({ wallet: me }, { limit: 5 })).toMatchObject([{ id: key.id }]);
  await gateway.keys.revoke({ wallet: me }, key.id);
});

test('whose it is must be a wallet', async () => {
  const wanted = refusal('', "must be the owner's wallet");
  await expect(gateway.keys.generate('abc', { name: 'x' })).rejects.toMatchObject(wanted);
  await expect(gateway.projects.create('abc', { slug: 'abc', ...PROJECT })).rejects.toMatchObject(wanted);
  await expect(gateway.keys.list(me as never, { limit: 5 })).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(gateway.projects.get(me as never)).rejects.toMatchObject({ code: 'validation_failed' });
});

test.each([
  [
    { ...PROJECT, slug: 'abc', upstream: undefined },
    '/upstream',
    'must be { url, timeoutMs?, retries?, headers?, query?, health? }',
  ],
  [{ ...PROJECT, slug: 'abc', name: undefined }, '/name', 'must be a text'],
  [undefined, '', 'must be an object, as in { slug, name,'],
  [{ ...PROJECT, slug: 'A B' }, '/slug', 'must be 3 to 40 letters'],
  [{ ...PROJECT, slug: 'abc', price: '0.01' }, '/price', 'did you mean "pricing"?'],
  [
    { ...PROJECT, slug: 'abc', pricing: { ...PROJECT.pricing, amuont: 1 } },
    '/pricing/amuont',
    'did you mean "amount"?',
  ],
  [
    { ...PROJECT, slug: 'abc', pricing: { offers: [{ ...OFFER, pass: { use: 5 } }] } },
    '/pricing/offers/0/pass/use',
    'did you mean "uses"?',
  ],
  [
    { ...PROJECT, slug: 'abc', pricing: { offers: [{ ...OFFER, pass: { uses: 0 } }] } },
    '/pricing/offers/0/pass/uses',
    'must be at least 1',
  ],
  [{ ...PROJECT, slug: 'abc', pricing: { offers: {} } }, '/pricing/offers', 'must be a list of'],
  [{ ...PROJECT, slug: 'abc', visibility: 'public' }, '/visibility', '"listed", "unlisted" or "private"'],
  [{ ...PROJECT, slug: 'abc', limits: { perSecond: '5' } }, '/limits/perSecond', 'whole number of calls'],
  [{ ...PROJECT, slug: 'abc', openapi: 'x' }, '/openapi', 'must be an object'],
])('a program that makes a project wrongly is told where: %j', async (draft, pointer, told) => {
  await expect(gateway.projects.create(me, draft as never)).rejects.toMatchObject(refusal(pointer, told));
});

test('a project is made and changed by a program, and a change that is misspelt changes nothing', async () => {
  const { project } = await gateway.projects.create(me, { slug: 'weather', ...PROJECT });
  const ref = { owner: me, id: project.id };
  await expect(gateway.projects.update(ref, { limits: {} } as never)).rejects.toMatchObject({
    code: 'validation_failed',
    message: expect.stringContaining('must be a function that makes the new project'),
  });
  const misspelt = gateway.projects.update(ref, (draft) => ({ ...draft, limit: { perSecond: 5 } }) as never);
  await expect(misspelt).rejects.toMatchObject(refusal('/limit', 'did you mean "limits"?'));
  const changed = await gateway.projects.update(ref, (draft) => ({ ...draft, limits: { perSecond: 5 } }));
  expect(changed.project).toMatchObject({ version: 2, limits: { perSecond: 5, concurrent: 50 } });
});
