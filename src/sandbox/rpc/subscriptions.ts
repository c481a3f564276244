import type { Commitment } from '../../protocol/types.js';
import type { Chain } from '../chain/chain.js';
import { encodeAccount } from '../encoding/account-encoding.js';
import {
  asCommitment,
  asSignature,
  type Config,
  readAddress,
  readConfig,
  readCount,
  withContext,
} from '../encoding/params.js';
import type { Fault } from '../faults.js';
import { JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import type { SocketMethod } from './calls.js';

/** Sends a notification to the client that subscribed. */
export type Client = (notification: unknown) => void;

/** The subscriptions of all clients. */
export interface Subscriptions {
  /** Runs a WebSocket method for a client. */
  invoke(client: Client, method: string, params: readonly unknown[], fault: Fault | undefined): unknown;
  /** Forgets a client that has gone. */
  forget(client: Client): void;
  /** Tells the subscribers of an account that was written from outside of any transaction. */
  accountWritten(address: string): void;
  /** Ends notifications that wait. */
  close(): void;
}

interface Subscription extends SubscriptionRequest {
  readonly id: number;
  readonly client: Client;
}

type Active = Map<number, Subscription>;

/**
 * Milliseconds before a signature that has been reached already is notified. web3.js loses a notification that arrives in
 * one packet with the response to its subscription.
 */
const ALREADY_REACHED_MS = 10;
const COMMITMENTS: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];

/** Creates the registry and listens to the chain. */
export function createSubscriptions(chain: Chain): Subscriptions {
  const active: Active = new Map();
  const timers = new Set<NodeJS.Timeout>();
  const publisher = createPublisher(chain, active);
  let lastId = 0;

  const subscribe = (client: Client, wanted: SubscriptionRequest, fault: Fault | undefined): number => {
    lastId += 1;
    const subscription = { ...wanted, client, id: lastId };
    if (fault?.kind !== 'silent') {
      active.set(lastId, subscription);
      const timer = setTimeout(() => {
        timers.delete(timer);
        publisher.signatures((item) => item === subscription);
      }, ALREADY_REACHED_MS);
      timers.add(timer);
    }
    return lastId;
  };
  const unsubscribe = (client: Client, id: number): boolean => {
    if (active.get(id)?.client !== client) {
      throw new JsonRpcFault(RPC_CODES.invalidParams, 'Invalid subscription id.');
    }
    return active.delete(id);
  };

  return {
    invoke: (client, method, params, fault) => {
      const [kind, action] = Object.hasOwn(SOCKET_ACTIONS, method) ? SOCKET_ACTIONS[method as SocketMethod] : [];
      if (kind === undefined) {
        throw new JsonRpcFault(RPC_CODES.methodNotFound, 'Method not found');
      }
      return action === 'subscribe'
        ? subscribe(client, readWanted(kind, params), fault)
        : unsubscribe(client, readCount(params, 0));
    },
    forget: (client) => {
      for (const subscription of [...active.values()].filter((item) => item.client === client)) {
        active.delete(subscription.id);
      }
    },
    accountWritten: (address) => publisher.accounts(COMMITMENTS, new Set([address])),
    close: () => {
      timers.forEach(clearTimeout);
      active.clear();
    },
  };
}

interface Publisher {
  /** Notifies and ends the matching signature subscriptions whose commitment has been reached. */
  signatures(matches: (subscription: Subscription) => boolean): void;
  /** Notifies the subscribers of accounts, as far as they asked for one of these commitments. */
  accounts(commitments: readonly Commitment[], addresses: ReadonlySet<string>): void;
}

function createPublisher(chain: Chain, active: Active): Publisher {
  const notify = ({ id, kind, client }: Subscription, result: unknown): void => {
    client({ jsonrpc: '2.0', method: `${kind}Notification`, params: { result, subscription: id } });
  };
  const ofKind = (kind: SubscriptionKind): Subscription[] => [...active.values()].filter((item) => item.kind === kind);

  const signatures: Publisher['signatures'] = (matches) => {
    for (const subscription of ofKind('signature').filter(matches)) {
      const { id, subject, commitment } = subscription;
      const landed = chain.ledger.find(subject);
      if (landed !== undefined && landed.slot <= chain.slots.slot(commitment)) {
        active.delete(id);
        notify(subscription, withContext(chain, commitment, { err: landed.execution.err }));
      }
    }
  };
  const accounts: Publisher['accounts'] = (commitments, addresses) => {
    for (const subscription of ofKind('account')) {
      const { subject, commitment, config } = subscription;
      if (addresses.has(subject) && commitments.includes(commitment)) {
        const value = encodeAccount(subject, config, (address) => chain.accounts.read(address, commitment));
        notify(subscription, withContext(chain, commitment, value));
      }
    }
  };

  chain.slots.onSlot((slot) => {
    for (const subscription of ofKind('slot')) {
      notify(subscription, { parent: slot - 1, root: chain.slots.slot('finalized'), slot });
    }
    signatures(() => true);
    for (const commitment of COMMITMENTS.slice(1)) {
      accounts([commitment], new Set(chain.accounts.changedIn(chain.slots.slot(commitment))));
    }
  });
  chain.bank.onLanded((landed) => {
    const reached = COMMITMENTS.filter((commitment) => landed.slot <= chain.slots.slot(commitment));
    signatures(({ subject }) => subject === landed.signature);
    accounts(reached, new Set(landed.changed));
  });
  return { signatures, accounts };
}

/** What can be subscribed to. */
type SubscriptionKind = 'signature' | 'account' | 'slot';

/** What a client asks to be told. */
interface SubscriptionRequest {
  readonly kind: SubscriptionKind;
  readonly commitment: Commitment;
  /** The signature or address watched; empty for slots. */
  readonly subject: string;
  readonly config: Config;
}

/** What a WebSocket method does, and with which kind of subscription. */
const SOCKET_ACTIONS: Readonly<Record<SocketMethod, readonly [SubscriptionKind, 'subscribe' | 'unsubscribe']>> = {
  signatureSubscribe: ['signature', 'subscribe'],
  signatureUnsubscribe: ['signature', 'unsubscribe'],
  accountSubscribe: ['account', 'subscribe'],
  accountUnsubscribe: ['account', 'unsubscribe'],
  slotSubscribe: ['slot', 'subscribe'],
  slotUnsubscribe: ['slot', 'unsubscribe'],
};

const SUBJECTS: Readonly<Record<SubscriptionKind, (params: readonly unknown[]) => string>> = {
  signature: (params) => asSignature(params[0]),
  account: (params) => readAddress(params, 0),
  slot: () => '',
};

/** Reads the parameters of a subscription. */
function readWanted(kind: SubscriptionKind, params: readonly unknown[]): SubscriptionRequest {
  const config = kind === 'slot' ? {} : readConfig(params, 1);
  return { kind, subject: SUBJECTS[kind](params), config, commitment: asCommitment(config['commitment']) };
}
