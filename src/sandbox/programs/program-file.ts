import type { MachineCode } from './assembler.js';

const HEADER_BYTES = 64;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const RELOCATION_BYTES = 16;

/** Kinds of section and flags, of the ELF format. */
const PROGRAM_BITS = 1;
const STRINGS = 3;
const DYNAMIC = 6;
const RELOCATIONS = 9;
const DYNAMIC_SYMBOLS = 11;
const ALLOCATED_AND_EXECUTABLE = 6;
const ALLOCATED = 2;

/** Entries of the dynamic section that the loader reads. */
const DT_SYMTAB = 6;
const DT_REL = 17;
const DT_RELSZ = 18;
const DT_RELENT = 19;

/** "The call at this place is to the symbol": the loader puts the hash of its name there. */
const R_BPF_64_32 = 10n;
/** A global symbol without a type, which is not defined in the file. */
const UNDEFINED_GLOBAL = 0x10;

interface Section {
  readonly name: string;
  readonly kind: number;
  readonly flags: number;
  readonly content: Buffer;
  /** Name of the section that this one refers to. */
  readonly link?: string;
  readonly entryBytes?: number;
}

/**
 * The file that Solana's loader takes for a program: an ELF shared object for the BPF machine, version 0 of sBPF, whose
 * calls into the runtime are relocations against undefined symbols. Addresses are offsets in the file.
 */
export function programFile(code: MachineCode): Uint8Array {
  const names = [...new Set(code.syscalls.map(({ name }) => name))];
  const text = aligned(Buffer.from(code.bytes));
  const symbols = symbolTable(names);
  const relocations = relocationTable(code, names);
  const sections: Section[] = [{ name: '.text', kind: PROGRAM_BITS, flags: ALLOCATED_AND_EXECUTABLE, content: text }];
  if (names.length > 0) {
    const at = HEADER_BYTES + text.length;
    const dynamic = dynamicTable(at, at + symbols.length, relocations.length);
    sections.push(
      { name: '.dynsym', kind: DYNAMIC_SYMBOLS, flags: ALLOCATED, content: symbols, link: '.dynstr', entryBytes: 24 },
      { name: '.rel.dyn', kind: RELOCATIONS, flags: ALLOCATED, content: relocations, link: '.dynsym', entryBytes: 16 },
      { name: '.dynamic', kind: DYNAMIC, flags: ALLOCATED, content: dynamic, link: '.dynstr', entryBytes: 16 },
      { name: '.dynstr', kind: STRINGS, flags: ALLOCATED, content: aligned(strings(names)) },
    );
  }
  const sectionNames = strings([...sections.map(({ name }) => name), '.shstrtab']);
  sections.push({ name: '.shstrtab', kind: STRINGS, flags: 0, content: aligned(sectionNames) });
  return layOut(sections);
}

function layOut(sections: readonly Section[]): Uint8Array {
  const contents = Buffer.concat(sections.map(({ content }) => content));
  const headersAt = HEADER_BYTES + contents.length;
  const headers = sections.map((section, index) => {
    const before = sections.slice(0, index).reduce((sum, { content }) => sum + content.length, 0);
    return sectionHeader(section, HEADER_BYTES + before, sections);
  });
  const none = Buffer.alloc(SECTION_HEADER_BYTES);
  return Buffer.concat([fileHeader(headersAt, sections.length + 1), contents, none, ...headers]);
}

/** A shared object (3) for the BPF machine (247), without program headers; the names stand in its last section. */
function fileHeader(sectionHeaders: number, count: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(3, 16);
  header.writeUInt16LE(247, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 24);
  header.writeBigUInt64LE(BigInt(sectionHeaders), 40);
  header.writeUInt16LE(HEADER_BYTES, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(SECTION_HEADER_BYTES, 58);
  header.writeUInt16LE(count, 60);
  header.writeUInt16LE(count - 1, 62);
  return header;
}

function sectionHeader(section: Section, at: number, all: readonly Section[]): Buffer {
  const header = Buffer.alloc(SECTION_HEADER_BYTES);
  const names = all.map(({ name }) => name);
  header.writeUInt32LE(textOffset(names, section.name), 0);
  header.writeUInt32LE(section.kind, 4);
  header.writeBigUInt64LE(BigInt(section.flags), 8);
  header.writeBigUInt64LE(BigInt(section.flags === 0 ? 0 : at), 16);
  header.writeBigUInt64LE(BigInt(at), 24);
  header.writeBigUInt64LE(BigInt(section.content.length), 32);
  header.writeUInt32LE(section.link === undefined ? 0 : names.indexOf(section.link) + 1, 40);
  header.writeBigUInt64LE(8n, 48);
  header.writeBigUInt64LE(BigInt(section.entryBytes ?? 0), 56);
  return header;
}

/** The first symbol means none. */
function symbolTable(names: readonly string[]): Buffer {
  const table = Buffer.alloc(SYMBOL_BYTES * (names.length + 1));
  for (const [index, name] of names.entries()) {
    const at = SYMBOL_BYTES * (index + 1);
    table.writeUInt32LE(textOffset(names, name), at);
    table.writeUInt8(UNDEFINED_GLOBAL, at + 4);
  }
  return table;
}

function relocationTable({ syscalls }: MachineCode, names: readonly string[]): Buffer {
  const table = Buffer.alloc(RELOCATION_BYTES * syscalls.length);
  for (const [index, { at, name }] of syscalls.entries()) {
    const symbol = BigInt(names.indexOf(name) + 1);
    table.writeBigUInt64LE(BigInt(HEADER_BYTES + at), RELOCATION_BYTES * index);
    table.writeBigUInt64LE((symbol << 32n) | R_BPF_64_32, RELOCATION_BYTES * index + 8);
  }
  return table;
}

function dynamicTable(symbolsAt: number, relocationsAt: number, relocationsBytes: number): Buffer {
  const entries = [
    DT_SYMTAB,
    symbolsAt,
    DT_REL,
    relocationsAt,
    DT_RELSZ,
    relocationsBytes,
    DT_RELENT,
    RELOCATION_BYTES,
  ];
  const end = [0, 0];
  const table = Buffer.alloc(8 * (entries.length + end.length));
  for (const [index, value] of entries.entries()) table.writeBigUInt64LE(BigInt(value), 8 * index);
  return table;
}

function strings(names: readonly string[]): Buffer {
  return Buffer.from(['', ...names, ''].join('\0'));
}

function textOffset(names: readonly string[], name: string): number {
  return 1 + names.slice(0, names.indexOf(name)).reduce((sum, it) => sum + it.length + 1, 0);
}

function aligned(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((8 - (content.length % 8)) % 8)]);
}
