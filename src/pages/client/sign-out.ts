import type { PageRequest } from '../paywall/paywall-data.js';
import { sendRequest } from './wire/send-request.js';

/**
 * Lets the button of the page, if there is one, sign out: the server takes its cookies back.
 * @param done - called when it has
 * @param failed - called when it has not
 */
export function offerSignOut(request: PageRequest, done: () => void, failed: () => void): void {
  const element = document.getElementById('forget');
  if (element === null) return;
  element.hidden = false;
  element.addEventListener('click', async () => {
    const answer = await sendRequest(request, { 'Keep-Sign-In': 'forget' }).catch(() => undefined);
    if (answer?.status === 204) done();
    else failed();
  });
}
