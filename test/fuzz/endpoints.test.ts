import { openFuzzedServer } from './endpoints.js';

// The long form: npm run fuzz -- server.
const REQUESTS = 200;

test('no request makes the server fail, fall silent or leave a promise behind', async () => {
  const server = await openFuzzedServer();
  try {
    await server.run(REQUESTS);
    expect(server.answers.get(200)).toBeGreaterThan(0);
  } finally {
    await server.close();
  }
});
