import type { Supported } from '../../protocol/supported.js';
import type { NetworkId } from '../../protocol/types.js';
import { decodeSupported } from '../../protocol/wire/remote.js';
import { createRemoteClient, type RemoteClient, type RemoteClientOptions, RemoteFault } from './remote-client.js';

/** What a facilitator settles on our network: always with a fee payer. */
export interface RemoteOffer {
  /** What it supports on our network; without hints, which are too old by the time they are used. */
  readonly supported: Supported;
  /** Its fee payers: the announced signers and those of its kinds. */
  readonly signers: ReadonlySet<string>;
}

/** Another facilitator, and what is known of it. */
export interface Remote {
  readonly client: RemoteClient;
  /** The last response of `/supported`, however old; a fee payer that was offered once may still be paid with. */
  offer(): RemoteOffer | undefined;
  /** Whether it answered last time. */
  well(): boolean;
  /** Why it could not be used last time. */
  fault(): RemoteFault | undefined;
  /** Asks `/supported`, unless it was asked less than this many milliseconds ago. One call at a time; never rejects. */
  renew(maxAgeMs: number): Promise<void>;
  /** Notes that it could not be reached. */
  failed(fault: RemoteFault): void;
}

/** A facilitator that answers, and does not settle on our network. */
export class OtherNetworkFault extends RemoteFault {}

/** What is needed to know a facilitator. */
export interface RemoteParts extends RemoteClientOptions {
  readonly network: NetworkId;
  readonly timeoutMs: number;
}

/** Opens another facilitator. Nothing is asked before it is needed. */
export function createRemote({ network, timeoutMs, ...options }: RemoteParts): Remote {
  const client = createRemoteClient(options);
  let offer: RemoteOffer | undefined;
  let fault: RemoteFault | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  function failed(by: RemoteFault): void {
    if (fault === undefined) {
      process.emitWarning(`a facilitator cannot be used: ${by.message}`, { code: 'TOLLHOUSE_REMOTE_FACILITATOR' });
    }
    fault = by;
  }

  async function ask(): Promise<void> {
    try {
      const supported = await client.ask('supported', undefined, timeoutMs, decodeSupported);
      offer = offerOn(network, supported, client.host);
      fault = undefined;
    } catch (error) {
      failed(error instanceof RemoteFault ? error : new RemoteFault(String(error), false, error));
    } finally {
      askedAt = performance.now();
      asking = undefined;
    }
  }

  return {
    client,
    offer: () => offer,
    well: () => offer !== undefined && fault === undefined,
    fault: () => fault,
    failed,
    renew(maxAgeMs) {
      if (asking === undefined && performance.now() - askedAt < maxAgeMs) return Promise.resolve();
      asking ??= ask();
      return asking;
    },
  };
}

function offerOn(network: NetworkId, { kinds, extensions, signers }: Supported, host: string): RemoteOffer {
  const usable = kinds
    .filter((kind) => kind.scheme === 'exact' && kind.network === network)
    .map(({ scheme, feePayer }) => ({ scheme, network, feePayer }));
  if (usable.length === 0)
    throw new OtherNetworkFault(`/supported at ${host}: it does not settle "exact" on ${network}`, false);
  const keys = new Set([...usable.map(({ feePayer }) => feePayer), ...signers]);
  return { supported: { kinds: usable, extensions, signers: [...keys] }, signers: keys };
}
