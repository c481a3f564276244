import type { Broadcast, ClaimRequest, Ledger, Outcome, PaymentRecord } from '../../src/storage/ledger/ledger.js';
import type { LedgerUnderTest } from './ledger.js';
import { newRequest } from './ledger-requests.js';
import { LEASE_MS, newClaim, rivalOf, TERMS } from './ledger-samples.js';

/*
 * The table at `PaymentState`, cell by cell. What a cell says:
 *
 *   new      won, bound by this claim, and as if it had never been brought before
 *   bound    won, as it was, and bound to the use by this claim
 *   won      won, as it was, and bound before
 *   busy, closed, foreign   not won, and nothing is changed
 */
const CLAIMS = `
  of a bound payment for  | unknown | claimed | claimed, held | broadcast | broadcast, held | confirmed | confirmed, held | final
  the same use            | new     | won     | busy          | won       | busy            | won       | busy            | closed
  another resource        | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
  another request         | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
  another secret          | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
  no request              | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
  no secret               | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
  neither                 | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
`;
const UNBOUND_CLAIMS = `
  of an unbound payment for | unknown | claimed | claimed, held | broadcast | broadcast, held | confirmed | confirmed, held | final
  the same use              | new     | bound   | busy          | bound     | busy            | bound     | busy            | closed
  no request                | new     | bound   | busy          | bound     | busy            | bound     | busy            | closed
  no secret                 | new     | bound   | busy          | bound     | busy            | bound     | busy            | closed
  neither                   | new     | won     | busy          | won       | busy            | won       | busy            | closed
  another resource          | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
`;
/** What is bound to a request only, or to a secret only, is bound to the other by the claim that names it. */
const HALF_BOUND_CLAIMS = `
  of a half bound payment for             | unknown | claimed | claimed, held | broadcast | broadcast, held | confirmed | confirmed, held | final
  the request it has, and a secret        | new     | bound   | busy          | bound     | busy            | bound     | busy            | closed
  the request it has, and no secret       | new     | won     | busy          | won       | busy            | won       | busy            | closed
  another request than it has             | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
  the secret it has, and a request        | new     | bound   | busy          | bound     | busy            | bound     | busy            | closed
  the secret it has, and no request       | new     | won     | busy          | won       | busy            | won       | busy            | closed
  another secret than it has              | new     | new     | foreign       | foreign   | foreign         | foreign   | foreign         | foreign
`;

/*
 * The verbs of the one who holds it, also when its lease is over and nobody else has taken it:
 *
 *   a state  it is in that state, with what the verb writes; the holder holds it unless that is final
 *   gone     as if it had never been brought
 *   kept     as it was, and held by nobody
 *   longer   as it was, and held for as long as was asked
 *   counted  one more run of the handler
 *   no       the verb answers false, and nothing is changed
 *
 * Whoever does not hold it, or not any more, is answered `no` in each.
 */
const VERBS = `
  verb                           | claimed   | broadcast | confirmed | unknown | final
  recordBroadcast, all           | broadcast | broadcast | no        | no      | no
  recordBroadcast, nothing       | broadcast | broadcast | no        | no      | no
  recordOutcome, confirmed       | confirmed | confirmed | confirmed | no      | no
  recordOutcome, served          | served    | served    | served    | no      | no
  recordOutcome, failed          | failed    | failed    | no        | no      | no
  recordOutcome, expired         | expired   | expired   | no        | no      | no
  forget                         | gone      | gone      | no        | no      | no
  keep                           | kept      | kept      | kept      | no      | no
  served                         | no        | no        | served    | no      | no
  runAgain                       | no        | no        | counted   | no      | no
  runAgain, twice before         | no        | no        | no        | no      | no
  extend                         | longer    | longer    | longer    | no      | no
`;

/** Which of two payments pays a request that the first was attached to. */
const ATTEMPTS = `
  the first is              | unknown | claimed | broadcast | confirmed | served | failed | expired
  held                      | second  | first   | first     | first     | first  | second | second
  given back                | second  | first   | first     | first     | first  | second | second
  held, lease over          | second  | second  | first     | first     | first  | second | second
  given back, lease over    | second  | second  | first     | first     | first  | second | second
`;
/** Whether it is looked after because nobody brings it to an end, and is nobody's then. */
const UNRESOLVED = `
  it is                     | unknown | claimed | broadcast | broadcast unsigned | confirmed | final
  held                      | no      | no      | no        | no                 | no        | no
  given back                | no      | no      | no        | no                 | no        | no
  held, lease over          | no      | no      | taken     | no                 | no        | no
  given back, lease over    | no      | no      | taken     | no                 | no        | no
`;
/** Money that has landed already is won where the payment is unknown, whoever holds it. */
const LANDED_CLAIMS = `
  claimLanded               | unknown   | claimed | broadcast | confirmed | served | failed | expired
  held                      | confirmed | no      | no        | no        | no     | no     | no
  held, lease over          | confirmed | no      | no        | no        | no     | no     | no
  given back                | confirmed | no      | no        | no        | no     | no     | no
`;

type Use = Pick<ClaimRequest, 'binding' | 'fingerprint' | 'retryHash'>;
const BINDING = 'GET /report|terms';
const [REQUEST, SECRET] = [{ fingerprint: 'request one' }, { retryHash: 'secret one' }];
const SAME: Use = { binding: BINDING, ...REQUEST, ...SECRET };
const UNBOUND: Use = { binding: BINDING };

/** What a payment was brought for, and what it is brought for now. */
const USES: Readonly<Record<string, readonly [made: Use, brought: Use]>> = {
  'the same use': [SAME, SAME],
  'another resource': [SAME, { ...SAME, binding: 'GET /other|terms' }],
  'another request': [SAME, { ...SAME, fingerprint: 'request two' }],
  'another secret': [SAME, { ...SAME, retryHash: 'secret two' }],
  'no request': [SAME, { binding: BINDING, ...SECRET }],
  'no secret': [SAME, { binding: BINDING, ...REQUEST }],
  neither: [SAME, UNBOUND],
  'the request it has, and a secret': [{ ...UNBOUND, ...REQUEST }, SAME],
  'the request it has, and no secret': [
    { ...UNBOUND, ...REQUEST },
    { ...UNBOUND, ...REQUEST },
  ],
  'another request than it has': [
    { ...UNBOUND, ...REQUEST },
    { ...SAME, fingerprint: 'request two' },
  ],
  'the secret it has, and a request': [{ ...UNBOUND, ...SECRET }, SAME],
  'the secret it has, and no request': [
    { ...UNBOUND, ...SECRET },
    { ...UNBOUND, ...SECRET },
  ],
  'another secret than it has': [
    { ...UNBOUND, ...SECRET },
    { ...SAME, retryHash: 'secret two' },
  ],
};

const SIGNATURE = '5'.repeat(88);
const SENT: Broadcast = { signature: SIGNATURE, lastValidBlockHeight: 900 };
const RESENT: Broadcast = { signature: '7'.repeat(88), lastValidBlockHeight: 950 };
const LANDED = { slot: 300_000_000_000, signature: '6'.repeat(88) };
const FAILED = { state: 'failed', reason: 'invalid_exact_svm_transaction_failed' } as const;
const EXPIRED = { state: 'expired', reason: 'invalid_exact_svm_transaction_expired' } as const;

interface Verb {
  /** What is done before, where it can be. */
  readonly before?: (ledger: Ledger, id: string, lease: string) => Promise<unknown>;
  readonly run: (ledger: Ledger, id: string, lease: string) => Promise<boolean>;
  readonly writes?: Partial<PaymentRecord>;
}

const outcome = (of: Outcome): Verb => ({
  run: (ledger, id, lease) => ledger.recordOutcome(id, lease, of),
  writes: of,
});
const RUN_AGAIN: Verb = { run: (ledger, id, lease) => ledger.runAgain(id, lease), writes: { reruns: 1 } };

const VERB: Readonly<Record<string, Verb>> = {
  'recordBroadcast, all': { run: (ledger, id, lease) => ledger.recordBroadcast(id, lease, RESENT), writes: RESENT },
  'recordBroadcast, nothing': { run: (ledger, id, lease) => ledger.recordBroadcast(id, lease, {}) },
  'recordOutcome, confirmed': outcome({ state: 'confirmed', ...LANDED }),
  'recordOutcome, served': outcome({ state: 'served', ...LANDED }),
  'recordOutcome, failed': outcome(FAILED),
  'recordOutcome, expired': outcome(EXPIRED),
  forget: { run: (ledger, id, lease) => ledger.forget(id, lease) },
  keep: { run: (ledger, id, lease) => ledger.keep(id, lease) },
  served: { run: (ledger, id, lease) => ledger.served(id, lease) },
  runAgain: RUN_AGAIN,
  'runAgain, twice before': {
    ...RUN_AGAIN,
    async before(ledger, id, lease) {
      await ledger.runAgain(id, lease);
      await ledger.runAgain(id, lease);
    },
  },
  extend: { run: (ledger, id, lease) => ledger.extend(id, lease, 3 * LEASE_MS) },
};

/** How a payment stands with the one who brought it. */
const STANDINGS = ['held', 'held, lease over', 'given back', 'given back, lease over'] as const;
type Standing = (typeof STANDINGS)[number];

/** Every event in every state of a payment: the response, and what is in the books afterwards. */
export function paymentStatesContract(fixture: () => LedgerUnderTest): void {
  const ledger = () => fixture().ledger;

  /** A payment in a state, brought for a use. */
  async function paymentIn(state: string, standing: Standing, change: Partial<ClaimRequest> = {}) {
    const claim = newClaim(change);
    const { id, lease } = claim;
    if (state === 'unknown') return claim;
    await ledger().claim(claim);
    if (state === 'broadcast unsigned') await ledger().recordBroadcast(id, lease, {});
    else if (state !== 'claimed') await ledger().recordBroadcast(id, lease, SENT);
    const landed = { state: 'confirmed', slot: 7, signature: SIGNATURE } as const;
    if (state === 'confirmed' || state === 'served') await ledger().recordOutcome(id, lease, landed);
    if (state === 'served') await ledger().served(id, lease);
    if (state === 'failed') await ledger().recordOutcome(id, lease, FAILED);
    if (state === 'expired') await ledger().recordOutcome(id, lease, EXPIRED);
    if (standing.startsWith('given back')) await ledger().keep(id, lease);
    if (standing.endsWith('lease over')) await fixture().advance(LEASE_MS);
    return claim;
  }

  /** `held` and `free` of the head of a table, and which states are final. */
  const situationsOf = (head: string): (readonly [state: string, standing: Standing])[] => {
    const [state = '', held] = head.split(', ');
    const states = state === 'final' ? ['served', 'failed', 'expired'] : [state];
    const isFixed = held === 'held' || state === 'unknown' || state === 'final';
    const standings: readonly Standing[] = isFixed ? ['held'] : ['held, lease over', 'given back'];
    return states.flatMap((it) => standings.map((standing) => [it, standing] as const));
  };

  describe.each([
    ['a bound payment', CLAIMS, undefined],
    ['an unbound payment', UNBOUND_CLAIMS, UNBOUND],
    ['a half bound payment', HALF_BOUND_CLAIMS, undefined],
  ] as const)('a claim of %s, by its state', (_, text, unbound) => {
    test.each(rowsOf(text))('for %s', async (use, cells) => {
      const [made, brought] = USES[use]!;
      for (const [head, cell] of cells) {
        for (const [state, standing] of situationsOf(head)) {
          const first = await paymentIn(state, standing, unbound ?? made);
          const before = await ledger().find(first.id);
          const isTheirs = standing !== 'given back' && before !== undefined && !isFinal(before);
          const { fingerprint: _fingerprint, retryHash: _retryHash, ...bare } = first;
          const rival = rivalOf({ ...bare, ...brought });
          const where = [state, standing];

          const result = await ledger().claim(rival);
          expectAt(where, result).toEqual(answerOf(cell, rival, before, fixture().now()));
          expectAt(where, await ledger().find(first.id)).toEqual(result.record);
          const hasWon = result.status === 'won';
          expectAt(where, await ledger().extend(first.id, rival.lease, LEASE_MS)).toEqual(hasWon);
          expectAt(where, await ledger().extend(first.id, first.lease, LEASE_MS)).toEqual(!hasWon && isTheirs);
        }
      }
    });
  });

  describe('a verb, by the state of the payment', () => {
    test.each(rowsOf(VERBS))('%s', async (name, cells) => {
      const { before: prepare, run, writes } = VERB[name]!;
      for (const [head, cell] of cells) {
        const states = head === 'final' ? ['served', 'failed', 'expired'] : [head];
        for (const state of states) {
          for (const standing of STANDINGS) {
            const claim = await paymentIn(state, standing, SAME);
            await prepare?.(ledger(), claim.id, claim.lease);
            const before = await ledger().find(claim.id);
            const stranger = await run(ledger(), claim.id, 'somebody else');
            expectAt([state, standing], [stranger, await ledger().find(claim.id)]).toEqual([false, before]);

            const expected = standing.startsWith('held') ? cell : 'no';
            const answer = await run(ledger(), claim.id, claim.lease);
            const after = await ledger().find(claim.id);
            expectAt([state, standing], { answer, after }).toEqual({
              answer: expected !== 'no',
              after: recordAfter(expected, before, writes),
            });
            await expectHolder(claim, expected, standing);
          }
        }
      }
    });

    /** Who holds a payment after a verb, which others notice as well. */
    async function expectHolder(claim: ClaimRequest, cell: string, standing: Standing): Promise<void> {
      const record = await ledger().find(claim.id);
      if (record === undefined || isFinal(record)) {
        expect(await ledger().extend(claim.id, claim.lease, LEASE_MS)).toBe(false);
        const { status } = await ledger().claim(rivalOf(claim));
        return expectAt([record?.state ?? 'unknown', standing], status).toEqual(record ? 'closed' : 'won');
      }
      if (cell === 'longer') await fixture().advance(3 * LEASE_MS - 1);
      const isBusy = cell === 'longer' || (standing === 'held' && cell !== 'kept');
      const { status } = await ledger().claim(rivalOf(claim));
      expectAt([record.state, standing], status).toEqual(isBusy ? 'busy' : 'won');
      expectAt([record.state, standing], await ledger().extend(claim.id, claim.lease, LEASE_MS)).toEqual(isBusy);
    }
  });

  describe('money that has landed already, by the state of the payment', () => {
    test.each(rowsOf(LANDED_CLAIMS))('%s', async (standing, cells) => {
      for (const [state, cell] of cells) {
        const first = await paymentIn(state, standing as Standing, SAME);
        const before = await ledger().find(first.id);
        const rival = rivalOf(first);
        const record = await ledger().claimLanded(rival, LANDED);
        const { lease, leaseMs: _leaseMs, ...payment } = rival;

        const won = { ...payment, ...LANDED, state: 'confirmed', claimedAt: fixture().now() };
        expectAt([state, standing], record).toEqual(cell === 'no' ? undefined : won);
        expectAt([state, standing], await ledger().find(first.id)).toEqual(cell === 'no' ? before : won);
        expectAt([state, standing], await ledger().extend(first.id, lease, LEASE_MS)).toEqual(cell !== 'no');
      }
    });
  });

  describe('a request that another payment was attached to, by the state of that one', () => {
    test.each(rowsOf(ATTEMPTS))('%s', async (standing, cells) => {
      for (const [state, cell] of cells) {
        const request = newRequest();
        await ledger().savePaymentRequest(request);
        const first = await paymentIn(state, standing as Standing);
        await ledger().attachAttempt(request.id, first.id);
        const before = await ledger().find(first.id);
        const second = newClaim();
        await ledger().claim(second);
        const pays = cell === 'first' ? first.id : second.id;

        expectAt([state, standing], await ledger().attachAttempt(request.id, second.id)).toEqual(pays);
        expectAt([state, standing], (await ledger().findPaymentRequest(request.id))?.attempt).toEqual(pays);
        const isForgotten = state === 'claimed' && cell === 'second';
        expectAt([state, standing], await ledger().find(first.id)).toEqual(isForgotten ? undefined : before);
      }
    });
  });

  describe('payments that nobody brings to an end, by their state', () => {
    test.each(rowsOf(UNRESOLVED))('%s', async (standing, cells) => {
      for (const [head, cell] of cells) {
        const states = head === 'final' ? ['served', 'failed', 'expired'] : [head];
        for (const state of states) {
          const network = `solana-${newClaim().id}` as typeof TERMS.network;
          const claim = await paymentIn(state, standing as Standing, { terms: { ...TERMS, network } });
          const before = await ledger().find(claim.id);
          const taken = await ledger().takeUnresolved({ network, restMs: LEASE_MS, limit: 10 });

          expectAt([state, standing], taken).toEqual(cell === 'taken' ? [before] : []);
          expectAt([state, standing], await ledger().find(claim.id)).toEqual(before);
          if (cell === 'taken') expect(await ledger().extend(claim.id, claim.lease, LEASE_MS)).toBe(false);
        }
      }
    });
  });
}

/** An expectation that tells for which cell it was not met. */
function expectAt(where: readonly string[], actual: unknown) {
  const compared = expect({ where, actual });
  return { toEqual: (value: unknown) => compared.toEqual({ where, actual: value }) };
}

/** The whole response to a claim. */
function answerOf(cell: string, request: ClaimRequest, before: PaymentRecord | undefined, now: number): object {
  const { lease: _lease, leaseMs: _leaseMs, ...payment } = request;
  const { fingerprint, retryHash } = request;
  const bound = { ...before, ...(fingerprint && { fingerprint }), ...(retryHash && { retryHash }) };
  if (cell === 'new')
    return { status: 'won', isFirstUse: true, record: { ...payment, state: 'claimed', claimedAt: now } };
  if (cell === 'bound') return { status: 'won', isFirstUse: true, record: bound };
  return { status: cell, record: before, ...(cell === 'won' && { isFirstUse: false }) };
}

function recordAfter(cell: string, before: PaymentRecord | undefined, writes: Partial<PaymentRecord> = {}) {
  if (cell === 'gone' || before === undefined) return undefined;
  if (cell === 'no' || cell === 'kept' || cell === 'longer') return before;
  return cell === 'counted' ? { ...before, ...writes } : { ...before, ...writes, state: cell };
}

function isFinal({ state }: PaymentRecord): boolean {
  return state === 'served' || state === 'failed' || state === 'expired';
}

type Row = readonly [event: string, cells: readonly (readonly [head: string, cell: string])[]];

/** The rows of a table, each cell with the head of its column. */
function rowsOf(table: string): Row[] {
  const [heads = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.map(([event = '', ...cells]) => {
    if (cells.length !== heads.length - 1) throw new Error(`"${event}" has ${cells.length} cells`);
    return [event, cells.map((cell, at) => [heads[at + 1] ?? '', cell] as const)];
  });
}
