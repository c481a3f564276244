// Pays for some calls with one client, one after the other.
//
//   node pay.mjs '{"client": "./payai.mjs", "setup": {…}, "calls": [{"url": "…", "init": {…}}]}'
//
// Prints what was answered as JSON. In a process of its own; `payAll` does it in that of a server.
import { pathToFileURL } from 'node:url';

/** @returns status, body and the names of the receipts of each response */
export async function payAll({ client, setup, calls }) {
  const { payingFetch } = await import(client);
  const pay = await payingFetch({ ...setup, secretKey: Uint8Array.from(setup.secretKey) });
  const answers = [];
  for (const { url, init } of calls) {
    const answer = await pay(url, init);
    const receipts = ['payment-response', 'x-payment-response'].filter((name) => answer.headers.has(name));
    answers.push({ status: answer.status, text: await answer.text(), receipts });
  }
  return answers;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(JSON.stringify(await payAll(JSON.parse(process.argv[2]))));
}
