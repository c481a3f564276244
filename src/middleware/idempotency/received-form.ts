import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { fieldsOf } from '../../lib/http/parsed-bytes.js';
import { boundaryOf } from './unbound-form.js';

/** What parsers of forms leave on a request: multer, formidable, express-fileupload, and what is made like them. */
type ReadForm = IncomingMessage & {
  readonly body?: unknown;
  readonly fields?: unknown;
  readonly file?: unknown;
  readonly files?: unknown;
};

const bytes = z.instanceof(Uint8Array).optional().catch(undefined);
const text = z.string().min(1).optional().catch(undefined);
const fileSchema = z.object({
  size: z.number(),
  ...{ fieldname: text, originalname: text, originalFilename: text, name: text, mimetype: text },
  ...{ buffer: bytes, data: bytes },
  ...{ path: text, filepath: text, tempFilePath: text },
});
type ReceivedFile = z.output<typeof fileSchema>;

/** The least that is written for a field, and that its end is, beside their boundaries. */
const FIELD_BYTES = '--\r\nContent-Disposition: form-data; name=""\r\n\r\n\r\n'.length;
const END_BYTES = '----'.length;

/**
 * A text of a form that somebody has read: what came of its fields, and of its files the names and the digests, be they in memory or on
 * a disk. Undefined where two forms could have the same one: with a file whose content is not there, or that is nowhere, so that
 * the fields are not all that was sent.
 */
export async function formText(req: ReadForm): Promise<string | undefined> {
  const { body, fields, headers } = req;
  try {
    const parts = [body, fields].flatMap((it) => fieldsOf(it ?? {}, ''));
    const files = await Promise.all(filesOf(req).map(([field, it]) => describeFile(field, it)));
    const boundary = boundaryOf(headers['content-type']) ?? '';
    const boundaries = boundary.length * (parts.length + files.length + 1);
    const length = headers['content-length'] === undefined ? null : Number(headers['content-length']) - boundaries;
    const isKnown = files.length === 0 ? hasAll(parts, length, boundary) : !files.includes(undefined);
    return isKnown ? JSON.stringify([body ?? null, fields ?? null, files, length]) : undefined;
  } catch {
    // Nested too deeply, in itself, or a file that is gone.
    return undefined;
  }
}

/** Whether there is no room for one part more in what was sent beside boundaries. */
function hasAll(parts: ReturnType<typeof fieldsOf>, length: number | null, boundary: string): boolean {
  if (length === null || boundary === '') return false;
  const sizes = parts.map(({ name, value }) => FIELD_BYTES + Buffer.byteLength(name) + Buffer.byteLength(value));
  const over = length - sizes.reduce((sum, size) => sum + size, END_BYTES);
  return over >= 0 && over < FIELD_BYTES + boundary.length;
}

/** All that parsers call files, each by its field where they say it there. */
function filesOf({ file, files }: ReadForm): (readonly [field: string, file: unknown])[] {
  const isByField = !Array.isArray(files) && !fileSchema.safeParse(files).success;
  const entries = isByField ? Object.entries(Object(files ?? {})) : [['', files] as const];
  return [['', file] as const, ...entries]
    .flatMap(([field, it]) => [it].flat().map((one: unknown) => [field, one] as const))
    .filter(([, one]) => one !== undefined && one !== null);
}

/** Names, type and digest of a file; undefined where its content cannot be had. */
async function describeFile(field: string, given: unknown): Promise<readonly unknown[] | undefined> {
  const reading = fileSchema.safeParse(given);
  const digest = reading.success ? await digestOf(reading.data) : undefined;
  if (!reading.success || digest === undefined) return undefined;
  const { fieldname, originalname, originalFilename, name, mimetype } = reading.data;
  return [field, fieldname, originalname, originalFilename, name, mimetype, digest];
}

async function digestOf({ size, ...file }: ReceivedFile): Promise<string | undefined> {
  const hash = createHash('sha256');
  // Who has put it on a disk may leave an empty one in its place.
  const held = [file.buffer, file.data].find((it) => it?.length === size);
  if (held !== undefined) return hash.update(held).digest('hex');
  const path = file.path ?? file.filepath ?? file.tempFilePath;
  if (path === undefined) return undefined;
  let length = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    length += chunk.length;
  }
  return length === size ? hash.digest('hex') : undefined;
}
