import { defined } from '../../lib/defined.js';
import { type Parsed, parsed, shown, unparsed } from '../../lib/parsed.js';
import { isAddress } from '../../protocol/address.js';

/** What a wallet signs to sign in. Times are RFC 3339. */
export interface SiwsMessage {
  /** Host, with a port where it is not the scheme's own. */
  readonly domain: string;
  /** The wallet, base58. */
  readonly address: string;
  /** A line for the reader. */
  readonly statement?: string | undefined;
  /** What is signed in to. */
  readonly uri: string;
  readonly version: string;
  /** The cluster: `mainnet`, or the reference of a CAIP-2 name. */
  readonly chainId: string;
  readonly nonce: string;
  readonly issuedAt: string;
  readonly expirationTime?: string | undefined;
  readonly notBefore?: string | undefined;
  readonly requestId?: string | undefined;
  readonly resources?: readonly string[] | undefined;
}

/** Longest message that is read, in characters. */
export const MAX_SIWS_LENGTH = 8_192;

const HEAD = ' wants you to sign in with your Solana account:';
const RESOURCES = 'Resources:';
// RFC 3986: printable ASCII without spaces.
const URI = /^[\x21-\x7e]{1,2048}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

interface Line {
  readonly field: Exclude<keyof SiwsMessage, 'domain' | 'address' | 'statement' | 'resources'>;
  readonly label: string;
  readonly optional: boolean;
  readonly isValid: (value: string) => boolean;
}

const matches = (pattern: RegExp) => (value: string) => pattern.test(value);
const isTime = (value: string) => TIME.test(value) && !Number.isNaN(Date.parse(value));

/** The labelled lines, in their order. */
const LINES: readonly Line[] = [
  { field: 'uri', label: 'URI: ', optional: false, isValid: matches(URI) },
  { field: 'version', label: 'Version: ', optional: false, isValid: (it) => it === '1' },
  { field: 'chainId', label: 'Chain ID: ', optional: false, isValid: matches(/^[-_:A-Za-z0-9]{1,64}$/) },
  { field: 'nonce', label: 'Nonce: ', optional: false, isValid: matches(/^[A-Za-z0-9]{8,512}$/) },
  { field: 'issuedAt', label: 'Issued At: ', optional: false, isValid: isTime },
  { field: 'expirationTime', label: 'Expiration Time: ', optional: true, isValid: isTime },
  { field: 'notBefore', label: 'Not Before: ', optional: true, isValid: isTime },
  { field: 'requestId', label: 'Request ID: ', optional: true, isValid: matches(/^[\x21-\x7e]{1,256}$/) },
];

/**
 * The Sign In With Solana text of a message (CAIP-122 with the wording for Solana; the lines of EIP-4361). Optional
 * fields that are empty are left out, as in the official formatter of `@x402/extensions`. Values are not checked: read
 * the text with {@link parseSiwsMessage} when they are somebody else's.
 */
export function buildSiwsMessage(message: SiwsMessage): string {
  const statement = message.statement ? [message.statement, ''] : [];
  const lines = LINES.flatMap(({ field, label }) => (message[field] ? [`${label}${message[field]}`] : []));
  const resources = message.resources?.length ? [RESOURCES, ...message.resources.map((it) => `- ${it}`)] : [];
  return [`${message.domain}${HEAD}`, message.address, '', ...statement, ...lines, ...resources].join('\n');
}

/**
 * Reads a Sign In With Solana text. Exact: a text that is accepted is what {@link buildSiwsMessage} makes of its fields,
 * so what was read is what the wallet showed and signed, nothing less and nothing else.
 */
export function parseSiwsMessage(text: string): Parsed<SiwsMessage> {
  if (text.length > MAX_SIWS_LENGTH) return unparsed(`the message is longer than ${MAX_SIWS_LENGTH} characters`);
  const [head = '', address = '', blank, ...rest] = text.split('\n');
  const domain = head.endsWith(HEAD) ? head.slice(0, -HEAD.length) : '';
  if (!/^[-.:[\]A-Za-z0-9]{1,255}$/.test(domain))
    return unparsed('its first line does not name a domain to sign in to');
  if (!isAddress(address)) return unparsed(`its address ${shown(address)} is not a Solana address`);
  if (blank !== '') return unparsed('there is no empty line after its address');
  const statement = rest[1] === '' ? rest[0] : undefined;
  if (statement !== undefined && !isStatement(statement)) {
    return unparsed('its statement must be one line of at most 1,024 printable characters');
  }
  const fields = readLines(statement === undefined ? rest : rest.slice(2));
  if (!fields.ok) return fields;
  return parsed({ domain, address, ...defined({ statement }), ...fields.value });
}

type LabelledFields = Omit<SiwsMessage, 'domain' | 'address' | 'statement'>;

function readLines(lines: readonly string[]): Parsed<LabelledFields> {
  const found: Partial<Record<Line['field'], string>> = {};
  let at = 0;
  for (const { field, label, optional, isValid } of LINES) {
    const line = lines[at];
    if (line?.startsWith(label)) {
      const value = line.slice(label.length);
      if (!isValid(value)) return unparsed(`its ${field} ${shown(value)} is not valid`);
      found[field] = value;
      at += 1;
    } else if (!optional) return unparsed(`its ${field} is missing, or not in its place`);
  }
  const resources = readResources(lines.slice(at));
  if (!resources.ok) return resources;
  const { uri = '', version = '', chainId = '', nonce = '', issuedAt = '', ...others } = found;
  return parsed({ uri, version, chainId, nonce, issuedAt, ...others, ...resources.value });
}

function readResources(lines: readonly string[]): Parsed<Pick<SiwsMessage, 'resources'>> {
  const [head, ...items] = lines;
  if (head === undefined) return parsed({});
  if (head !== RESOURCES || items.length === 0) return unparsed(`its line ${shown(head)} is not known here`);
  const resources = items.map((item) => item.slice(2));
  const wrong = items.find((item, at) => !item.startsWith('- ') || !URI.test(resources[at] ?? ''));
  return wrong === undefined ? parsed({ resources }) : unparsed(`its resource ${shown(wrong)} is not valid`);
}

function isStatement(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,1024}$/u.test(text);
}
