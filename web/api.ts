import type { InferInput, InferOutput } from 'valibot';
import type { operations } from '../src/operations/index.ts';

/** The operations of the server, typed by their list. */
type Operations = typeof operations;
export type OperationName = keyof Operations;
type OperationOf<Name extends OperationName> = Awaited<ReturnType<Operations[Name]>>;
export type Input<Name extends OperationName> = InferInput<OperationOf<Name>['input']>;
export type Output<Name extends OperationName> = InferOutput<OperationOf<Name>['output']>;

export interface Who {
  token: string;
  actor: { kind: 'agent' | 'person'; name: string };
  scope: 'read' | 'write' | 'maintain';
}

/** A refusal of the server, with its message and hints. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly hints: readonly string[];

  constructor(status: number, { code, message, hints }: { code: string; message: string; hints: readonly string[] }) {
    super(message);
    this.status = status;
    this.code = code;
    this.hints = hints;
  }
}

export function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  run: string | null = null,
): Promise<Output<Name>> {
  return request(`/api/${name}`, { ...input, ...(run === null ? {} : { run }) });
}

export const whoAmI = (): Promise<Who> => request('/api/whoami');
export const logIn = (token: string): Promise<Who> => request('/login', { token });
export const logOut = (): Promise<unknown> => request('/logout', {});

async function request<Data>(path: string, body?: unknown): Promise<Data> {
  const init =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const unreachable = {
    code: 'unavailable',
    message: 'The server cannot be reached.',
    hints: ['This page retries automatically. Check that `holdfast serve` is still running.'],
  };
  const response = await fetch(path, init).catch(() => null);
  if (!response) throw new Refused(0, unreachable);
  const answer = (await response.json().catch(() => null)) as
    | { ok: true; data: Data }
    | { ok: false; fault: { code: string; message: string; hints: string[] } }
    | null;
  if (!answer) throw new Refused(response.status, unreachable);
  if (!answer.ok) throw new Refused(response.status, answer.fault);
  return answer.data;
}
