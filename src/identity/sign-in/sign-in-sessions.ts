import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import { randomPart } from '../../lib/ids.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { isAddress } from '../../protocol/address.js';
import type { SignInSetup } from '../sign-in-options.js';
import type { IdentityRequest, SignInSessions } from '../types.js';
import { hostOf } from './site.js';

/** What sessions are made with. */
export interface SignInSessionSetup extends Pick<SignInSetup, 'domain' | 'network' | 'now' | 'counters'> {
  /** The same in all instances that share sessions; asked for when it is first needed. */
  readonly secret: () => Promise<Uint8Array>;
}

/** As long as somebody reads. What the wallet holds is looked at with every request all the same. */
const SESSION_MS = 12 * 3_600_000;
const FORM = /^([1-9A-HJ-NP-Za-km-z]{32,44})\.(\d{13})\.([\w-]{16})\.([\w-]{43})$/;
const SERIES_BYTES = 12;
/** How often another may be quicker with a series of the same wallet. */
const MAX_TRIES = 20;

/**
 * Makes sessions: each names its wallet, its series and its end, under a MAC for one site and one network. What is kept is the series that
 * is good for a wallet, as long as one of its sessions may live; to end them all is to forget it. A store that forgets early ends sessions
 * early, and no clock has to agree with another.
 */
export function createSignInSessions({ secret, ...setup }: SignInSessionSetup): SignInSessions {
  const { counters } = setup;
  let key: KeyObject | undefined;
  const keyOf = (): MaybePromise<KeyObject> =>
    key ??
    secret().then((it) => {
      key = createSecretKey(createHmac('sha256', it).update('sign-in sessions').digest());
      return key;
    });

  function macOf(
    key: KeyObject,
    said: readonly [wallet: string, endsAt: string, series: string],
    request: IdentityRequest,
  ) {
    const host = hostOf(setup, request);
    if (!host.ok) return undefined;
    const text = JSON.stringify([setup.network, host.value.origin, ...said]);
    return createHmac('sha256', key).update(text).digest();
  }

  const seriesAt = (wallet: string): string => `sign-ins:${setup.network}:${wallet}`;

  /** The series of a wallet, a new one where there is none, kept for as long as a session that begins now. */
  async function seriesOf(wallet: string): Promise<string> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const known = await counters.get(seriesAt(wallet));
      const series = known ?? randomPart(SERIES_BYTES).toString('base64url');
      if (await counters.replace(seriesAt(wallet), known, series, SESSION_MS)) return series;
    }
    const detail = 'Others sign in and out with the same wallet at the same time; try again shortly.';
    throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2 });
  }

  return {
    async open(wallet, request) {
      const endsAt = setup.now() + SESSION_MS;
      if (!hostOf(setup, request).ok) return undefined;
      const series = await seriesOf(wallet);
      const mac = macOf(await keyOf(), [wallet, String(endsAt), series], request);
      return mac && { token: `${wallet}.${endsAt}.${series}.${mac.toString('base64url')}`, endsAt };
    },
    read(token, request) {
      const [, wallet = '', endsAt = '', series = '', mac = ''] = FORM.exec(token) ?? [];
      if (!isAddress(wallet) || setup.now() >= Number(endsAt)) return undefined;
      return whenKnown(keyOf(), (key) => {
        const right = macOf(key, [wallet, endsAt, series], request);
        const given = Buffer.from(mac, 'base64url');
        if (right?.length !== given.length || !timingSafeEqual(right, given)) return undefined;
        return whenKnown(counters.get(seriesAt(wallet)), (good) => (good === series ? wallet : undefined));
      });
    },
    endAll: (wallet) => counters.remove(seriesAt(wallet)),
  };
}
