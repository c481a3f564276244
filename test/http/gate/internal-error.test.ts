import { createRouter } from '../../../src/http/create-router.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';

const SECRET = 'postgres://user:secret@db.internal: disk full';

let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

test('a fault of ours is 500 with a problem that tells nothing of it, and is noted', async () => {
  const savePaymentRequest = () => Promise.reject(new Error(SECRET));
  const facilitator = fixture.facilitatorWith({ ledger: ledgerWith(createMemoryLedger(), { savePaymentRequest }) });
  const url = await fixture.serve((app) => app.use(createRouter({ facilitator, limits: false })));
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation();

  const body = JSON.stringify({ amount: 1, token: 'USDC', recipient: fixture.payTo });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/create-payment`, { method: 'POST', headers, body });
  const text = await answer.text();

  expect(answer.status).toBe(500);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(JSON.parse(text)).toMatchObject({ code: 'internal_error', status: 500, retryable: true });
  expect(text).not.toMatch(/secret|disk|at /);
  expect(warn).toHaveBeenCalledWith(SECRET, { code: 'TOLLHOUSE_INTERNAL', detail: expect.stringContaining(SECRET) });
  warn.mockRestore();
});
