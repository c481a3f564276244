import type { ServerResponse } from 'node:http';
import { get } from 'node:http';
import { closeUpstreamFixtures, openUpstreamFixture } from '../../helpers/http/upstream-fixture.js';
import { until } from '../../helpers/until.js';

afterEach(closeUpstreamFixtures);

/** An upstream that says something every few milliseconds, and whose caller leaves after its first word. */
async function left(untilEnd: number) {
  let response: ServerResponse | undefined;
  const fixture = await openUpstreamFixture(
    {
      http(_req, res) {
        response = res;
        res.write('.');
        let said = 0;
        const timer = setInterval(() => {
          said += 1;
          if (said === untilEnd) res.end('whole');
          else res.write('.');
        }, 10);
        res.once('close', () => clearInterval(timer));
      },
    },
    { proxy: { idleTimeoutMs: 300 }, forward: { timeoutMs: 300, outlivesCaller: () => true } },
  );
  const asked = get(`${fixture.url}/drips`, (res) => res.once('data', () => asked.destroy())).on('error', () => {});
  await until(() => response?.closed === true);
  return { fixture, isWhole: response?.writableFinished };
}

test('a response that others keep is taken on when its caller has left, to its end', async () => {
  const { fixture, isWhole } = await left(20);
  expect(isWhole).toBe(true);
  await until(() => fixture.outcomes.length === 1);
});

test('a response that others keep is taken on for a bounded time when its caller has left, however long it drips', async () => {
  const { fixture, isWhole } = await left(Number.POSITIVE_INFINITY);
  expect(isWhole).toBe(false);
  await until(() => fixture.outcomes.length === 1);
  expect(fixture.outcomes).toEqual([expect.objectContaining({ delivered: false, reason: 'client_gone' })]);
});
