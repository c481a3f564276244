import { badOption } from '../../errors/errors.js';
import { endTogether } from '../../lib/work/ends.js';
import type { Supported } from '../../protocol/supported.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { x402Client } from '../payments/x402-client.js';
import { setupCheck } from '../setup/setup-finding.js';
import type { Facilitator, PaymentLoad } from '../types.js';

/** At least one; the first is the default. */
export type Members<Member extends Facilitator = Facilitator> = readonly [Member, ...Member[]];

const known = new WeakMap<Facilitator, Facilitator[]>();

/**
 * Several facilitators as one, each for payments on its own network: what is asked about a payment is asked of the one whose network
 * it is on. What wallets hold, and what is kept beside payments, is the first one's. One alone is itself, and the same ones in the same
 * order are always the same.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` where two are on one network, or they do not share a storage
 */
export function joinFacilitators(where: string, given: readonly Facilitator[]): Facilitator {
  const members = checkMembers(where, given);
  const [first] = members;
  if (members.length === 1) return first;
  const before = known.get(first) ?? [];
  const same = before.find((it) => isSameList(membersOf(it), members));
  if (same !== undefined) return same;
  const joined = join(members);
  known.set(first, [...before, joined]);
  return joined;
}

/** The facilitators that one is made of, one for each network: itself alone, as a rule. */
export function membersOf(facilitator: Facilitator): Members {
  const [first = facilitator, ...others] = facilitator.members ?? [];
  return [first, ...others];
}

/** The facilitator of a network; undefined where none is on it. */
export function memberOn(facilitator: Facilitator, network: NetworkId): Facilitator | undefined {
  const { members = [facilitator] } = facilitator;
  return members.find((it) => it.network === network);
}

/**
 * Checks facilitators that are to be used together.
 * @throws TollhouseError `bad_option`, as {@link joinFacilitators}
 */
export function checkMembers<Member extends Facilitator>(where: string, given: readonly Member[]): Members<Member> {
  const [first, ...others] = given;
  if (first === undefined) throw badOption(where, 'give at least one facilitator', 'facilitators');
  const twice = others.find((it, at) => it.network === first.network || isOnOneOf(it, others.slice(0, at)));
  if (twice !== undefined) {
    const detail = `two facilitators are on ${twice.network}: give one for each network`;
    throw badOption(where, detail, 'facilitators');
  }
  const apart = others.find((it) => it.storage !== first.storage);
  if (apart !== undefined) {
    const detail = `the facilitator on ${apart.network} has another storage than the first: a payment is remembered in one place, so give all of them the same`;
    throw badOption(where, detail, 'facilitators');
  }
  return [first, ...others];
}

function isOnOneOf({ network }: Facilitator, others: readonly Facilitator[]): boolean {
  return others.some((it) => it.network === network);
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((it, at) => it === other[at]);
}

/** A payment on a network that nobody is on is refused by the first, as one on another network than its own. */
function join(members: Members): Facilitator {
  const [first] = members;
  const on = (network: NetworkId): Facilitator => members.find((it) => it.network === network) ?? first;
  const { declaredFault } = first;
  const core: Pick<Facilitator, 'verify' | 'settle' | 'supported'> = {
    verify: (payment, terms, client) => on(terms.network).verify(payment, terms, client),
    settle: (payment, terms, options) => on(terms.network).settle(payment, terms, options),
    supported: Object.assign(async () => joinSupported(await Promise.allSettled(members.map((it) => it.supported()))), {
      now: () => joinSupportedNow(members),
    }),
  };
  const firstOf = async <T>(asked: readonly Promise<T | undefined>[]) =>
    (await Promise.all(asked)).find((it) => it !== undefined);
  const landed: Facilitator['landed'] = (paymentId) => firstOf(members.map((it) => it.landed(paymentId)));
  return Object.freeze({
    ...first,
    ...core,
    ...together(members),
    members,
    tokens: joinTokens(members),
    x402Client: x402Client(core, first.network),
    ...(declaredFault === undefined ? {} : { declaredFault: (mint: string) => declaredFaultOf(members, mint) }),
    openPayment: (payment, terms, use) => on(terms.network).openPayment(payment, terms, use),
    knownTerms: (payment) => on(payment.network).knownTerms(payment),
    admittedWith: (payment, again) => on(payment.network).admittedWith(payment, again),
    unsignedPayment: (terms, payer) => on(terms.network).unsignedPayment(terms, payer),
    async isBuying(wanted) {
      return (await Promise.all(members.map((it) => it.isBuying(wanted)))).includes(true);
    },
    landed,
    knownPayment: (paymentId) => firstOf(members.map((it) => it.knownPayment(paymentId))),
    async refund(paymentId) {
      const found = await landed(paymentId);
      return on(found?.terms.network ?? first.network).refund(paymentId);
    },
  } satisfies Facilitator);
}

/** What all of them do, or are asked. */
function together(members: Members): Pick<Facilitator, 'check' | 'setup' | 'health' | 'load' | 'on' | 'close'> {
  return {
    async check(target) {
      const found = await Promise.all(members.map((it) => it.check(target)));
      return setupCheck(found.flatMap(({ findings }) => findings));
    },
    setup: {
      begin(needs) {
        for (const it of members) it.setup.begin(needs?.filter(({ network = it.network }) => network === it.network));
      },
      known: () => joinKnown(members),
    },
    async health() {
      const all = await Promise.all(members.map((it) => it.health()));
      return all.find(({ status }) => status !== 'down') ?? members[0].health();
    },
    load: () => joinLoads(members.map((it) => it.load())),
    on(event, listener) {
      const stops = members.map((it) => it.on(event, listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    async close() {
      await endTogether(...members.map((it) => it.close()));
    },
  };
}

/** Each network has its own places. */
function joinLoads(loads: readonly PaymentLoad[]): PaymentLoad {
  const sum = (pick: (load: PaymentLoad) => number) => loads.reduce((all, it) => all + pick(it), 0);
  return {
    paymentsInFlight: sum((it) => it.paymentsInFlight),
    maxPaymentsInFlight: sum((it) => it.maxPaymentsInFlight),
    roomForPayments: sum((it) => it.roomForPayments),
    turnedAway: sum((it) => it.turnedAway),
  };
}

/** A network that cannot say what it settles offers nothing; the others go on. Where none can, it is the first one's fault. */
function joinSupported(answers: readonly PromiseSettledResult<Supported>[]): Supported {
  const supported = answers.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
  const failed = answers.find((it) => it.status === 'rejected');
  if (failed !== undefined && supported.length === 0) throw failed.reason;
  const kinds = supported.flatMap((it) => it.kinds);
  const fault = kinds.length > 0 ? undefined : supported.find((it) => it.fault !== undefined)?.fault;
  return {
    kinds,
    extensions: [...new Set(supported.flatMap((it) => it.extensions))],
    signers: [...new Set(supported.flatMap((it) => it.signers))],
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Undefined where one of them has to be asked. */
function joinSupportedNow(members: Members): Supported | undefined {
  const known = members.map((it) => it.supported.now?.()).filter((it) => it !== undefined);
  if (known.length < members.length) return undefined;
  return joinSupported(known.map((value) => ({ status: 'fulfilled', value })));
}

/** By symbol, those of the first network come first. */
function joinTokens(members: Members): readonly Token[] {
  const byMint = new Map<string, Token>();
  for (const token of members.flatMap(({ tokens }) => tokens)) {
    if (!byMint.has(token.mint)) byMint.set(token.mint, token);
  }
  return [...byMint.values()];
}

function joinKnown(members: Members): ReturnType<Facilitator['setup']['known']> {
  const known = members.map((it) => it.setup.known()).filter((it) => it !== undefined);
  if (known.length === 0) return undefined;
  const check = setupCheck(known.flatMap(({ findings }) => findings));
  return Object.freeze({ ...check, checkedAt: Math.min(...known.map(({ checkedAt }) => checkedAt)) });
}

function declaredFaultOf(members: Members, mint: string) {
  const owner = members.find(({ tokens }) => tokens.some((it) => it.mint === mint));
  return owner?.declaredFault?.(mint);
}
