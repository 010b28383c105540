import { dirname } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { readOnlyHints } from '../../core/read-only.ts';
import { NOTHING_WRITTEN } from '../../core/recorded.ts';

/** Primary result codes of SQLite; extended codes have them in their lowest byte. */
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

/** Turns an error of SQLite into a fault of the port. Any other error is a bug here and is returned unchanged. */
export function toFault(thrown: unknown, file: string): unknown {
  if (thrown instanceof Fault) return thrown;
  if ((thrown as { code?: unknown } | null)?.code === 'ERR_INVALID_STATE') {
    return new Fault('unavailable', `The journal ${file} is closed.`, { cause: thrown });
  }
  const code = resultCode(thrown);
  if (code === null) return thrown;
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const { kind, message, hint } = describe(code, file, said);
  const recorded = recordedBy(thrown);
  return new Fault(kind, message, {
    hints: [...(recorded === undefined ? [] : [CLAIMS[recorded]]), ...[hint].flat()],
    data: { file, sqlite: code, ...(recorded && { recorded }) },
    cause: thrown,
  });
}

/** Whether a failed write is in the journal. */
type Recorded = 'no' | 'unknown';

const CLAIMS: Readonly<Record<Recorded, string>> = {
  no: NOTHING_WRITTEN,
  unknown: 'It is not known whether it was written: `holdfast log` shows what is recorded.',
};

/** Keeps the outcome of a write with the error that ended it. */
export function markRecorded(thrown: unknown, recorded: Recorded): unknown {
  if (thrown !== null && typeof thrown === 'object' && !(thrown instanceof Fault)) outcomes.set(thrown, recorded);
  return thrown;
}

/**
 * What a failed COMMIT left once it is rolled back. A frame that could not be written is incomplete and never counts. If
 * only the wait for the disk failed, all frames are in the log, and another process may find them complete.
 */
export function outcomeOfCommit(thrown: unknown): Recorded {
  const code = resultCode(thrown);
  if (code !== IOERR) return code === null ? 'unknown' : 'no';
  return (thrown as { errcode?: unknown }).errcode === IOERR_WRITE ? 'no' : 'unknown';
}

const IOERR_WRITE = IOERR | (3 << 8);
const outcomes = new WeakMap<object, Recorded>();

function recordedBy(thrown: unknown): Recorded | undefined {
  return thrown !== null && typeof thrown === 'object' ? outcomes.get(thrown) : undefined;
}

export function busyFault(file: string, patienceMs: number, cause: unknown): Fault {
  return new Fault('unavailable', `The journal ${file} was in use by another process for ${patienceMs / 1000} s.`, {
    hints: [
      ...(recordedBy(cause) === 'no' ? [CLAIMS.no] : []),
      'Try again; if it happens again, look for a process that has the file open.',
    ],
    data: { file, ...(recordedBy(cause) && { recorded: recordedBy(cause) }) },
    cause,
  });
}

function describe(
  code: number,
  file: string,
  said: string,
): { kind: 'unavailable' | 'read_only' | 'corrupt'; message: string; hint: string | string[] } {
  switch (code) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return {
        kind: 'unavailable',
        message: `The journal ${file} is in use by another process.`,
        hint: 'Try again.',
      };
    case FULL:
      return {
        kind: 'unavailable',
        message: `The disk is full: there is no room for the journal ${file}.`,
        hint: 'Make room and try again.',
      };
    case READONLY:
    case PERM:
      return {
        kind: 'read_only',
        message: `This shell may not write the journal ${file}: it or its folder is read-only.`,
        hint: readOnlyHints(dirname(file)),
      };
    case CANTOPEN:
      return {
        kind: 'unavailable',
        message: `The journal ${file} cannot be opened.`,
        hint: 'Check that its folder exists and can be read and written.',
      };
    case IOERR:
      return {
        kind: 'unavailable',
        message: `The disk failed on the journal ${file}: ${said}.`,
        hint: 'Check the disk before you continue.',
      };
    case NOMEM:
      return {
        kind: 'unavailable',
        message: `There is not enough memory to use the journal ${file}.`,
        hint: 'Try again.',
      };
    case NOTADB:
      return {
        kind: 'corrupt',
        message: `${file} is not a SQLite database.`,
        hint: '`holdfast doctor` shows what can be repaired; the file was not changed.',
      };
    case CORRUPT:
      return {
        kind: 'corrupt',
        message: `The journal ${file} is damaged: ${said}.`,
        hint: '`holdfast doctor` shows what is damaged and what can be repaired.',
      };
    default:
      return {
        kind: 'corrupt',
        message: `The file ${file} is not a valid journal: ${said}.`,
        hint: '`holdfast doctor` shows what is damaged and what can be repaired.',
      };
  }
}

/** SQLite's texts for its codes: some paths of the driver throw only the text. */
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
