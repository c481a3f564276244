import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RATE = 8_000;
const SECONDS = 20;
const HEADER_BYTES = 44;

/** Writes a file to listen to, twenty seconds of a tone, and tells where it is. */
export async function recordPodcast(): Promise<string> {
  const samples = RATE * SECONDS;
  const file = Buffer.alloc(HEADER_BYTES + samples, 128);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE, 24);
  file.writeUInt32LE(RATE, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write('data', 36);
  file.writeUInt32LE(samples, 40);
  for (let at = 0; at < samples; at += 1) {
    file[HEADER_BYTES + at] = 128 + Math.round(60 * Math.sin((at / RATE) * 2 * Math.PI * 220));
  }
  const path = join(await mkdtemp(join(tmpdir(), 'magazine-')), 'podcast.wav');
  await writeFile(path, file);
  return path;
}
