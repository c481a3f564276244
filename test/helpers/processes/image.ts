import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../until.js';
import { commandOf, type Instruction, readDockerfile, type Stage, sentToBuilder } from './dockerfile.js';

const run = promisify(execFile);

/** Of the machine that builds; what jest sets for itself is none of it. */
const { NODE_ENV: _environment, NODE_OPTIONS: _options, ...MACHINE } = process.env;

/** What a container of an image does with a process: its user, and process 1 in a space of its own. */
const [AS_FIRST_PROCESS, AS_USER] = [
  ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
  ['setpriv', '--clear-groups', '--no-new-privs'],
];

/** An image without Docker: the folders that its Dockerfile makes, by the steps of that file. */
export interface Image {
  /** The folder that is `/` in the image. */
  readonly root: string;
  /** Starts its command as a container does: as its user, process 1 of a space of its own. */
  start(env: Readonly<Record<string, string>>): Container;
  remove(): void;
}

/** A process of an image. */
export interface Container {
  readonly child: ChildProcess;
  /** The exit code of `HEALTHCHECK`. */
  health(): Promise<number | null>;
  /** Sends it SIGTERM, as `docker stop` does; the exit code. */
  stop(): Promise<number | null>;
}

/** What of the machine is missing for that; undefined when nothing is. */
export function missingForImages(): string | undefined {
  if (process.getuid?.() !== 0) return 'root, to become another user';
  const [command = '', ...args] = [...AS_FIRST_PROCESS, ...AS_USER, 'true'];
  return spawnSync(command, args).status === 0 ? undefined : 'setpriv, or the right to unshare processes';
}

/** Runs the steps of a Dockerfile in folders of their own; the base image is this machine, with its Node. */
export async function buildImage(context: string, dockerfile: string): Promise<Image> {
  // Not below the repository, whose packages would be found, nor in memory: it is large.
  const folder = mkdtempSync('/var/tmp/tollhouse-image-');
  chmodSync(folder, 0o755);
  const stages = readDockerfile(dockerfile);
  const isSent = sentToBuilder(`${dockerfile}.dockerignore`);
  const copy = (from: string, target: string): void =>
    cpSync(from, target, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !from.startsWith(context) || isSent(relative(context, path)),
    });
  for (const stage of stages) await runSteps(stage, { folder, context, copy });
  const last = stages.at(-1);
  if (last === undefined) throw new Error(`${dockerfile} has no stage`);
  const root = join(folder, last.name);
  return { root, start: (env) => startIn(root, last, env), remove: () => rmSync(folder, { recursive: true }) };
}

interface Workshop {
  readonly folder: string;
  readonly context: string;
  readonly copy: (from: string, target: string) => void;
}

async function runSteps({ name, instructions }: Stage, { folder, context, copy }: Workshop): Promise<void> {
  const root = join(folder, name);
  let at = root;
  for (const step of instructions) {
    if (step.name === 'WORKDIR') {
      at = join(root, step.text);
      mkdirSync(at, { recursive: true });
    }
    if (step.name === 'RUN') await run('sh', ['-c', step.text], { cwd: at, env: buildEnvironment() });
    if (step.name === 'COPY') copyStep(step, { at, context, folder, copy });
  }
}

/** What is in the cache of npm is not fetched again. */
function buildEnvironment(): NodeJS.ProcessEnv {
  return { ...MACHINE, npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false' };
}

/** A file goes into a folder under its own name; a folder gives what it holds. */
function copyStep({ text }: Instruction, { at, context, folder, copy }: Workshop & { readonly at: string }): void {
  const words = text.split(' ');
  const stage = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
  const [source, sources] = stage === undefined ? [context, words] : [join(folder, stage), words.slice(1)];
  const target = sources.at(-1) ?? '';
  for (const path of sources.slice(0, -1)) {
    if (!existsSync(join(source, path))) throw new Error(`COPY ${text}: there is no ${path}`);
    copy(join(source, path), join(at, target, target.endsWith('/') ? basename(path) : ''));
  }
}

function startIn(root: string, stage: Stage, env: Readonly<Record<string, string>>): Container {
  const textOf = (name: string) => stage.instructions.filter((it) => it.name === name).map(({ text }) => text);
  const [user = '', group = ''] = (textOf('USER').at(-1) ?? '').split(':');
  const ofImage = textOf('ENV').flatMap((text) => text.split(' ').map((pair) => pair.split(/=(.*)/, 2)));
  const cwd = join(root, textOf('WORKDIR').at(-1) ?? '');
  const asUser = [...AS_USER, '--reuid', user, '--regid', group];
  const options = { cwd, env: { PATH: process.env.PATH, ...Object.fromEntries(ofImage), ...env } };
  const begin = ([command = '', ...args]: readonly string[]) => spawn(command, args, options);
  const child = begin([...AS_FIRST_PROCESS, ...asUser, ...commandOf(stage, 'CMD')]);
  const ended = once(child, 'close').then(([code]): number | null => code);
  return {
    child,
    async health() {
      const [code] = await once(begin([...asUser, ...commandOf(stage, 'HEALTHCHECK')]), 'close');
      return code;
    },
    async stop() {
      // What unshare has started, as it is numbered outside.
      const children = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
      await until(() => children() !== '');
      process.kill(Number(children()), 'SIGTERM');
      return ended;
    },
  };
}
