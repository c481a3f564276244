import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { demoWallet } from '../../src/sandbox/tokens/demo-wallets.js';
import { inspectEnvironment, VARIABLES } from '../../src/server/configuration/configuration.js';
import { commandOf, readDockerfile, sentToBuilder } from '../helpers/processes/dockerfile.js';
import { startPostgres } from '../helpers/storage/postgres.js';

const FOLDER = join(__dirname, '../../examples/deploy');
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** What Compose is asked to run; a word that is not here is one that nobody has thought about. */
const service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  env_file: z.string().optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  secrets: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() })
    .optional(),
  restart: z.literal('unless-stopped'),
  init: z.literal(true).optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
});
const compose = z
  .strictObject({
    name: z.string(),
    services: z.record(z.string(), service),
    volumes: z.record(z.string(), z.null()),
    secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  })
  .parse(parse(textOf('compose.yaml')));
const services = Object.entries(compose.services);

/** The lines `NAME=value` of `.env.example`. */
const example = new Map(
  textOf('.env.example')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
);

describe('compose.yaml', () => {
  test('names only services, volumes and secrets that it has, and uses all of them', () => {
    const names = (of: (it: z.infer<typeof service>) => readonly string[]) => [
      ...new Set(services.flatMap(([, it]) => of(it))),
    ];
    const namedVolumes = names(({ volumes }) =>
      volumes.map((it) => it.split(':')[0] ?? '').filter((it) => !it.startsWith('.')),
    );
    expect(namedVolumes.sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(names(({ secrets }) => secrets)).toEqual(Object.keys(compose.secrets));
    const needed = names((it) => Object.keys(it.depends_on));
    expect(needed.filter((name) => compose.services[name]?.healthcheck === undefined)).toEqual([]);
  });

  test('keeps what Postgres, Redis and the backups hold, and shows none of it outside', () => {
    const kept = services.filter(([, { volumes }]) => volumes.some((it) => !it.startsWith('.'))).map(([name]) => name);
    expect(kept.sort()).toEqual(['backup', 'postgres', 'redis']);
    expect(services.flatMap(([name, { ports }]) => ports.map((port) => [name, port]))).toEqual([
      ['tollhouse', '127.0.0.1:4020:4020'],
    ]);
  });

  test('sets variables that the server reads, and asks .env for what .env.example has', () => {
    const { environment } = compose.services.tollhouse ?? {};
    expect(Object.keys(environment ?? {}).filter((name) => !VARIABLES.includes(name))).toEqual([]);
    const asked = [...textOf('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(asked.filter((name) => !example.has(String(name)))).toEqual([]);
  });

  test('mounts and builds files that there are', () => {
    const mounted = services.flatMap(([, { volumes }]) =>
      volumes.filter((it) => it.startsWith('.')).map((it) => it.split(':')[0] ?? ''),
    );
    const { build } = compose.services.tollhouse ?? {};
    const built = join(build?.context ?? '', build?.dockerfile ?? '');
    for (const file of [...mounted, built]) expect(statSync(join(FOLDER, file)).isFile()).toBe(true);
  });

  test('gives the server longer to stop than the server takes, which is 15 seconds', () => {
    const { stop_grace_period: grace = '', init } = compose.services.tollhouse ?? {};
    expect([Number.parseInt(grace, 10) > 15, init]).toEqual([true, true]);
  });
});

describe('.env.example', () => {
  test('names variables that the server reads, and the password of the database', () => {
    expect([...example.keys()].filter((name) => !VARIABLES.includes(name))).toEqual(['POSTGRES_PASSWORD']);
  });

  test('is asked for by Compose where it is empty, and is enough for the server when all is set', () => {
    const given = { ...Object.fromEntries(example), FACILITATOR_KEYPAIR: JSON.stringify([...demoWallet(0).secretKey]) };
    const set = {
      SOLANA_RPC_URL: 'https://rpc.example',
      BASE_URL: 'https://pay.example',
      JWT_SECRET: 'a secret of thirty-two bytes or more',
      OPERATORS: demoWallet(1).publicKey.toBase58(),
      POSTGRES_PASSWORD: 'secret',
    };
    const empty = [...example].filter(([, value]) => value === '').map(([name]) => name);
    expect(empty.sort()).toEqual(Object.keys(set).sort());
    expect(empty.filter((name) => !textOf('compose.yaml').includes(`\${${name}:?`))).toEqual([]);
    expect(inspectEnvironment({ ...given, ...set }).faults).toEqual([]);
  });
});

/** A test that needs a program of the machine, and is skipped where it is missing. */
const testWith = (program: string) => (spawnSync(program, ['--version']).status === 0 ? test : test.skip);

describe('the other files', () => {
  const stages = readDockerfile(join(FOLDER, 'Dockerfile'));

  test('the Dockerfile copies what its .dockerignore lets through, and no secret or test gets through', () => {
    const isSent = sentToBuilder(join(FOLDER, 'Dockerfile.dockerignore'));
    const sources = stages
      .flatMap(({ instructions }) => instructions)
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
      .flatMap(({ text }) => text.split(' ').slice(0, -1));
    expect(sources.filter((path) => !isSent(path))).toEqual([]);
    const kept = ['.env', 'examples/deploy/.env', 'examples/deploy/secrets/fee-payer.json', 'test/README.md', '.git'];
    expect([...kept, 'node_modules/pg', 'data/tollhouse.db'].filter(isSent)).toEqual([]);
  });

  test('the image of an npm installation differs from that of the repository by what is put into it alone', () => {
    const fromNpm = readDockerfile(join(FOLDER, 'from-npm.Dockerfile'));
    const runBy = (stage: (typeof stages)[number] | undefined) =>
      stage?.instructions.filter(({ name }) => name !== 'COPY');
    expect(runBy(fromNpm.at(-1))).toEqual(runBy(stages.at(-1)));
    expect(fromNpm[0]?.instructions.find(({ name }) => name === 'COPY')?.text).toBe(
      'package.json package-lock.json ./',
    );
  });

  test('the folder of an npm installation has the program where the unit and the image start it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-from-npm-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(FOLDER, '../..'), join(folder, 'node_modules/tollhouse'));
    const linked = / (ln -s \S+ \S+)/.exec(textOf('from-npm.Dockerfile'))?.[1] ?? '';
    expect(textOf('README.md')).toContain(`\n${linked} `);
    execFileSync('sh', ['-c', linked], { cwd: folder });
    const last = stages.at(-1);
    if (last === undefined) throw new Error('the Dockerfile has no stage');
    const [program = '', file = ''] = commandOf(last, 'CMD');
    expect(execFileSync(program, [file, '--version'], { cwd: folder, encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+/);
  });

  test('the README installs from npm all that the server can run with', () => {
    const [, named = ''] = /^npm install --ignore-scripts (.*)$/m.exec(textOf('README.md')) ?? [];
    const { peerDependencies } = z
      .object({ peerDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(FOLDER, '../../package.json'), 'utf8')));
    // No sandbox chain, no SQLite that would be compiled, and tracing only for whoever loads it.
    const left = ['litesvm', 'better-sqlite3', '@opentelemetry/api'];
    const wanted = Object.keys(peerDependencies).filter((name) => !left.includes(name));
    expect(named.split(' ').sort()).toEqual([...wanted, 'tollhouse'].sort());
  });

  test('the unit of systemd starts what the image starts', () => {
    const unit = textOf('tollhouse.service');
    const last = stages.at(-1);
    if (last === undefined) throw new Error('the Dockerfile has no stage');
    expect(/^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit)?.[1]).toBe(commandOf(last, 'CMD').join(' '));
  });

  testWith('systemd-analyze')('the unit of systemd is sound', () => {
    const verified = spawnSync('systemd-analyze', ['verify', join(FOLDER, 'tollhouse.service')], { encoding: 'utf8' });
    // That the program is not at its place on this machine is no fault of the unit.
    expect(verified.stderr.split('\n').filter((line) => /tollhouse\.service:\d+:/.test(line))).toEqual([]);
  });

  test('a command beside the unit of systemd is started as the unit starts the server', () => {
    const unit = textOf('tollhouse.service');
    const script = textOf('tollhouse-run.sh');
    const properties = [...script.matchAll(/--property=(\S+)/g)].map(([, property]) => String(property));
    expect(properties.filter((property) => !unit.split('\n').includes(property))).toEqual([]);
    const needed = /^(User|Group|WorkingDirectory|UMask|StateDirectory|EnvironmentFile|LoadCredential)=/;
    const given = unit.split('\n').filter((line) => needed.test(line));
    expect(given.filter((line) => !properties.includes(line))).toEqual([]);
    const variables = [...script.matchAll(/--setenv=(\S+)/g)].map(([, variable]) => String(variable));
    expect(unit).toContain(`Environment=${variables.join(' ')}\n`);
  });

  test('what systemd starts for such a command makes a backup, and restores it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-run-'));
    writeFileSync(join(folder, 'fee-payer'), JSON.stringify([...demoWallet(0).secretKey]), { mode: 0o600 });
    const script = join(FOLDER, 'tollhouse-run.sh');
    const env = {
      PATH: process.env.PATH,
      CREDENTIALS_DIRECTORY: folder,
      DATABASE_URL: `sqlite:${join(folder, 'books.db')}`,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: 'http://127.0.0.1:9',
      BACKUP_FOLDER: folder,
      TOLLHOUSE: script,
    };
    const run = (...args: readonly string[]): string =>
      execFileSync('sh', args, { cwd: join(FOLDER, '../..'), env, encoding: 'utf8', stdio: 'pipe' });
    run(script, 'db', 'migrate');
    expect(run(join(FOLDER, 'backup.sh'))).toContain('written: ');
    const backup = readdirSync(folder).find((name) => name.endsWith('.dump')) ?? '';
    expect(run(script, 'db', 'restore', '--force', join(folder, backup))).toContain('set aside');
    // Without the key it does not begin.
    expect(run(script, 'payouts', 'resolve')).toContain('all are over');
  });

  test('the README links every file of the folder', () => {
    const linked = new Set([...textOf('README.md').matchAll(/\]\(([\w.-]+)\)/g)].map(([, name]) => name));
    const files = readdirSync(FOLDER).filter((name) => !['.env', 'secrets', 'README.md', '.gitignore'].includes(name));
    expect(files.filter((name) => !linked.has(name))).toEqual([]);
  });

  testWith('pg_dump')('a backup is written whole, and old ones are removed', async () => {
    const postgres = await startPostgres();
    try {
      const url = new URL(await postgres.emptyDatabase());
      const folder = mkdtempSync(join(tmpdir(), 'tollhouse-backups-'));
      const old = join(folder, 'tollhouse-20200101T000000Z.dump');
      execFileSync('touch', ['--date', '30 days ago', old]);
      const env = {
        PATH: process.env.PATH,
        BACKUP_FOLDER: folder,
        PGHOST: url.hostname,
        PGPORT: url.port,
        PGUSER: url.username,
        PGPASSWORD: url.password,
        PGDATABASE: url.pathname.slice(1),
      };
      const run = spawnSync('sh', [join(FOLDER, 'backup.sh')], { env, encoding: 'utf8' });
      if (/server version mismatch/.test(run.stderr)) return console.warn('SKIPPED, pg_dump is older than the server');
      expect([run.stderr, run.status]).toEqual(['', 0]);
      const [file, ...others] = readdirSync(folder);
      expect([file, others]).toEqual([expect.stringMatching(/^tollhouse-\d{8}T\d{6}Z\.dump$/), []]);
      expect(statSync(join(folder, file ?? '')).mode & 0o077).toBe(0);
    } finally {
      await postgres.stop();
    }
  });
});
