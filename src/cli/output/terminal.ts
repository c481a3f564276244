import { plain, plainLines } from '../../lib/plain-text.js';
import { asCalled } from './own-command.js';

const REFRESH_MS = 100;
const LABEL_WIDTH = 11;
/** What JSON leaves as it is. */
const STEERING = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const CLEAR_LINE = '\r\u001b[2K';

/** Prints one step: a label in its column, then what happened, and what to run as this program was called. */
export function printStep(label: string, text: string): void {
  console.log(stepLine(label, text));
}

/** The same on standard error, for a command whose standard output is what it brings. */
export function tellStep(label: string, text: string): void {
  console.error(stepLine(label, text));
}

/** A step as a line. */
export function stepLine(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH - 1)} ${asCalled(plain(text))}`;
}

/**
 * Waits for something and shows for how long, on standard error: a line that counts on a terminal, one plain line elsewhere.
 * The line is gone when the wait is over.
 */
export async function withProgress<T>(label: string, text: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) {
    tellStep(label, `${text} …`);
    return work;
  }
  const since = performance.now();
  const show = () => stderr.write(`${CLEAR_LINE}${label.padEnd(LABEL_WIDTH)}${text} … ${secondsSince(since)}`);
  show();
  const timer = setInterval(show, REFRESH_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    stderr.write(CLEAR_LINE);
  }
}

/** Time since a moment of `performance.now()`, as `1.2 s`. */
export function secondsSince(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** Prints a line that has words of a server in it, or says what to run. */
export function printLine(text: string): void {
  console.log(asCalled(plain(text)));
}

/** Prints a value for programs. */
export function printJson(value: unknown): void {
  console.log(jsonText(value, 2));
}

/**
 * A value as JSON, in which what would steer a terminal is escaped.
 * @param indent - spaces a level. Default: all of it in one line
 */
export function jsonText(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return json.replace(STEERING, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Prints a text of a server as it is; on a terminal without what would steer that. */
export function printText(text: string): void {
  process.stdout.write(process.stdout.isTTY ? plainLines(text) : text);
}
