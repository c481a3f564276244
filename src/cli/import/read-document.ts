import { readFileSync, statSync } from 'node:fs';
import { UsageError } from '../command.js';
import { fileFault } from '../output/system-words.js';

/** Far beyond what a project takes. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads a JSON object from a file.
 * @throws UsageError where there is none, with what to do
 */
export function readDocumentFile(file: string): object {
  const text = readText(file);
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  } catch (error) {
    if (isYaml(file, text)) {
      throw new UsageError(
        `"${file}" is YAML, and JSON is read here; make it with: npx js-yaml ${file} > openapi.json`,
      );
    }
    throw new UsageError(`"${file}" is no JSON (${messageOf(error)})`);
  }
  throw new UsageError(`"${file}" is no JSON object, and so no OpenAPI document`);
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new UsageError(`"${file}" has ${size} bytes, and at most ${MAX_BYTES} are read`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`"${file}" cannot be read (${fileFault(error)})`);
  }
}

function isYaml(file: string, text: string): boolean {
  return /\.ya?ml$/i.test(file) || /^(?:openapi|swagger):/m.test(text.slice(0, 10_000));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
