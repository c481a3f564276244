import { isUtf8 } from 'node:buffer';
import { accessSync, constants, existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { plainLines } from '../../../lib/plain-text.js';
import { writeWhole } from '../../../storage/sql/backup/whole-file.js';
import { CommandError } from '../../command.js';
import { unwritable } from '../../output/system-words.js';
import { jsonText, tellStep } from '../../output/terminal.js';
import { writeOut } from '../../output/write-out.js';
import type { UrlResponse } from '../ask-url.js';

/** How an answer is given out. */
export interface AnswerForm {
  /** As JSON, with what became of the payment. */
  readonly json: boolean;
  /** File for the body of what is served. Default: standard output, where a terminal is not given all of what is long or not text. */
  readonly out: string | undefined;
}

const MAX_SHOWN_CHARACTERS = 4_000;
/** What was bought holds no secret of the machine: who may read it is for the umask to say. */
const AS_UMASK = 0o666;

/**
 * That a body can be written to a file, as far as that can be known before anything is paid for it.
 * @throws CommandError where it is there already, or its folder takes none
 */
export function requireNewFile(out: string | undefined): void {
  if (out === undefined) return;
  if (existsSync(out))
    throw new CommandError(`--out: "${out}" is there already, and is not overwritten; name another; nothing was sent`);
  try {
    accessSync(dirname(out), constants.W_OK);
  } catch (error) {
    throw unwritable('--out', out, error);
  }
}

/**
 * Gives a body out, and resolves when it is written.
 * @returns whether that is all of it: a terminal is given the beginning of a long text, and nothing of what is no text
 * @throws CommandError where it cannot be written
 */
export async function giveBody(response: UrlResponse, { out }: Pick<AnswerForm, 'out'>): Promise<boolean> {
  const { body } = response;
  if (goesToFile(response, out)) {
    await saveBody(body, out);
    tellStep('saved', `${body.length} bytes in ${out}`);
    return true;
  }
  if (body.length === 0) return true;
  if (process.stdout.isTTY) return showBody(response);
  await writeOut(body);
  return true;
}

/**
 * Gives out what is told for programs, with the body in it: as `body_base64` where it is no UTF-8, and in the file that is named by
 * `out` in its place.
 * @returns that it is all of it
 * @throws CommandError where it cannot be written
 */
export async function giveJson(
  facts: Readonly<Record<string, unknown>>,
  response: UrlResponse,
  { out }: Pick<AnswerForm, 'out'>,
): Promise<true> {
  await writeOut(`${jsonText({ ...facts, ...(await bodyFields(response, out)) }, 2)}\n`);
  return true;
}

async function bodyFields(response: UrlResponse, out: string | undefined): Promise<Record<string, string | null>> {
  const { body } = response;
  if (goesToFile(response, out)) {
    await saveBody(body, out);
    return { out };
  }
  return isUtf8(body) ? { body: body.toString() } : { body: null, body_base64: body.toString('base64') };
}

/** What says only why nothing is served would take the place of what is. */
function goesToFile({ status }: UrlResponse, out: string | undefined): out is string {
  return out !== undefined && status < 400;
}

async function saveBody(body: Buffer, out: string): Promise<void> {
  try {
    await writeWhole(out, (part) => writeFile(part, body), { mode: AS_UMASK });
  } catch (error) {
    throw unwritable('--out', out, error);
  }
}

async function showBody({ body, header }: UrlResponse): Promise<boolean> {
  if (!isUtf8(body) || body.includes(0)) {
    tellStep('body', `${header('content-type') ?? 'no text'}, ${body.length} bytes, which a terminal is not shown`);
    return false;
  }
  const text = body.toString();
  const isWhole = text.length <= MAX_SHOWN_CHARACTERS;
  await writeOut(`\n${plainLines(text.slice(0, MAX_SHOWN_CHARACTERS))}${isWhole ? '' : ' …'}\n`);
  if (!isWhole) tellStep('body', `the first ${MAX_SHOWN_CHARACTERS} of ${text.length} characters`);
  return isWhole;
}
