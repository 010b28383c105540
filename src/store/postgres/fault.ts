import { Fault } from '../../core/fault.ts';

/** Worth another try soon: the server is starting, restarting, full of connections, or two transactions met. */
export function isTransient(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return TRANSIENT.has(code) || code.startsWith('08');
}

export function isMissing(thrown: unknown): boolean {
  return ['42P01', '3F000'].includes(codeOf(thrown));
}

/** What the driver or the server throws, in the words of the port. What is neither is a bug of ours and stays as it is. */
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
      `The database ${place} did not let Holdfast in: ${said}.`,
      options('Look at the name, the password and the database in the address of the store.'),
    );
  }
  if (code === '42501' || code === '25006') {
    return new Fault(
      'unavailable',
      `The database ${place} may not be written: ${said}.`,
      options('Nothing was written. The user in the address needs the right to write to its schema.'),
    );
  }
  if (isTransient(thrown) || UNAVAILABLE.test(code)) {
    return new Fault(
      'unavailable',
      `The database ${place} cannot be used: ${said}.`,
      options('Look whether the server runs and is reachable, then try again.'),
    );
  }
  if (code.startsWith('XX') || code.startsWith('42')) {
    return new Fault(
      'corrupt',
      `The database ${place} does not answer as a journal does: ${said}.`,
      options('`holdfast doctor` says what is damaged and what can be saved.'),
    );
  }
  return thrown;
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

/** Resources, operator intervention, system errors, and what Node says of sockets and names. */
const UNAVAILABLE = /^(53|57|58|25|55)|^E[A-Z]+$|^[A-Z]+_TIMEOUT$/;

function codeOf(thrown: unknown): string {
  const { code } = (thrown ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
