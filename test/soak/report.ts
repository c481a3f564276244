import { machine } from '../bench/report.js';
import type { Checked } from './checks.js';
import { givenAgain, ranTwice } from './checks.js';
import type { Findings } from './findings.js';
import { type Course, coursesOf } from './flatness.js';
import type { OpenShop } from './open-shop.js';
import type { SoakOptions } from './options.js';
import type { Watch } from './watch.js';

/** All that was seen of a shop. */
export interface ShopResult {
  readonly shop: OpenShop;
  readonly watch: Watch;
  /** The last check; missing when there was none. */
  readonly checked: Checked | undefined;
}

/** All that was seen. */
export interface SoakResult {
  readonly options: SoakOptions;
  readonly minutes: number;
  readonly checks: number;
  readonly findings: Findings;
  readonly shops: readonly ShopResult[];
}

const MIB = 2 ** 20;

/** A soak as Markdown. */
export function toMarkdown(result: SoakResult): string {
  const { options, minutes, checks, findings, shops } = result;
  const verdict = findings.broken.length === 0 ? 'Every invariant held.' : `**${findings.broken.length} broke.**`;
  const call = `--minutes ${options.minutes} --seed ${options.seed}`;
  return [
    '# Soak',
    '',
    `${verdict} ${minutes.toFixed(1)} minutes, ${checks} full checks; \`${call}\`; ${machine()}.`,
    ...shops.flatMap(ofShop),
    ...groups(findings),
    ...broken(findings),
    '',
  ].join('\n');
}

function ofShop({ shop, watch, checked }: ShopResult): string[] {
  const lines = [...doorsOf(shop)].map(
    ([door, { sent, served, refused }]) => `| ${door} | ${sent} | ${served} | ${refused} |`,
  );
  return [
    '',
    `## ${shop.name}`,
    '',
    '| door | payments sent | served | refused for good |',
    '|---|---:|---:|---:|',
    ...lines,
    '',
    ...(checked === undefined ? ['There was no check.'] : [chainLine(shop, checked)]),
    `Starts of the process: ${shop.seller.lives}. Responses given again: ${givenAgain(shop)}. Handlers run again after a disturbance: ${ranTwice(shop)}.`,
    '',
    ...courseLines(watch),
  ];
}

function chainLine({ book }: OpenShop, { landed, failed, failures, fees, differences }: Checked): string {
  const byDoor = Object.entries(failures)
    .map(([door, count]) => `${door}: ${count}`)
    .join('; ');
  const paid = `${book.payments.length} payments sent, ${landed} landed, ${failed} failed on the chain${byDoor === '' ? '' : ` (${byDoor})`}`;
  return `${paid}; network fees ${fees} lamports, which is what the fee payer lost; reconciled with ${differences} differences.`;
}

/** Payments by door. */
export function doorsOf({ book }: OpenShop): Map<string, { sent: number; served: number; refused: number }> {
  const doors = new Map<string, { sent: number; served: number; refused: number }>();
  for (const { door, deliveries, end } of book.payments) {
    const counts = doors.get(door) ?? { sent: 0, served: 0, refused: 0 };
    doors.set(door, counts);
    counts.sent += 1;
    if (deliveries.length > 0) counts.served += 1;
    else if (end !== undefined) counts.refused += 1;
  }
  return new Map([...doors].sort(([one], [other]) => one.localeCompare(other)));
}

function courseLines({ lives }: Watch): string[] {
  const life = longestOf(lives);
  const courses = coursesOf(life);
  const lag = lives.flat();
  const most = Math.max(0, ...lag.map(({ lagMost }) => lagMost));
  const usual = Math.max(0, ...lag.map(({ lagP99 }) => lagP99));
  const told = `Event loop late: at most ${most.toFixed(0)} ms; 99th percentile of the worst ten seconds ${usual.toFixed(0)} ms.`;
  if (courses === undefined) return ['No life of the process was long enough to judge its memory.', '', told];
  const minutes = ((life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0)) / 60_000;
  return [
    `Longest life of the process: ${minutes.toFixed(1)} minutes.`,
    '',
    '| | early | late | a minute | |',
    '|---|---:|---:|---:|---|',
    ...courses.map(courseLine),
    '',
    told,
  ];
}

/** The life that memory is judged by. */
export function longestOf(lives: Watch['lives']): Watch['lives'][number] {
  return lives.reduce((longest, it) => (it.length > longest.length ? it : longest), []);
}

function courseLine({ what, early, late, perMinute, isFlat }: Course): string {
  const shown = (value: number): string => (what === 'handles' ? value.toFixed(1) : `${(value / MIB).toFixed(1)} MiB`);
  return `| ${what} | ${shown(early)} | ${shown(late)} | ${shown(perMinute)} | ${isFlat ? 'flat' : '**grows**'} |`;
}

function groups({ counts }: Findings): string[] {
  return [...counts].flatMap(([group, names]) => [
    '',
    `## ${group}`,
    '',
    '| | |',
    '|---|---:|',
    ...[...names].sort(([, one], [, other]) => other - one).map(([name, count]) => `| ${name} | ${count} |`),
  ]);
}

function broken({ broken: list }: Findings): string[] {
  return list.length === 0 ? [] : ['', '## What broke', '', ...list.map((it) => `- ${it}`)];
}
