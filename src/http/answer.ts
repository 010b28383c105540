import { asFault, Fault, type FaultCode } from '../core/fault.ts';
import type { Outcome } from '../operations/operation.ts';

/** A refusal by the HTTP interface itself, with its status; a refusal by a rule gets its status by code. */
export class Refusal extends Fault {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: FaultCode,
    message: string,
    hints: readonly string[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, message, { hints });
    this.status = status;
    this.headers = headers;
  }
}

const statusByCode: Record<FaultCode, number> = {
  not_found: 404,
  illegal: 409,
  blocked: 409,
  held: 409,
  fenced: 409,
  not_allowed: 403,
  cancelled: 499,
  gone: 410,
  uncertain: 409,
  usage: 400,
  invalid: 400,
  conflict: 409,
  unavailable: 503,
  corrupt: 500,
  newer_schema: 500,
  rewound: 409,
  untrusted: 403,
  read_only: 503,
  internal: 500,
};

/** The same envelope as the command line's `--json`. */
export function answer(
  outcome: Outcome<unknown>,
  warnings: readonly string[],
  headers: Record<string, string>,
): Response {
  const { data, changed = [] } = outcome;
  return json({ ok: true, data, changed, ...(warnings.length > 0 ? { warnings } : {}) }, 200, headers);
}

export function refuse(thrown: unknown): Response {
  const fault = asFault(thrown);
  const { code, hints, data } = fault;
  // The message of an unexpected error may reveal internals: it goes to the log only.
  const message = code === 'internal' ? 'Something went wrong inside Holdfast; see its log.' : fault.message;
  const status = fault instanceof Refusal ? fault.status : statusByCode[code];
  const headers = fault instanceof Refusal ? fault.headers : {};
  return json({ ok: false, fault: { code, message, hints, data } }, status, headers);
}

function json(value: unknown, status: number, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  });
}
