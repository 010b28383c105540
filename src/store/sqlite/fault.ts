import { Fault } from '../../core/fault.ts';

/** Primary result codes of SQLite; the extended ones have them in their lowest byte. */
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PERM = 3;
const PROTOCOL = 15;
const NOTADB = 26;

export function isBusy(thrown: unknown): boolean {
  const code = resultCode(thrown);
  return code === BUSY || code === LOCKED || code === PROTOCOL;
}

/** What SQLite throws, in the words of the port. What is not from SQLite is a bug of ours and stays as it is. */
export function toFault(thrown: unknown, file: string): unknown {
  if (thrown instanceof Fault) return thrown;
  if ((thrown as { code?: unknown } | null)?.code === 'ERR_INVALID_STATE') {
    return new Fault('unavailable', `The journal ${file} is closed.`, { cause: thrown });
  }
  const code = resultCode(thrown);
  if (code === null) return thrown;
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const { kind, message, hint } = describe(code, file, said);
  return new Fault(kind, message, { hints: [hint], data: { file, sqlite: code }, cause: thrown });
}

export function busyFault(file: string, patienceMs: number, cause: unknown): Fault {
  return new Fault('unavailable', `The journal ${file} was in use by another process for ${patienceMs / 1000} s.`, {
    hints: ['Nothing was written. Try again; if it stays so, look for a process that holds the file.'],
    data: { file },
    cause,
  });
}

function describe(
  code: number,
  file: string,
  said: string,
): { kind: 'unavailable' | 'corrupt'; message: string; hint: string } {
  switch (code) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return {
        kind: 'unavailable',
        message: `The journal ${file} is in use by another process.`,
        hint: 'Nothing was written. Try again.',
      };
    case FULL:
      return {
        kind: 'unavailable',
        message: `There is no room left on the disk for the journal ${file}.`,
        hint: 'Nothing was written. Make room and try again.',
      };
    case READONLY:
    case PERM:
      return {
        kind: 'unavailable',
        message: `The journal ${file} may not be written: it or its folder is read-only, or it was moved.`,
        hint: 'Nothing was written. SQLite needs to write the file and beside it in its folder.',
      };
    case CANTOPEN:
      return {
        kind: 'unavailable',
        message: `The journal ${file} cannot be opened.`,
        hint: 'Look whether its folder exists and may be read and written.',
      };
    case IOERR:
      return {
        kind: 'unavailable',
        message: `The disk failed on the journal ${file}: ${said}.`,
        hint: 'Nothing was written. Look at the disk before going on.',
      };
    case NOMEM:
      return {
        kind: 'unavailable',
        message: `There is not enough memory to use the journal ${file}.`,
        hint: 'Nothing was written. Try again.',
      };
    case NOTADB:
      return {
        kind: 'corrupt',
        message: `${file} is not a SQLite database.`,
        hint: '`holdfast doctor` says what can be saved; the file was left as it is.',
      };
    case CORRUPT:
      return {
        kind: 'corrupt',
        message: `The journal ${file} is damaged: ${said}.`,
        hint: '`holdfast doctor` says what is damaged and what can be saved.',
      };
    default:
      return {
        kind: 'corrupt',
        message: `The journal ${file} does not answer as a journal does: ${said}.`,
        hint: '`holdfast doctor` says what is damaged and what can be saved.',
      };
  }
}

/** The texts that SQLite has for its codes: some paths of the driver throw the text alone. */
const codesByText: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'database table is locked': LOCKED,
  'locking protocol': PROTOCOL,
  'out of memory': NOMEM,
  'attempt to write a readonly database': READONLY,
  'disk I/O error': IOERR,
  'database disk image is malformed': CORRUPT,
  'database or disk is full': FULL,
  'unable to open database file': CANTOPEN,
  'access permission denied': PERM,
  'file is not a database': NOTADB,
};
const ERROR = 1;

function resultCode(thrown: unknown): number | null {
  const { code, errcode, message } = (thrown ?? {}) as { code?: unknown; errcode?: unknown; message?: unknown };
  if (typeof errcode === 'number') return errcode & 0xff;
  return code === 'ERR_SQLITE_ERROR' ? (codesByText[String(message)] ?? ERROR) : null;
}
