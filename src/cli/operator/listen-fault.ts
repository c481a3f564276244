import { SystemError } from '../command.js';

/** What sets where a server listens: the flags that were given, else the variables. */
export interface ListenSettings {
  readonly port: string;
  readonly host: string;
}

/** `METRICS_PORT` opens a port of its own, and a failure of that one begins with its name. */
const OPERATOR_PORT: ListenSettings = { port: 'METRICS_PORT', host: 'METRICS_HOST' };

const noMachine = ({ host }: ListenSettings): string =>
  `no machine has that name: set ${host} to an address of this one, such as 127.0.0.1, or to 0.0.0.0 for all of them`;

/** What to do when a server cannot listen, by the code of the system. */
const ADVICE: Readonly<Record<string, (by: ListenSettings) => string>> = {
  EADDRINUSE: ({ port }) =>
    `something listens there, perhaps another server of yours: stop it, or choose another port by ${port}`,
  EADDRNOTAVAIL: ({ host }) =>
    `this machine has no such address: set ${host} to one of its own, or to 0.0.0.0 for all of them`,
  EACCES: ({ port }) => `ports below 1024 are not for everybody: choose another one by ${port}`,
  EAFNOSUPPORT: ({ host }) => `this machine has no addresses of that kind: set ${host} to one such as 127.0.0.1`,
  EINVAL: ({ host }) =>
    `no server can listen at such an address: set ${host} to another one, with the interface where it is of a link (fe80::1%eth0)`,
  ENOTFOUND: noMachine,
  EAI_AGAIN: noMachine,
};

/** What the system was asked for. */
const LISTENING = new Set<unknown>(['listen', 'getaddrinfo']);

/** What made a server not start, with what to do where it could not listen; anything else as it is. */
export function listenFault(error: unknown, usual: ListenSettings): unknown {
  if (!(error instanceof Error) || !LISTENING.has(Reflect.get(error, 'syscall'))) return error;
  const code = String(Reflect.get(error, 'code'));
  const advice = Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined;
  if (advice === undefined) return error;
  const settings = error.message.startsWith(`${OPERATOR_PORT.port}: `) ? OPERATOR_PORT : usual;
  return new SystemError(code, `${error.message}; ${advice(settings)}`);
}
