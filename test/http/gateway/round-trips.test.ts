import { callMemo } from '../../../src/gateway/calls/call.js';
import type { SqlDatabase, Step } from '../../../src/storage/sql/sql-database.js';
import { CALL_PRICE, type MadeProject, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { BOTH_DATABASES } from '../../helpers/storage/both-databases.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';
import { until } from '../../helpers/until.js';

/** What is done from time to time, however many calls there are. */
const IN_BACKGROUND =
  /outbox|fanned_out|delivery|health|suspension|prune|touch|payout|unresolved|interrupted|untold_passes|answer_find_largest|take_request_looks/;
const CALLS = 5;

/** The trips that were made as often as calls: whatever else runs by the clock was not. */
function perCall(trips: readonly string[]): string[] {
  return trips.filter((trip) => trips.filter((other) => other === trip).length >= CALLS);
}

describe.each(BOTH_DATABASES)('on %s', (name, openDatabase) => {
  let standing: number | undefined;
  // What is looked up anew after a second is looked up once here, however slow the machine is.
  const clock = () => standing ?? Date.now();
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true, limitScale: 100, clock });
  let fixture: GatewayFixture;
  let caller: Caller;
  beforeAll(async () => {
    fixture = opened();
    fixture.upstream.respond((res) => void res.end('paid for'));
    caller = await fixture.newCaller();
  });
  afterEach(() => {
    standing = undefined;
  });

  /** The trips to the database while something is done, each as the names of its statements. */
  async function tripsOf(work: () => Promise<unknown>, isOver: (trips: readonly string[]) => boolean) {
    const { database } = fixture.storage;
    const trips: string[] = [];
    const note = (...steps: readonly Step[]) => void trips.push(steps.map(([it]) => it.name).join(' '));
    const { query, queryApart, batch, batchIf } = database;
    const noted: Pick<SqlDatabase, 'query' | 'queryApart' | 'batch' | 'batchIf'> = {
      query(...step) {
        note(step);
        return query(...step);
      },
      queryApart(...step) {
        note(step);
        return queryApart(...step);
      },
      batch(steps) {
        note(...steps);
        return batch(steps);
      },
      batchIf(guard, steps, first = []) {
        note(...first, guard, ...steps);
        return batchIf(guard, steps, first);
      },
    };
    Object.assign(database, noted);
    const own = () => trips.filter((trip) => !IN_BACKGROUND.test(trip));
    try {
      await work();
      await until(() => isOver(own()));
    } finally {
      Object.assign(database, { query, queryApart, batch, batchIf });
    }
    return perCall(own());
  }

  const call = async ({ slug }: MadeProject, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${fixture.client.url}/v1/${slug}`, { headers: { ...caller.key.headers, ...headers } });
    expect([answer.status, await answer.text()]).toEqual([200, 'paid for']);
  };
  const isWritten = (trip: string) => trip.includes('finish_calls') || trip.includes('insert_call');

  test('a paid call goes to the database twice: to claim its payment, and to be written with its response', async () => {
    const project = await fixture.newProject();
    const legs = [{ recipient: fixture.owner.publicKey.toBase58(), amount: CALL_PRICE }];
    const memos = [callMemo(project, caller.key.id)];
    const pay = async () =>
      proofHeader(await transferDirectly(fixture.sandbox, { wallet: caller.wallet, legs, memos }));
    const proofs: Readonly<Record<string, string>>[] = [];
    for (let made = 0; made < CALLS; made += 1) proofs.push(await pay());
    const first = await pay();
    standing = Date.now();
    await call(project, first);

    const trips = await tripsOf(
      async () => {
        for (const proof of proofs) await call(project, proof);
      },
      (own) => own.filter(isWritten).length === CALLS,
    );
    expect(trips).toHaveLength(2 * CALLS);
  });

  test('a call that a pass covers goes to the database twice: to take a use, and to be written', async () => {
    const pricing = { offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 100 } }] };
    const project = await fixture.newProject({ pricing });
    const url = `${fixture.client.url}/v1/${project.slug}`;
    const payer = { sandbox: fixture.sandbox, payer: caller.wallet };
    const { token } = await buyPass(payer, url, { headers: caller.key.headers });
    const shown = token as Readonly<Record<string, string>>;
    // The 402 of the purchase is counted a second later, which may be while calls are watched.
    await fixture.storage.gateway.book.flush();
    standing = Date.now();
    await call(project, shown);

    const trips = await tripsOf(
      async () => {
        for (let made = 0; made < CALLS; made += 1) await call(project, shown);
      },
      (own) => own.filter(isWritten).length === CALLS,
    );
    expect(trips).toHaveLength(2 * CALLS);
  });
});
