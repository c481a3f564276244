import { fillPath } from '../../http/framework/path.js';
import {
  auditResponse,
  auditsResponse,
  OPERATOR_PATHS,
  operatorKeyResponse,
  operatorProjectResponse,
  ownerResponse,
  suspensionResponse,
} from '../../http/operator/schemas.js';
import { none, onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printStep } from '../output/terminal.js';
import { openSession, understood } from '../session/session.js';
import { type Action, pickAction } from '../sub-command.js';

const NAME = 'tollhouse operator';
const AUDIT_LIMIT = 50;
const MAX_AUDIT_LIMIT = 100;
const SECONDS = 19;

const TEXT = { type: 'string' } as const;

/** The quotas that there are options for; the server writes their names with an underscore. */
const QUOTAS = {
  projects: TEXT,
  keys: TEXT,
  webhooks: TEXT,
  'project-bytes': TEXT,
  'daily-changes': TEXT,
  'unpaid-requests': TEXT,
  'fee-percent': TEXT,
} as const;

const actions: Readonly<Record<string, Action>> = {
  owners: listing(OPERATOR_PATHS.owners, ['wallet', 'since', 'projects', 'keys', 'webhooks', 'suspended'], (json) => {
    const it = understood(ownerResponse, json);
    const counts = [it.projects, it.keys, it.webhooks].map(String);
    return [it.wallet, day(it.since), ...counts, since(it.suspended_at ?? it.wallet_suspended_at)];
  }),
  projects: listing(OPERATOR_PATHS.projects, ['id', 'slug', 'owner', 'state', 'visibility', 'suspended'], (json) => {
    const it = understood(operatorProjectResponse, json);
    return [it.id, it.slug, it.owner, it.state, it.visibility, since(it.suspended_at)];
  }),
  keys: listing(OPERATOR_PATHS.keys, ['id', 'name', 'owner', 'scopes', 'used', 'suspended'], (json) => {
    const it = understood(operatorKeyResponse, json);
    const used = it.revoked_at === null ? since(it.last_used_at) : 'revoked';
    return [it.id, it.name, it.owner, it.scopes.join(','), used, since(it.suspended_at)];
  }),
  suspensions: listing(OPERATOR_PATHS.suspensions, ['kind', 'target', 'since', 'by', 'reason'], (json) => {
    const it = understood(suspensionResponse, json);
    return [it.kind, it.target, day(it.suspended_at), it.operator, it.reason ?? '–'];
  }),
  suspend,
  resume,
  quotas,
  audit,
};

/** `tollhouse operator`: what the wallets in `OPERATORS` of a server see and do. */
export const operatorCommand: Command = {
  help: `tollhouse operator owners
tollhouse operator projects [--owner <wallet>]
tollhouse operator keys [--owner <wallet>]
tollhouse operator suspensions
tollhouse operator suspend <kind> <id or wallet> [--reason <text>]
tollhouse operator resume <kind> <id or wallet>
tollhouse operator quotas <wallet> [--projects <n>] [--keys <n>] [--webhooks <n>] [--project-bytes <n>]
                                   [--daily-changes <n>] [--unpaid-requests <n>] [--fee-percent <n>]
tollhouse operator audit [--owner <wallet>] [--actor <wallet>] [--target <id>] [--action <action>] [--limit <n>]

What strangers have on a server, for the wallets in its OPERATORS. Sign in first.
Kinds are "project", "key", "owner" (all that a wallet sells) and "wallet" (all that it and its keys do).

  --owner <wallet>     of this owner only
  --reason <text>      why, for the audit log
  --projects <n>       what the wallet may own; "default" takes its own quota back
  --daily-changes <n>  how many changes it and its keys may make a day
  --unpaid-requests <n>  how many payments its keys may ask for a day that nobody makes
  --fee-percent <n>    how much of the network fees of an hour payments for what it sells may use (default 20)
  --actor <wallet>     who has made the change
  --target <id>        what was changed
  --action <action>    such as project.updated
  --limit <n>          the newest so many, 1 to 100 (default 50)
  --json               prints what the server answers
  --server <url>       Tollhouse server (default: the one signed in to last)`,
  run: ([name, ...args]) => pickAction(NAME, actions, name)(args),
};

function listing(path: string, heads: readonly string[], rowOf: (json: unknown) => string[]): Action {
  const isOwned = path === OPERATOR_PATHS.projects || path === OPERATOR_PATHS.keys;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return async (args) => {
    const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, owner: { type: 'string' } });
    none(positionals, `${NAME} ${name}`);
    if (values.owner !== undefined && !isOwned) throw new UsageError(`${NAME} ${name} takes no --owner`);
    const query = values.owner === undefined ? '' : `?owner=${encodeURIComponent(values.owner)}`;
    const found = await openSession(values.server).list(`${path}${query}`);
    if (values.json) printJson(found);
    else if (found.length === 0) console.log(`no ${name}`);
    else printTable(heads, found.map(rowOf));
    return 0;
  };
}

async function suspend(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, reason: { type: 'string' } });
  const what = targetOf(positionals, 'suspend');
  const { server, reason, json } = values;
  const body = { ...what, ...(reason === undefined ? {} : { reason }) };
  const answer = await openSession(server).post(OPERATOR_PATHS.suspend, body);
  if (json) printJson(answer);
  else printStep('suspended', `${what.kind} ${what.target}; known everywhere within 30 seconds`);
  return 0;
}

async function resume(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const what = targetOf(positionals, 'resume');
  await openSession(values.server).post(OPERATOR_PATHS.resume, what);
  if (!values.json) printStep('resumed', `${what.kind} ${what.target}`);
  return 0;
}

function targetOf([kind, target, ...rest]: readonly string[], action: string) {
  if (kind !== undefined && target !== undefined && rest.length === 0) return { kind, target };
  throw new UsageError(`usage: ${NAME} ${action} project|key|owner|wallet <id or wallet>`);
}

async function quotas(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, ...QUOTAS });
  const wallet = onlyOne(positionals, `${NAME} quotas <wallet> [--projects <n>] …`);
  const given = Object.keys(QUOTAS).flatMap((option) => {
    const text: unknown = Reflect.get(values, option);
    return typeof text === 'string' ? [[option.replace('-', '_'), readQuota(option, text)] as const] : [];
  });
  const session = openSession(values.server);
  const path = fillPath(OPERATOR_PATHS.owner, { wallet });
  const changed = { quotas: Object.fromEntries(given) };
  const answer = await (given.length === 0 ? session.get(path) : session.patch(path, changed));
  if (values.json) printJson(answer);
  else for (const [name, most] of Object.entries(understood(ownerResponse, answer).quotas)) printStep(name, ` ${most}`);
  return 0;
}

function readQuota(option: string, text: string): number | null {
  if (text === 'default') return null;
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new UsageError(`--${option} must be a number or "default", not "${text}"`);
}

async function audit(args: readonly string[]): Promise<number> {
  const filters = { owner: TEXT, actor: TEXT, target: TEXT, action: TEXT } as const;
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, ...filters, limit: TEXT });
  none(positionals, `${NAME} audit`);
  const { server, json, limit = String(AUDIT_LIMIT), ...wanted } = values;
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_AUDIT_LIMIT) {
    throw new UsageError(`--limit must be a number, 1 to ${MAX_AUDIT_LIMIT}, not "${limit}"`);
  }
  const query = new URLSearchParams({ limit });
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) query.set(name, value);
  const answer = await openSession(server).get(`${OPERATOR_PATHS.audit}?${query}`);
  const { data } = understood(auditsResponse, answer);
  if (json) printJson(data);
  else if (data.length === 0) console.log('nothing was changed');
  else printTable(['when', 'action', 'target', 'by', 'from'], data.map(auditRow));
  return 0;
}

function auditRow(json: unknown): string[] {
  const { at, action, target, actor } = understood(auditResponse, json);
  const by = actor.key_id === null ? actor.wallet : `${actor.wallet} (${actor.key_id})`;
  return [at.slice(0, SECONDS).replace('T', ' '), action, target, by, actor.address ?? '–'];
}

function day(time: string): string {
  return time.slice(0, 10);
}

function since(time: string | null): string {
  return time === null ? '–' : day(time);
}
