import { TollhouseError } from '../../errors/errors.js';
import { lineOf } from '../sql/driver-error.js';

/** What Redis refuses with, and what that means and asks for. */
const REFUSALS: Readonly<Record<string, string>> = {
  READONLY: 'it is a replica: name its primary in REDIS_URL, or make it one',
  MASTERDOWN: 'it is a replica that has lost its primary: name that in REDIS_URL, or make this one a primary',
  LOADING: 'it is still reading its data: it will answer when it has',
  BUSY: 'a script of somebody runs on in it: end that by SCRIPT KILL',
  MISCONF: 'it cannot write its data to its disk: make room there, or see its log',
  NOREPLICAS: 'it has fewer replicas than its min-replicas-to-write: start them, or lower that',
  OOM: 'its memory is full: raise its maxmemory, or let it forget (maxmemory-policy)',
  NOAUTH: 'it wants a password: put it into REDIS_URL',
  WRONGPASS: 'the user or the password is another one: correct REDIS_URL',
  NOPERM:
    'its user may not do that: allow it keys that begin with tollhouse: and the commands for them, EVAL among them',
  'ERR DB': 'it does not have that database: name one from 0 up to its setting databases less one in REDIS_URL',
};
const UNUSUAL = 'see its log, and that nothing else answers there';
/** Errors inside a script are told behind a dash before Redis 7. */
const KNOWN = new RegExp(`(?:^|[\\s-])(${Object.keys(REFUSALS).join('|')})\\b`);

/** What a retry does not help: the URL is wrong. */
const OF_URL = new Set(['NOAUTH', 'WRONGPASS', 'NOPERM', 'ERR DB']);

/** Redis has answered, and with an error: it is there, and does not do what it is asked. */
export class RedisRefused extends TollhouseError {
  /** The word that Redis begins such an error with. */
  readonly word: string;
  /** What that means, and what to do. */
  readonly advice: string;

  /** @param cause - what Redis has said; nothing of it but its first word is shown to clients */
  constructor(cause: unknown) {
    const word = KNOWN.exec(lineOf(cause))?.[1] ?? /^[A-Z]+/.exec(lineOf(cause))?.[0] ?? 'it gives no reason';
    const advice = REFUSALS[word] ?? UNUSUAL;
    super('store_unavailable', `Redis refuses: ${word}, ${advice}.`, { retryAfterSeconds: 2, cause });
    this.word = word;
    this.advice = advice;
  }

  /** Whether this is never another time. */
  get isOfUrl(): boolean {
    return OF_URL.has(this.word);
  }

  /** Whether another connection may lead to a Redis that takes writes, as it does after a failover. */
  get isOfReplica(): boolean {
    return this.word === 'READONLY' || this.word === 'MASTERDOWN';
  }
}

/** Whether Redis has said this, and not the driver or the network. */
export function isOfRedis(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ReplyError';
}
