import { Fault } from '../../core/fault.ts';
import { NOTHING_WRITTEN } from '../../core/recorded.ts';

/** Worth another try soon: the server is starting, restarting, out of connections, or two transactions collided. */
export function isTransient(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return TRANSIENT.has(code) || code.startsWith('08');
}

/** What a standby answers to a write. */
export const STANDBY = '25006';

export function isReadOnly(thrown: unknown): boolean {
  return codeOf(thrown) === STANDBY;
}

export function isMissing(thrown: unknown): boolean {
  return ['42P01', '3F000'].includes(codeOf(thrown));
}

/** Turns an error of the driver or the server into a fault of the port. Any other error is a bug here and is returned unchanged. */
export function toFault(thrown: unknown, place: string): unknown {
  if (thrown instanceof Fault) return thrown;
  const code = codeOf(thrown);
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const options = (hint: string) => ({ hints: [hint], data: { place, code }, cause: thrown });
  if (code === 'CONNECTION_ENDED')
    return new Fault('unavailable', `The journal ${place} is closed.`, options('Open it again.'));
  if (code.startsWith('28') || code.startsWith('3D')) {
    return new Fault(
      'unavailable',
      `The database ${place} refused the connection: ${said}.`,
      options('Check the user, the password and the database in the address of the store.'),
    );
  }
  if (code === '42501' || code === '25006') {
    return new Fault(
      'unavailable',
      `The database ${place} cannot be written: ${said}.`,
      options('The user in the address needs the right to write to its schema.'),
    );
  }
  if (isTransient(thrown) || UNAVAILABLE.test(code)) {
    return new Fault(
      'unavailable',
      `The database ${place} cannot be used: ${said}.`,
      options('Check that the server runs and can be reached, then try again.'),
    );
  }
  if (code.startsWith('XX') || code.startsWith('42')) {
    return new Fault(
      'corrupt',
      `The database ${place} is not a valid journal: ${said}.`,
      options('`holdfast doctor` shows what is damaged and what can be repaired.'),
    );
  }
  return thrown;
}

/**
 * Whether the statement may have been committed although it failed here: the connection was lost after it was sent. An
 * answer of the server says that it was not, except when the server says that it ends the connection.
 */
export function mayHaveRun(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (NEVER_SENT.has(code)) return false;
  return code.startsWith('08') || code.startsWith('57P') || !/^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  'CONNECTION_ENDED',
  '57P03',
  '53300',
]);

/** The fault of a failed append, with what is known of its outcome. */
export function withOutcome(thrown: unknown, cutOff: boolean): unknown {
  if (!(thrown instanceof Fault)) return thrown;
  const claim = cutOff
    ? 'The connection was lost while it was written, and it may be recorded: `holdfast log` shows it.'
    : NOTHING_WRITTEN;
  return new Fault(thrown.code, thrown.message, {
    hints: [claim, ...thrown.hints],
    data: { ...thrown.data, recorded: cutOff ? 'unknown' : 'no' },
    cause: thrown.cause,
  });
}

const TRANSIENT = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  '40001',
  '40P01',
  '53300',
  '55P03',
  '57P01',
  '57P02',
  '57P03',
]);

/** Resources, operator intervention, system errors, and Node's codes for sockets and names. */
const UNAVAILABLE = /^(53|57|58|25|55)|^E[A-Z]+$|^[A-Z]+_TIMEOUT$/;

function codeOf(thrown: unknown): string {
  const { code } = (thrown ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
