import { randomBytes } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import jwt from 'jsonwebtoken';
import type { SignInChallenge } from '../../../src/identity/types.js';
import { signInHeader, signInInfo, type WalletKey, walletKeyOf } from '../../helpers/transactions/wallet-key.js';
import type { Attack } from '../driver.js';
import type { Client, Fields } from '../strangers/client.js';

/** Ten times what an address may do in a minute, from each of ten addresses, is as much a second as these. */
const REQUESTS_PER_SECOND = 100;
const CHALLENGES_PER_SECOND = 200;
/** Ten times what anybody may have looked up, all together. */
const LOOKS_PER_SECOND = 100;

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const GATES = ['/club/balance', '/club/tier', '/club/key'];
/** Challenges that wait for their signatures. */
const MAX_CHALLENGES = 1_000;

interface Challenge {
  readonly wallet: WalletKey;
  readonly nonce: string;
  readonly message: string;
}

/** What strangers do who want nobody to get in, each at ten times the limit that stands before it. */
export function floodOf(clients: readonly Client[]): readonly Attack[] {
  let turn = 0;
  const next = <T>(all: readonly T[]): T => {
    turn += 1;
    return all[turn % all.length]!;
  };
  /** A wallet signs in from where it has asked. */
  const asked = new Map<Client, Challenge[]>(clients.map((client) => [client, []]));
  const garbage = garbageOf();

  async function askForChallenge() {
    const client = next(clients);
    const wallet = walletKeyOf(randomBytes(32));
    const reply = await client.ask('POST', '/api/v1/auth/challenge', { body: { wallet: wallet.address } });
    const waiting = asked.get(client) ?? [];
    const { nonce, message } = reply.body;
    if (reply.status === 200 && waiting.length < MAX_CHALLENGES) {
      waiting.push({ wallet, nonce: String(nonce), message: String(message) });
    }
    return reply;
  }

  function signIn() {
    const client = next(clients);
    const challenge = asked.get(client)?.shift();
    const wallet = challenge?.wallet ?? walletKeyOf(randomBytes(32));
    const nonce = challenge?.nonce ?? bs58.encode(randomBytes(44));
    const signature = wallet.sign(challenge?.message ?? nonce);
    return client.ask('POST', '/api/v1/auth/token', { body: { wallet: wallet.address, nonce, signature } });
  }

  function lookUp() {
    const wallet = bs58.encode(randomBytes(32));
    if (turn % 2 === 0) return next(clients).ask('GET', `/token-gate/get-tier?wallet=${wallet}`);
    const token = turn % 3 === 0 ? USDC : bs58.encode(randomBytes(32));
    return next(clients).ask('POST', '/token-gate/check-access', { body: { wallet, token, min_balance: 1 } });
  }

  return [
    { name: 'challenges', perSecond: REQUESTS_PER_SECOND, act: askForChallenge },
    { name: 'sign-ins', perSecond: REQUESTS_PER_SECOND, act: async () => signIn() },
    { name: 'look-ups', perSecond: LOOKS_PER_SECOND, act: async () => lookUp() },
    {
      name: 'garbage at gates',
      perSecond: CHALLENGES_PER_SECOND,
      act: async () => next(clients).ask('GET', next(GATES), { headers: next(garbage)(next(clients).url) }),
    },
  ];
}

/** Credentials that are good for nothing, from what is no credential to what only its signature or its nonce gives away. */
function garbageOf(): readonly ((url: string) => Fields)[] {
  const wallet = walletKeyOf(Keypair.generate().secretKey.subarray(0, 32));
  const text = () => randomBytes(24).toString('base64url');
  const token = () =>
    jwt.sign({ scope: '', sid: text(), network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }, randomBytes(32), {
      header: { alg: 'HS256', typ: 'at+jwt', kid: text() },
      subject: `wallet:${wallet.address}`,
      expiresIn: 900,
    });
  return [
    () => ({}),
    () => ({ authorization: `Bearer ${text()}` }),
    () => ({ authorization: `Bearer ${token()}` }),
    () => ({ 'sign-in-with-x': text() }),
    (url) => ({ 'sign-in-with-x': signInHeader(wallet, signInInfo(unissued(url))) }),
    () => ({ 'x-service-key': `key_${text()}`, 'x-service-secret': text() }),
  ];
}

/** A challenge that looks like one of the site, with a nonce that it has not issued. */
function unissued(url: string): SignInChallenge {
  const info = {
    domain: new URL(url).host,
    uri: `${url}/club/balance`,
    version: '1',
    nonce: bs58.encode(randomBytes(44)),
    issuedAt: new Date().toISOString(),
    requestId: 'GET',
  };
  const supportedChains = [{ chainId: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', type: 'ed25519' }];
  return { extensions: { 'sign-in-with-x': { info, supportedChains } } };
}
