import { inspectEnvironment, type ServerConfiguration, VARIABLES } from '../configuration/configuration.js';
import { type Misspelt, misspeltVariables } from '../configuration/misspelt.js';
import { NETWORK_KEYS } from '../configuration/network-variables.js';
import { modeForOthers } from '../configuration/secret-file.js';
import { requirePackages } from '../needed-packages.js';
import { broken, type Examined, risky, well } from './examination.js';
import { examineChain } from './examine-chain.js';
import { examineAddress, examineDatabase, examineRedis, examineSecret, examineSecretsKey } from './examine-server.js';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Looks at everything that a server with this environment would need, before it is started: nothing is written, and no payment
 * is made. What cannot be read ends it: nothing more can be looked at then.
 */
export async function examine(env: Variables): Promise<readonly Examined[]> {
  const misspelt = misspeltVariables(env, VARIABLES).map(misspeltLine);
  const { configuration, faults } = inspectEnvironment(env);
  if (configuration === undefined) return [...misspelt, ...faults.map(faultLine)];
  const packages = examinePackages(configuration);
  if (packages.length > 0) return [...misspelt, ...packages];
  const [database, redis, chain, secretsKey] = await Promise.all([
    examineDatabase(configuration),
    examineRedis(configuration),
    examineChain(configuration),
    examineSecretsKey(configuration),
  ]);
  return [
    ...misspelt,
    ...examineFiles(env, configuration),
    ...chain,
    database,
    ...redis,
    examineSecret(configuration),
    secretsKey,
    ...examineAddress(configuration),
  ];
}

/** Packages that the server cannot start without, and without which nothing more can be looked at. */
function examinePackages(configuration: ServerConfiguration): readonly Examined[] {
  try {
    requirePackages(configuration);
    return [];
  } catch (error) {
    const [, detail = String(error), command = 'install them'] =
      /^.*? (needs .*?): (npm .*)$/.exec(String(error)) ?? [];
    return [broken('packages', detail, command)];
  }
}

function misspeltLine({ name, meant }: Misspelt): Examined {
  return risky(name, `is none of ours and counts for nothing; ${meant} is not set`, `did you mean ${meant}?`);
}

/** `PORT must be a port number`. */
function faultLine(fault: string): Examined {
  const [, name, detail] = /^([A-Z_]+) (must be .*)$/s.exec(fault) ?? [];
  if (name === undefined || detail === undefined) return broken('environment', fault, 'set what the sentence names');
  return broken(name, detail, `${name} ${detail}; mend it where it is set`);
}

/** Files with keys, which nobody else may read. */
function examineFiles(env: Variables, { chain }: ServerConfiguration): readonly Examined[] {
  if (chain === undefined) return [];
  return ['FACILITATOR_KEYPAIR', 'SPLIT_KEYPAIR', 'REFUND_KEYPAIR', ...NETWORK_KEYS].flatMap((name) => {
    const values = env[name]?.startsWith('[') ? [] : (env[name] ?? '').split(',').map((it) => it.trim());
    const open = values.flatMap((path) => {
      const mode = path === '' ? undefined : modeForOthers(path);
      return mode === undefined
        ? []
        : [risky(name, `others than its owner can read ${path} (mode ${mode})`, `chmod 600 ${path}`)];
    });
    if (open.length > 0) return open;
    return values.some((it) => it !== '') || env[name] ? [well(name, 'is a key that can be read')] : [];
  });
}
