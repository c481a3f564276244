import { openStorage } from '../../storage/open-storage.js';
import type { Storage } from '../../storage/storage.js';

/** Opens the storage of a database for some work, and closes it however that ends: one left open keeps the process alive. */
export async function withStorage<T>(databaseUrl: string, work: (storage: Storage) => T | Promise<T>): Promise<T> {
  const storage = await openStorage(databaseUrl);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
