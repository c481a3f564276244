import { newId } from '../../src/lib/ids.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import type { Token } from '../../src/protocol/types.js';
import { type EventRecord, type EventType, newEvent } from '../../src/storage/events/events.js';
import type { ProjectRecord } from '../../src/storage/projects/projects.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';

export const ANNA = walletKey('anna').address;
export const BORIS = walletKey('boris').address;

/** A token of devnet. */
export function tokenOf(symbol: string): Token {
  const token = KNOWN_TOKENS['solana-devnet'].find((it) => it.symbol === symbol);
  if (token === undefined) throw new Error(`there is no ${symbol} on devnet`);
  return token;
}

let made = 0;

/** A project with everything that one can have, and a slug of its own. */
export function newProject(changes: Partial<ProjectRecord> = {}): ProjectRecord {
  made += 1;
  return {
    id: newId('prj'),
    owner: ANNA,
    slug: `weather-${made}`,
    name: 'Weather',
    description: 'Of any town; "ünï\ncode" 🔑',
    upstream: { url: 'https://weather.example/v2', timeoutMs: 30_000 },
    price: { amount: 10_000n, token: tokenOf('USDC'), network: 'solana-devnet' },
    split: [
      { recipient: ANNA, bps: 9_000, label: 'anna' },
      { recipient: BORIS, bps: 1_000 },
    ],
    limits: { perSecond: 100, concurrent: 50, maxBodyBytes: 1_048_576 },
    visibility: 'listed',
    allowed: [BORIS, 'key_1'],
    tags: ['weather', 'forecast'],
    metadata: { team: 'a' },
    example: { method: 'POST', path: '/forecast', body: { town: 'Rome', days: [1, 2], deep: { nothing: null } } },
    secret: 'gws_current',
    previousSecret: 'gws_previous',
    previousSecretUntil: 1_700_000_086_400,
    state: 'active',
    version: 1,
    createdAt: 1_700_000_000_000 + made,
    updatedAt: 1_700_000_000_000 + made,
    ...changes,
  };
}

/** An event that tells of a project. */
export function eventOf(project: ProjectRecord, type: EventType): EventRecord {
  return newEvent(
    { type, owner: project.owner, projectId: project.id, data: { slug: project.slug } },
    1_700_000_000_000,
  );
}

/** A project after a change. */
export function nextVersion(project: ProjectRecord, changes: Partial<ProjectRecord> = {}): ProjectRecord {
  return { ...project, version: project.version + 1, updatedAt: project.updatedAt + 1_000, ...changes };
}
