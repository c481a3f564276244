// A contestant in a process of its own: node contestant-process.mjs <file> <settings as JSON>, with an IPC channel.
import { pathToFileURL } from 'node:url';
import { unrun } from 'unrun';

// Node's own fetch must be there before the package undici, which would serve it otherwise and refuse what kit sends.
void globalThis.Headers;

const [path, settings] = process.argv.slice(2);
// The channel must not keep a process alive whose bench is gone.
process.once('disconnect', () => process.exit(0));
// What is bundled already starts in a moment.
const module = path.endsWith('.js') ? await import(pathToFileURL(path).href) : (await unrun({ path })).module;
const { url, asks = {} } = await module.start(JSON.parse(settings));
const own = {
  // In milliseconds, of this whole process.
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  // In bytes, after a collection.
  memory: () => {
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { heap: heapUsed + external, rss };
  },
};

process.on('message', async ({ id, name, argument }) => {
  try {
    process.send({ id, value: await { ...own, ...asks }[name](argument) });
  } catch (error) {
    process.send({ id, fault: String(error?.stack ?? error) });
  }
});
process.send({ ready: url });
