import type { ServerConfiguration } from './configuration.js';

/** What `BASE_URL` must be set for; undefined where it is set, on the sandbox, and where wallets cannot sign in for tokens. */
export function missingSiteName({ baseUrl, chain, jwtSecret }: ServerConfiguration): string | undefined {
  if (baseUrl !== undefined || chain === undefined || jwtSecret === undefined) return undefined;
  return 'BASE_URL must be set to the address under which clients reach this server, such as https://api.example.com: wallets sign in here (JWT_SECRET), and what they sign names its host';
}
