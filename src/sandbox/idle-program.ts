const TEXT_OFFSET = 64;
const NAMES = Buffer.from('\0.text\0.shstrtab\0');
// sBPF: "mov64 r0, 0" then "exit" — the entry point returns success at once.
const CODE = Buffer.from('b7000000000000009500000000000000', 'hex');

/**
 * The smallest program the runtime loads: an ELF file whose entry point reads nothing, changes nothing and succeeds.
 *
 * The sandbox puts it at the address of Lighthouse (`L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95`), because wallets add
 * Lighthouse guards to the transactions they sign and the real program cannot be had offline. It is a stand-in: a guard
 * executes there, and it asserts nothing.
 */
export function idleProgram(): Uint8Array {
  const namesOffset = TEXT_OFFSET + CODE.length;
  const headersOffset = namesOffset + NAMES.length + ((8 - (NAMES.length % 8)) % 8);
  const file = Buffer.alloc(headersOffset + 3 * 64);
  writeElfHeader(file, headersOffset);
  CODE.copy(file, TEXT_OFFSET);
  NAMES.copy(file, namesOffset);
  const text = { name: 1, type: 1, flags: 6, address: TEXT_OFFSET, offset: TEXT_OFFSET, size: CODE.length, align: 8 };
  const names = { name: 7, type: 3, flags: 0, address: 0, offset: namesOffset, size: NAMES.length, align: 1 };
  writeSection(file, headersOffset + 64, text);
  writeSection(file, headersOffset + 128, names);
  return file;
}

/** A shared object (3) for the BPF machine (247), without program headers, with three section headers. */
function writeElfHeader(file: Buffer, sectionHeaders: number): void {
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.writeUInt16LE(3, 16);
  file.writeUInt16LE(247, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(TEXT_OFFSET), 24);
  file.writeBigUInt64LE(BigInt(sectionHeaders), 40);
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(64, 58);
  file.writeUInt16LE(3, 60);
  file.writeUInt16LE(2, 62);
}

interface Section {
  readonly name: number;
  readonly type: number;
  readonly flags: number;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  readonly align: number;
}

function writeSection(file: Buffer, at: number, section: Section): void {
  file.writeUInt32LE(section.name, at);
  file.writeUInt32LE(section.type, at + 4);
  file.writeBigUInt64LE(BigInt(section.flags), at + 8);
  file.writeBigUInt64LE(BigInt(section.address), at + 16);
  file.writeBigUInt64LE(BigInt(section.offset), at + 24);
  file.writeBigUInt64LE(BigInt(section.size), at + 32);
  file.writeBigUInt64LE(BigInt(section.align), at + 48);
}
