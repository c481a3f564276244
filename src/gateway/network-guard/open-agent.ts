import type { Agent } from 'undici';
import { loadUndici } from '../../lib/http/load-undici.js';

/** Makes an agent of undici, which is loaded with the first one and not with the package. */
export async function openAgent(options: Agent.Options): Promise<Agent> {
  const { Agent } = await loadUndici();
  return new Agent(options);
}
