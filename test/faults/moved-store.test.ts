import { rename } from 'node:fs/promises';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { until } from '../helpers/until.js';

const folder = testFolder();
let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

describe.each([
  ['the database itself', ''],
  ['the log beside it', '-wal'],
  ['the memory beside it', '-shm'],
])('a gate whose health nobody asks for, with %s moved away', (_what, part) => {
  let storage: Storage;
  let path: string;
  let warn: jest.SpyInstance;

  beforeAll(async () => {
    path = folder.newPath('db');
    storage = await openStorage(`sqlite:${path}`);
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  });
  afterAll(async () => {
    warn.mockRestore();
    await storage.close();
  });

  test('offers nothing, says so once, and sells again when the file is back', async () => {
    const facilitator = fixture.facilitatorWith({ storage });
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }));
    });
    const status = async () => (await fetch(`${url}/report`)).status;
    expect(await status()).toBe(402);
    expect(storage.misplaced()).toBeUndefined();

    await rename(path + part, `${path}.aside`);
    await until(async () => (await status()) === 503);
    expect(storage.misplaced()).toBe(path + part);

    await rename(`${path}.aside`, path + part);
    await until(async () => (await status()) === 402);
    const told = warn.mock.calls.filter(([, options]) => options?.code === 'TOLLHOUSE_STORE_MOVED');
    expect(told).toHaveLength(1);
  });
});
