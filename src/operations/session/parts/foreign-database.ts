import { basename, join } from 'node:path';
import type { ReadDatabase } from '../../../clients/transcript.ts';
import { openDatabase } from '../../../store/sqlite/driver.ts';
import { fileSize, pathExists } from '../../../workspace/read.ts';
import { copyToTemporary } from '../../../workspace/write.ts';

/** Larger databases are not copied: a copy could fill the disk. */
const COPY_LIMIT_BYTES = 1024 * 1024 * 1024;

/**
 * Opens another program's database for reading, with what is still in its write-ahead log. SQLite cannot read the log in a
 * read-only folder: then both files are copied, and the copy is removed on close.
 */
export function openForeignDatabase(file: string): ReadDatabase {
  try {
    return opened(file, () => {});
  } catch (thrown) {
    if (!pathExists(file) || sizeOf(file) + sizeOf(`${file}-wal`) > COPY_LIMIT_BYTES) throw thrown;
  }
  const { folder, remove } = copyToTemporary([file, `${file}-wal`]);
  try {
    return opened(join(folder, basename(file)), remove);
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

function opened(file: string, closed: () => void): ReadDatabase {
  const database = openDatabase(file, true);
  try {
    // Opening reads nothing; only a query shows whether the file can be read.
    database.prepare('SELECT count(*) FROM sqlite_master').get();
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  return {
    all: (sql, ...values) => database.prepare(sql).all(...values),
    iterate: (sql, ...values) => database.prepare(sql).iterate(...values),
    close() {
      database.close();
      closed();
    },
  };
}

const sizeOf = (file: string): number => fileSize(file) ?? 0;
