import type { Request, Response } from 'express';
import type { Call } from '../../gateway/calls/call.js';
import type { CallEnd } from '../../gateway/calls/call-records.js';
import {
  type FreeCalls,
  freeCallsHeader,
  type OpenFreeCall,
  type TakenFreeCall,
} from '../../gateway/calls/free-calls.js';
import type { Gateway } from '../../gateway/gateway.js';
import { isWithinOwnPrice } from '../../gateway/prices/call-route.js';
import { FREE_CALLS_HEADER } from '../../middleware/gate/pass-headers.js';
import { readPayment } from '../../middleware/gate/presented-payment.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import { exposeHeaders } from '../../middleware/gate/respond.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { type NamedCall, namedByKey } from './named-call.js';
import { passOnNamed } from './pass-on-named.js';
import { bodyBegun, refuseUnfit } from './unfit-call.js';

/** A call that may cost nothing. */
export interface MaybeFree {
  readonly req: Request;
  readonly res: Response;
  readonly call: Call;
  /** With its own price. */
  readonly project: ProjectRecord;
  /** Whether its route is free. */
  readonly isFree: boolean;
}

/** Serves a call that costs nothing; false where it has a price, or brings a payment for one. */
export type ServeFree = (asked: MaybeFree) => Promise<boolean>;

const NOTHING_PAID = 'Nothing was charged.';
const NOT_COUNTED = `${NOTHING_PAID} This call does not count among the free ones.`;

/** Serves the calls of free routes, and those that keys have without paying. */
export function createServeFree(gateway: Gateway, freeCalls: FreeCalls): ServeFree {
  return async (asked) => {
    const { req, res, call, project, isFree } = asked;
    const rule = ruleFor(asked);
    if (!isFree && rule === undefined) return false;
    const named = await namedByKey(req);
    const use = { projectId: project.id, keyId: call.key.id, requestId: call.id };
    const open = rule && (await freeCalls.open(use, rule));
    const answer = await named?.begin(open);
    if (answer !== undefined) {
      await answer(res);
      return true;
    }
    const unpaid = open === undefined ? uncounted(named) : await takeOne(freeCalls, open, { res, named });
    if (unpaid !== undefined) await serve(gateway, req, res, call, unpaid);
    return unpaid !== undefined;
  };
}

/** What a call that has a price may be free by. */
function ruleFor({ req, call, project, isFree }: MaybeFree): ProjectRecord['freeCalls'] {
  return isFree || !isWithinOwnPrice(project, call.project) || isPaid(req) ? undefined : project.freeCalls;
}

function isPaid(req: Request): boolean {
  return req.get(SERVICE_PAYMENT_HEADER) !== undefined || readPayment(req) !== undefined;
}

function uncounted(named: NamedCall | undefined): Unpaid {
  return {
    headers: {},
    uncharged: NOTHING_PAID,
    async giveBack() {
      await named?.abandon();
      return {};
    },
  };
}

/** Takes a free call of its key; undefined, and how many are left is told, where there is none. */
async function takeOne(
  freeCalls: FreeCalls,
  open: OpenFreeCall,
  { res, named }: { readonly res: Response; readonly named: NamedCall | undefined },
): Promise<Unpaid | undefined> {
  try {
    const taken = await freeCalls.take(open);
    exposeHeaders(res, [FREE_CALLS_HEADER]);
    if (taken.ok) return countedBy(freeCalls, taken, named);
    res.setHeader(FREE_CALLS_HEADER, freeCallsHeader(taken));
    // Whoever pays for it begins it again.
    await named?.letGo();
    return undefined;
  } catch (error) {
    await named?.abandon();
    throw error;
  }
}

function countedBy(freeCalls: FreeCalls, taken: TakenFreeCall, named: NamedCall | undefined): Unpaid {
  return {
    headers: { [FREE_CALLS_HEADER]: freeCallsHeader(taken) },
    uncharged: NOT_COUNTED,
    async giveBack() {
      // What it has taken is given back with its name.
      await (named === undefined ? freeCalls.giveBack(taken) : named.abandon());
      return { [FREE_CALLS_HEADER]: freeCallsHeader({ ...taken, left: taken.left + 1n }) };
    },
  };
}

/** How a call is told of that nobody pays. */
interface Unpaid {
  /** Headers of a response that has its price. */
  readonly headers: Readonly<Record<string, string>>;
  /** What becomes of one that has not, in a sentence. */
  readonly uncharged: string;
  /** It has none: takes back that it counts, and answers its headers. */
  giveBack(): Promise<Readonly<Record<string, string>>>;
}

async function serve(gateway: Gateway, req: Request, res: Response, call: Call, unpaid: Unpaid): Promise<void> {
  const { calls } = gateway;
  const endedAs = async (end: CallEnd): Promise<true> => {
    await calls.endedFree({ call, requestId: requestIdOf(res) }, end);
    return true;
  };
  try {
    await refuseUnfit(req, call);
    await bodyBegun(req);
    await calls.enter(call, 'nothing');
    const { booked } = await passOnNamed(gateway, call, {
      ...{ req, res, isFree: true, uncharged: unpaid.uncharged, headers: unpaid.headers },
      payment: { payer: call.key.owner },
      book: endedAs,
      // Or free calls would start any number of jobs that nobody waits for.
      isCallersLoss: () => true,
      async notCharged(it) {
        const headers = await unpaid.giveBack();
        await endedAs(it);
        return headers;
      },
    });
    await booked;
  } catch (error) {
    if (!call.isBooked) await unpaid.giveBack();
    throw error;
  } finally {
    await calls.leave(call);
  }
}
