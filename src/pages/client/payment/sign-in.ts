import type { PageSignIn, PaywallData } from '../../paywall/paywall-data.js';
import { reasonInWords } from '../../texts/refusals/reason-words.js';
import { toBase58, toHeader } from '../wire/bytes.js';
import { problemOf, sendRequest } from '../wire/send-request.js';
import type { Say } from './pay-offer.js';
import { connect, type Wallet, type WalletAccount } from './wallets.js';

/** A challenge that is about to run out is asked for anew before somebody reads it in a wallet. */
const LEAST_MS = 60_000;

/** Signs in with a wallet, for this page and those to come; tells whether that was taken, and says why not. */
export async function signIn(data: PaywallData, wallet: Wallet, say: Say): Promise<boolean> {
  const words = { wallet: wallet.name };
  say('connecting', words);
  const account = await connect(wallet).catch(() => undefined);
  const challenge = await freshChallenge(data);
  if (account === undefined) {
    say('notSigned', words);
    return false;
  }
  if (challenge === undefined) {
    say('signInFailed', { reason: data.reasons.away });
    return false;
  }
  say('signing', words);
  const message = new TextEncoder().encode(messageOf(challenge, account.address));
  const signature = await signed(wallet, { account, message });
  if (signature === undefined) {
    say('notSigned', words);
    return false;
  }
  const { info, chainId } = challenge;
  const proof = { ...info, address: account.address, chainId, type: 'ed25519', signature };
  const headers = { 'SIGN-IN-WITH-X': toHeader(proof), 'Keep-Sign-In': 'cookie' };
  const answer = await sendRequest(data.request, headers).catch(() => undefined);
  if (answer?.status === 204) return true;
  say('signInFailed', { reason: await reasonIn(answer, data) });
  return false;
}

/** Why a sign-in was not taken; what has no code says with its status who is at fault. */
async function reasonIn(answer: Response | undefined, { reasons }: PaywallData): Promise<string> {
  const { code, detail } = answer === undefined ? {} : await problemOf(answer);
  if (typeof code !== 'string') return reasons.away;
  return reasonInWords({ code, detail: String(detail ?? code) }, reasons);
}

/** The signature, base58; undefined where the wallet gives none, in whatever way it says so. */
async function signed(
  wallet: Wallet,
  asked: { readonly account: WalletAccount; readonly message: Uint8Array },
): Promise<string | undefined> {
  try {
    const outputs = await wallet.features['solana:signMessage']?.signMessage(asked);
    const signature = outputs?.[0]?.signature;
    return signature && toBase58(signature);
  } catch {
    return undefined;
  }
}

async function freshChallenge({ signIn, request }: PaywallData): Promise<PageSignIn | undefined> {
  const endsAt = Date.parse(String(signIn?.info['expirationTime'] ?? ''));
  if (signIn === undefined || endsAt - Date.now() > LEAST_MS) return signIn;
  const answer = await sendRequest(request, {}).catch(() => undefined);
  const required = answer?.headers.get('PAYMENT-REQUIRED') ?? undefined;
  const told: unknown =
    required === undefined ? await answer?.json().catch(() => undefined) : JSON.parse(atob(required));
  const info: unknown = memberOf(memberOf(memberOf(told, 'extensions'), 'sign-in-with-x'), 'info');
  return typeof info === 'object' && info !== null ? { info: { ...info }, chainId: signIn.chainId } : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

/** The text of Sign In With Solana, line by line as servers read it. */
function messageOf({ info, chainId }: PageSignIn, address: string): string {
  const line = (label: string, name: string) => (info[name] ? [`${label}: ${info[name]}`] : []);
  const resources = Array.isArray(info['resources']) ? info['resources'] : [];
  return [
    `${info['domain']} wants you to sign in with your Solana account:`,
    address,
    '',
    ...(info['statement'] ? [String(info['statement']), ''] : []),
    ...line('URI', 'uri'),
    ...line('Version', 'version'),
    `Chain ID: ${chainId.slice('solana:'.length)}`,
    ...line('Nonce', 'nonce'),
    ...line('Issued At', 'issuedAt'),
    ...line('Expiration Time', 'expirationTime'),
    ...line('Not Before', 'notBefore'),
    ...line('Request ID', 'requestId'),
    ...(resources.length > 0 ? ['Resources:', ...resources.map((it) => `- ${it}`)] : []),
  ].join('\n');
}
