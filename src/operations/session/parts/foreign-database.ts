import { basename, join } from 'node:path';
import type { ReadDatabase } from '../../../clients/transcript.ts';
import { openDatabase } from '../../../store/sqlite/driver.ts';
import { fileSize, pathExists } from '../../../workspace/read.ts';
import { copyToTemporary } from '../../../workspace/write.ts';

/** Copies are made of what cannot be opened where it is; not of what would fill the disk. */
const COPY_LIMIT_BYTES = 1024 * 1024 * 1024;

/**
 * Opens another program's database for reading, with what is still in its write-ahead log. Where the folder cannot be
 * written to SQLite cannot read the log there: then both files are copied, and the copy goes when it is closed.
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
    // Nothing is read when a database is opened: whether it can be shows here.
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
