import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { badOption, TollhouseError } from '../../errors/errors.js';
import { loadUndici } from '../../lib/http/load-undici.js';
import { isInside, isNetwork, isPublicAddress, type Network, readAddressRange } from './address-ranges.js';
import { createNameLookup, type Lookup, type NameLookupOptions, NameNotResolved } from './name-lookup.js';

/** Options of {@link createAddressGuard}. */
export interface AddressGuardOptions {
  /** Networks that are let in although they are not public, over http too, in CIDR notation. Default: none. */
  readonly allow?: readonly string[];
  /** How names are resolved. Default: by the hosts file and name servers, as `names` says. */
  readonly lookup?: Lookup;
  /** Options of the look-up that is there by default; `atOnce` goes for what is registered, and for connections again. */
  readonly names?: NameLookupOptions;
}

/** Keeps outgoing calls to addresses that others choose away from our own network. */
export interface AddressGuard {
  /**
   * What is wrong with an address that somebody registers, as the rest of a sentence that begins with its name ("must
   * be …"); undefined when nothing is. https only, no user, no fragment, a usual port, and public unicast addresses only:
   * literals in every notation and whatever the name resolves to now. Never tells what a name resolves to.
   * @param owner - who registers it: where many names are looked up, they share the room for it. Default: nobody
   * @throws TollhouseError `rate_limited` when the name made room for those of others
   */
  checkUrl(url: string, owner?: string): Promise<string | undefined>;
  /**
   * Connects for undici (`new Agent({ connect: guard.connect })`). Checks literals and every resolved address again, each
   * time that a connection is made, and connects to a checked address only: a name that resolves to something else by now
   * gains nothing. TLS server name and `Host` stay those of the URL.
   */
  readonly connect: buildConnector.connector;
}

/** A connection that was not made because of where it would have gone. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ERR_ADDRESS_REFUSED';
}

type Protocol = 'http:' | 'https:';

const MAX_URL_LENGTH = 2048;
/** With half a surrogate pair, which no database keeps. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;
const CONNECT_TIMEOUT_MS = 5_000;
/** Other ports below are those of services that are not spoken to over HTTP. */
const FIRST_FREE_PORT = 1024;
const WEB_PORTS = ['', '80', '443'];
/** Names of projects and webhooks that there are, which quotas bound: more than looks and deliveries begin at one moment. */
const CONNECTIONS_AT_ONCE = 512;
/** The same for every address behind http, whether it is public or not. */
const NOT_PERMITTED = {
  'http:': `must be an https address; ${letIn('http')}`,
  'https:': `must be at a public address; ${letIn('others')}`,
} as const;
const UNRESOLVED = 'must have a host that can be resolved';
const SILENT = `${UNRESOLVED}: no name server has told its addresses in time`;
const CROWDED =
  'Too many host names are being looked up, most of them for you; send this again when some of them are answered.';
const RETRY_SECONDS = 5;

/**
 * Makes a guard.
 * @throws TollhouseError `bad_option` when a network is not in CIDR notation
 */
export function createAddressGuard({ allow = [], lookup, names }: AddressGuardOptions = {}): AddressGuard {
  const wrong = allow.find((text) => !isNetwork(text));
  if (wrong !== undefined) {
    throw badOption('createAddressGuard', `"${wrong}" is not a network such as 10.0.0.0/8`, 'allow');
  }
  const networks = allow.map(readAddressRange);
  const mayReach = (protocol: Protocol, address: string) => isPermitted(protocol, address, networks);
  const ofRegistered = lookup ?? createNameLookup(names);
  const ofConnected = lookup ?? createNameLookup({ atOnce: CONNECTIONS_AT_ONCE, ...names });
  const connectors = buildConnectors(ofConnected, mayReach);

  return {
    async checkUrl(text, owner) {
      const fault = shapeFault(text);
      if (fault !== undefined) return fault;
      const { protocol, hostname } = new URL(text);
      const host = bare(hostname);
      const addresses = isIP(host) === 0 ? await ofRegistered(host, owner).catch(faultOf) : [host];
      if (typeof addresses === 'string') return addresses;
      if (addresses.length === 0) return UNRESOLVED;
      if (addresses.every((it) => mayReach(asProtocol(protocol), it))) return undefined;
      return NOT_PERMITTED[asProtocol(protocol)];
    },
    connect(options, callback) {
      connectors
        .then((built) => built[asProtocol(options.protocol)](options, callback))
        .catch((error) => callback(error, null));
    },
  };
}

type MayReach = (protocol: Protocol, address: string) => boolean;

/** Public addresses over https, networks that are let in over both. */
function isPermitted(protocol: Protocol, address: string, networks: readonly Network[]): boolean {
  if (isIP(address) === 0) return false;
  return isInside(address, networks) || (protocol === 'https:' && isPublicAddress(address));
}

function letIn(what: string): string {
  return `a server takes ${what} in the networks of allowPrivateNetworks (ALLOW_PRIVATE_NETWORKS)`;
}

/** What can be seen without resolving the name. */
function shapeFault(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  // URL drops or encodes some of them, and what is kept is the text itself.
  if (UNPRINTABLE.test(text)) return 'must be one line, without control characters';
  if (!URL.canParse(text)) return 'must be an https address';
  const { protocol, username, password, port } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https address';
  if (username !== '' || password !== '') return 'must be without user and password';
  if (text.includes('#')) return 'must be without fragment';
  if (!WEB_PORTS.includes(port) && Number(port) < FIRST_FREE_PORT) return 'must have port 80, 443 or one from 1024';
  return undefined;
}

/** undici's own connectors, whose sockets resolve names through the guard. undici is loaded now, not with the package. */
async function buildConnectors(lookup: Lookup, mayReach: MayReach) {
  const { buildConnector } = await loadUndici();
  const guarded = (protocol: Protocol) => {
    const own = guardedLookup(lookup, (address) => mayReach(protocol, address));
    const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, autoSelectFamily: true, lookup: own });
    return guardedConnector(protocol, connect, mayReach);
  };
  return { 'http:': guarded('http:'), 'https:': guarded('https:') };
}

function guardedConnector(
  protocol: Protocol,
  connect: buildConnector.connector,
  mayReach: MayReach,
): buildConnector.connector {
  return (options, callback) => {
    const host = bare(options.hostname);
    // A literal is connected to without being looked up.
    if (isIP(host) === 0 || mayReach(protocol, host)) return connect(options, callback);
    process.nextTick(callback, refused(host), null);
  };
}

/** What `net.connect` resolves names with: an error as soon as one of the addresses may not be reached. */
function guardedLookup(lookup: Lookup, mayReach: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    const answer = (addresses: readonly string[]): void => {
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (first === undefined) return callback(refused(hostname), []);
      if (!found.every(({ address }) => mayReach(address))) return callback(refused(hostname), []);
      if (all === true) callback(null, found);
      else callback(null, first.address, first.family);
    };
    lookup(hostname).then(answer, (error: NodeJS.ErrnoException) => callback(error, []));
  };
}

function refused(host: string): AddressRefused {
  return new AddressRefused(`${host} is not at an address that may be called`);
}

function faultOf(error: unknown): string {
  const reason = error instanceof NameNotResolved ? error.reason : 'unknown';
  if (reason === 'crowded') throw new TollhouseError('rate_limited', CROWDED, { retryAfterSeconds: RETRY_SECONDS });
  return reason === 'silent' ? SILENT : UNRESOLVED;
}

/** Without the brackets that an IPv6 address has in a URL. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function asProtocol(protocol: string): Protocol {
  return protocol === 'https:' ? 'https:' : 'http:';
}
