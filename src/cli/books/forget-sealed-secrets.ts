import { findLostSecrets, forgetLostSecrets, type LostSecrets } from '../../gateway/upstream-secrets/forget-secrets.js';
import { createSecretBox } from '../../gateway/upstream-secrets/secret-box.js';
import { readConfiguration } from '../../server/configuration/configuration.js';
import { withoutPassword } from '../../storage/sql/database-url.js';
import { none, readArguments } from '../arguments/arguments.js';
import { counted } from '../output/counted.js';
import { printJson, printStep } from '../output/terminal.js';
import { requireSchema } from './current-schema.js';
import { withStorage } from './with-storage.js';

const OPTIONS = { yes: { type: 'boolean' }, json: { type: 'boolean' } } as const;
const USAGE = 'tollhouse db forget-secrets [--yes] [--json]';

/** `tollhouse db forget-secrets`: 1 while there are secrets that no key opens. */
export async function forgetSealedSecrets(databaseUrl: string, args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS);
  none(positionals, USAGE);
  const { SECRETS_KEY } = process.env;
  const { secretsKey } = readConfiguration({ SECRETS_KEY });
  await requireSchema(databaseUrl);
  return withStorage(databaseUrl, async ({ gateway: { projectSecrets: store } }) => {
    const lost = await findLostSecrets(store, createSecretBox(USAGE, secretsKey));
    const isSure = values.yes === true;
    let left = isSure ? 0 : lost.length;
    for (const it of isSure ? lost : []) if (!(await forgetLostSecrets(store, it))) left += 1;
    tell(databaseUrl, lost, { left, isSure, isJson: values.json === true });
    return left === 0 ? 0 : 1;
  });
}

interface Told {
  readonly left: number;
  readonly isSure: boolean;
  readonly isJson: boolean;
}

function tell(databaseUrl: string, lost: readonly LostSecrets[], { left, isSure, isJson }: Told): void {
  const projects = lost.map(({ project: { slug, owner }, headers, query }) => ({ slug, owner, headers, query }));
  if (isJson) return printJson({ database: withoutPassword(databaseUrl), projects, left });
  printStep('database', withoutPassword(databaseUrl));
  for (const { slug, owner, headers, query } of projects) {
    const names = [...headers.map((it) => `header ${it}`), ...query.map((it) => `parameter ${it}`)].join(', ');
    printStep(isSure ? 'forgotten' : 'lost', `${slug} of ${owner}: ${names}`);
  }
  printStep('result', resultOf(projects.length, left, isSure));
}

function resultOf(found: number, left: number, isSure: boolean): string {
  if (found === 0) return 'SECRETS_KEY opens every secret; nothing is to be forgotten';
  if (!isSure) {
    return `${counted(found, 'project has', 'projects have')} secrets that SECRETS_KEY does not open. Where their key is lost for good, --yes takes them away`;
  }
  if (left > 0) return `${counted(left, 'project was', 'projects were')} changed meanwhile; run this again`;
  return 'the server starts again; these owners give their secrets anew (npx tollhouse projects update <slug> --header …), and their calls go without until then';
}
