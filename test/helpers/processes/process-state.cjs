// What a module can change for the whole process. Loaded by a fresh process before anything else:
// const { takeState, changesSince } = require(…)

const BUILT_IN = [
  'events',
  'http',
  'https',
  'net',
  'tls',
  'dns',
  'fs',
  'stream',
  'crypto',
  'timers',
  'util',
  'url',
  'module',
];

/** Everything that is compared, by a name for people. Reads no getter: Node loads parts of itself through some. */
function takeState() {
  const properties = new Map();
  const objects = new Set();
  const seen = new Set();
  const note = (name, object) => {
    if (seen.has(object)) return;
    seen.add(object);
    objects.add(name);
    for (const key of Reflect.ownKeys(object).filter((it) => !OF_UNDICI.has(it))) {
      const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
      properties.set(`${name}.${String(key)}`, { of: name, ...descriptor });
      if (typeof descriptor.value === 'function' && key !== 'constructor')
        noteClass(`${name}.${String(key)}`, descriptor.value);
    }
  };
  const noteClass = (name, value) => {
    if (typeof value.prototype !== 'object' || value.prototype === null || seen.has(value)) return;
    note(name, value);
    note(`${name}.prototype`, value.prototype);
  };
  note('globalThis', globalThis);
  for (const name of BUILT_IN) note(`node:${name}`, require(`node:${name}`));
  for (const name of ['console', 'Math', 'JSON', 'Reflect', 'Intl']) note(name, globalThis[name]);
  note('process', process);
  const listeners = process.eventNames().map((event) => `${String(event)}: ${process.listenerCount(event)}`);
  return { properties, objects, env: { ...process.env }, listeners: listeners.sort(), cwd: process.cwd() };
}

/** What is another now than it was, one line each. */
function changesSince(before) {
  const now = takeState();
  // Of a class that Node had not loaded before nothing is known.
  const known = [...now.properties].filter(([, { of }]) => before.objects.has(of)).map(([name]) => name);
  const names = new Set([...before.properties.keys(), ...known]);
  const changed = [...names].filter((name) => !isSame(before.properties.get(name), now.properties.get(name)));
  const others = ['env', 'listeners', 'cwd'].flatMap((part) => {
    const [then, since] = [JSON.stringify(before[part]), JSON.stringify(now[part])];
    return then === since ? [] : [`process ${part}: ${then} → ${since}`];
  });
  return [...changed.filter((name) => !OF_NODE.has(name)), ...others];
}

/** Looking for these loads Node's own undici, which makes its dispatcher that of the process. */
const OF_UNDICI = new Set([
  'WebSocket',
  'CloseEvent',
  'MessageEvent',
  'ErrorEvent',
  'EventSource',
  'Headers',
  'Request',
  'Response',
  'FormData',
]);

/** Counted by Node itself. */
const OF_NODE = new Set(['process._events', 'process._eventsCount', 'process._exiting', 'process.exitCode']);

function isSame(then, now) {
  if (then === undefined || now === undefined) return then === now;
  // Node puts the value in the place of some of its getters when it is first read.
  if (then.get !== undefined && now.get === undefined) return then.get.call(globalThis) === now.value;
  return ['value', 'get', 'set'].every((part) => Object.is(then[part], now[part]));
}

module.exports = { takeState, changesSince };
