import { addressOf } from '../../../src/protocol/address.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';

/** Where the address of its code stands in a program's account, and how much precedes the code in that one. */
const CODE_ADDRESS = 4;
const CODE_HEADER_BYTES = 45;

/** Exchanges the code of a program, as its upgrade authority could. Returns what takes the upgrade back. */
export function upgradeProgram(sandbox: Sandbox, address: string, elf: Uint8Array): () => void {
  const program = sandbox.account(address)!;
  const codeAddress = addressOf(program.data.subarray(CODE_ADDRESS, CODE_ADDRESS + 32));
  const before = sandbox.account(codeAddress)!;
  function put(data: Uint8Array): void {
    sandbox.setAccount(codeAddress, { ...before, data });
    // The runtime compiles a program when its own account is written.
    sandbox.setAccount(address, program);
  }
  put(Buffer.concat([before.data.subarray(0, CODE_HEADER_BYTES), elf]));
  return () => put(before.data);
}
