import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture } from '../../helpers/fixtures/toll-fixture.js';

// In a file of its own: it is warned once in a process, and what a suite of mutants runs is run there again and again.
test('payments that are remembered in memory only are warned of in production, once, with a code that can be switched off', async () => {
  const fixture = await openTollFixture();
  const environment = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const memory = await openStorage('memory:');
  const lasting = { ...memory.ledger };
  Reflect.deleteProperty(lasting, 'remembersSince');
  fixture.facilitatorWith({ ledger: lasting });
  const quiet = warn.mock.calls.length;
  fixture.facilitatorWith({ ledger: memory.ledger });
  fixture.facilitatorWith({});
  const calls = [...warn.mock.calls];
  warn.mockRestore();
  process.env.NODE_ENV = environment;
  await fixture.close();

  expect(quiet).toBe(0);
  expect(calls).toEqual([
    [expect.stringContaining('--disable-warning=TOLLHOUSE_MEMORY_LEDGER'), { code: 'TOLLHOUSE_MEMORY_LEDGER' }],
  ]);
});
