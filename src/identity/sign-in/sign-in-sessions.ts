import { createHmac, timingSafeEqual } from 'node:crypto';
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
const FORM = /^([1-9A-HJ-NP-Za-km-z]{32,44})\.(\d{13})\.([\w-]{43})$/;

/**
 * Makes sessions of which nothing is kept: each names its wallet and its end, under a MAC for one site and one network. Where all of a wallet
 * were ended, the time of that is kept until the last of them is over.
 */
export function createSignInSessions({ secret, ...setup }: SignInSessionSetup): SignInSessions {
  let key: Uint8Array | undefined;
  const keyOf = (): MaybePromise<Uint8Array> =>
    key ??
    secret().then((it) => {
      key = createHmac('sha256', it).update('sign-in sessions').digest();
      return key;
    });

  function macOf(key: Uint8Array, wallet: string, endsAt: string, request: IdentityRequest): Buffer | undefined {
    const host = hostOf(setup, request);
    if (!host.ok) return undefined;
    const said = JSON.stringify([setup.network, host.value.origin, wallet, endsAt]);
    return createHmac('sha256', key).update(said).digest();
  }

  const endOf = (wallet: string): string => `ended-sign-ins:${setup.network}:${wallet}`;

  return {
    async open(wallet, request) {
      const endsAt = setup.now() + SESSION_MS;
      const mac = macOf(await keyOf(), wallet, String(endsAt), request);
      return mac && { token: `${wallet}.${endsAt}.${mac.toString('base64url')}`, endsAt };
    },
    read(token, request) {
      const [, wallet = '', endsAt = '', mac = ''] = FORM.exec(token) ?? [];
      if (!isAddress(wallet) || setup.now() >= Number(endsAt)) return undefined;
      return whenKnown(keyOf(), (key) => {
        const right = macOf(key, wallet, endsAt, request);
        const given = Buffer.from(mac, 'base64url');
        if (right?.length !== given.length || !timingSafeEqual(right, given)) return undefined;
        const isOver = (endedAt = '0') => Number(endsAt) - SESSION_MS <= Number(endedAt);
        return whenKnown(setup.counters.get(endOf(wallet)), (endedAt) => (isOver(endedAt) ? undefined : wallet));
      });
    },
    endAll: (wallet) => setup.counters.put(endOf(wallet), String(setup.now()), SESSION_MS),
  };
}
