import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import {
  owedResponse,
  PAYOUTS_PATHS,
  payoutRequestResponse,
  payoutResolutionResponse,
  payoutResponse,
} from '../../http/payouts/schemas.js';
import { none, onlyOne, readArguments } from '../arguments/arguments.js';
import { UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printStep } from '../output/terminal.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { pickAction } from '../sub-command.js';
import { readableProject } from './find-project.js';

type Payout = z.output<typeof payoutResponse>;
type Owed = z.output<typeof owedResponse>['data'];

const NAME = 'tollhouse payouts';
const TIME_LENGTH = '2026-01-31T12:00:00'.length;

/** How the payouts of a project are seen and made by its owner. */
export const OWNER_PAYOUTS_HELP = `tollhouse payouts list --project <project>
tollhouse payouts show <payout> --project <project>
tollhouse payouts pay --project <project>
tollhouse payouts resolve <payout> --project <project>

For the owner of a project with several recipients; sign in first.

list      its payouts, the newest first, and what it owes and is in none, with the reasons. One that is "unknown" was sent,
          and nobody who was asked can say any more whether it has landed
show      a payout with its recipients and its transaction
pay       pays out now what is owed and is worth a transaction
resolve   asks the chain what became of a payout, and books what it says. Nothing is sent: nobody is paid twice. What no
          node can prove stays as it is. Exit code 0: it is over; 1: it is still open

  --project <project>   slug or id; of a deleted one its id
  --json                prints what the server answers
  --server <url>        Tollhouse server (default: the one signed in to last)`;

const actions = { list, show, pay, resolve };

/** `tollhouse payouts` with `--project`: answers the exit code. */
export async function ownerPayouts(args: readonly string[]): Promise<number> {
  const [first = 'list', ...rest] = args;
  // Flags alone: the list.
  const [name, flags] = first.startsWith('-') ? ['list', args] : [first, rest];
  return pickAction(NAME, actions, name)(flags);
}

async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = read(args);
  none(positionals, `${NAME} list --project <project>`);
  const { session, project_id } = await open(values);
  const payouts = await session.list(fillPath(PAYOUTS_PATHS.all, { project_id }));
  const owed = understood(owedResponse, await session.get(fillPath(PAYOUTS_PATHS.owed, { project_id }))).data;
  if (values.json) printJson({ payouts, owed });
  else {
    printPayouts(payouts.map((it) => understood(payoutResponse, it)));
    printOwed(owed);
  }
  return 0;
}

async function show(args: readonly string[]): Promise<number> {
  const { values, positionals } = read(args);
  const payout_id = onlyOne(positionals, `${NAME} show <payout> --project <project>`);
  const { session, project_id } = await open(values);
  const found = await session.get(fillPath(PAYOUTS_PATHS.one, { project_id, payout_id }));
  if (values.json) printJson(found);
  else printPayout(understood(payoutResponse, found));
  return 0;
}

async function pay(args: readonly string[]): Promise<number> {
  const { values, positionals } = read(args);
  none(positionals, `${NAME} pay --project <project>`);
  const { session, project_id } = await open(values);
  const answered = await session.post(fillPath(PAYOUTS_PATHS.all, { project_id }), {});
  if (values.json) {
    printJson(answered);
    return 0;
  }
  const { payouts, owed } = understood(payoutRequestResponse, answered);
  if (payouts.length === 0) printStep('payouts', 'nothing can be paid now');
  else printPayouts(payouts);
  printOwed(owed);
  return 0;
}

async function resolve(args: readonly string[]): Promise<number> {
  const { values, positionals } = read(args);
  const payout_id = onlyOne(positionals, `${NAME} resolve <payout> --project <project>`);
  const { session, project_id } = await open(values);
  const answered = await session.post(fillPath(PAYOUTS_PATHS.resolve, { project_id, payout_id }), {});
  const { resolution, detail, payout } = understood(payoutResolutionResponse, answered);
  if (values.json) printJson(answered);
  else {
    const isOwed = payout.state === 'failed' ? ' What it was to pay is owed again.' : '';
    printStep(resolution === 'resolved' ? payout.state : 'open', `${payout.id}: ${detail}${isOwed}`);
  }
  return resolution === 'resolved' ? 0 : 1;
}

function read(args: readonly string[]) {
  return readArguments(args, {
    project: { type: 'string' },
    json: { type: 'boolean' },
    server: { type: 'string' },
  });
}

async function open({
  project,
  server,
}: {
  readonly project?: string | undefined;
  readonly server?: string | undefined;
}) {
  if (project === undefined) throw new UsageError('--project needs the slug or the id of a project');
  const session: ServerSession = openSession(server);
  return { session, project_id: await readableProject(session, project) };
}

/** Prints payouts as a list. */
export function printPayouts(payouts: readonly Payout[]): void {
  if (payouts.length === 0) return printStep('payouts', 'there are none yet');
  const rows = payouts.map((it) => [
    it.id,
    it.state,
    `${it.amount} ${it.token}`,
    timeText(it.created_at),
    it.reason ?? '',
  ]);
  printTable(['payout', 'state', 'amount', 'since', 'reason'], rows);
}

function printPayout(payout: Payout): void {
  printStep(payout.state, `${payout.id}: ${payout.amount} ${payout.token}, made at ${payout.created_at}`);
  if (payout.reason !== null) printStep('reason', payout.reason);
  for (const { recipient, amount } of payout.legs) printStep('to', `${recipient}: ${amount} ${payout.token}`);
  if (payout.signature !== null) printStep('transaction', payout.signature);
  if (payout.explorer_url !== null) printStep('see', payout.explorer_url);
}

/** Prints what a project owes and is in no payout. */
export function printOwed(owed: Owed): void {
  if (owed.length === 0) return printStep('owed', 'nothing else is owed');
  const rows = owed.map((it) => [
    ...[it.recipient, `${it.amount} ${it.token}`, timeText(it.oldest_at), it.held_back ?? ''],
    it.minimum === null ? (it.payable_from ?? '') : `from ${it.minimum} ${it.token}`,
  ]);
  printTable(['owed to', 'amount', 'since', 'held back', 'paid'], rows);
}

function timeText(time: string): string {
  return time.slice(0, TIME_LENGTH).replace('T', ' ');
}
