import { Refusal } from './answer.ts';

export interface Limits {
  /** The largest body, in bytes. */
  bodyBytes: number;
  /** The longest time a body may take to arrive. */
  bodyMs: number;
  /** How many feeds may be open at once. */
  feeds: number;
  perToken: Rate;
  perAddress: Rate;
  /** Requests without a valid token, by address. */
  strangers: Rate;
}

export interface Rate {
  perSecond: number;
  /** How many may arrive at once. */
  burst: number;
}

/** Generous: they stop a runaway loop, not a busy team. */
export const defaultLimits: Limits = {
  bodyBytes: 2 * 1024 * 1024,
  bodyMs: 15_000,
  feeds: 500,
  perToken: { perSecond: 500, burst: 1500 },
  perAddress: { perSecond: 1000, burst: 3000 },
  strangers: { perSecond: 2, burst: 60 },
};

/** How many names are remembered; the least recently used are dropped first. */
const REMEMBERED = 10_000;

/** Refuses requests above the rate of their name, with the time to wait. */
export function createLimiter({ perSecond, burst }: Rate, nowMs: () => number): (name: string) => void {
  const known = new Map<string, { left: number; atMs: number }>();
  return (name) => {
    const now = nowMs();
    const before = known.get(name);
    const left = before ? Math.min(burst, before.left + ((now - before.atMs) / 1000) * perSecond) : burst;
    known.delete(name);
    known.set(name, { left: Math.max(0, left - 1), atMs: now });
    if (known.size > REMEMBERED) known.delete(known.keys().next().value as string);
    if (left >= 1) return;
    const seconds = Math.max(1, Math.ceil((1 - left) / perSecond));
    throw new Refusal(
      429,
      'unavailable',
      'Too many requests at once; nothing was done.',
      ['Try again a little later.'],
      {
        'retry-after': String(seconds),
      },
    );
  };
}

/** Reads the body as JSON within the limits of size and time. */
export async function readJson(request: Request, { bodyBytes, bodyMs }: Limits): Promise<unknown> {
  if (Number(request.headers.get('content-length') ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  const bytes = request.body === null ? new Uint8Array() : await readBytes(request.body, bodyBytes, bodyMs);
  if (bytes.length === 0) return {};
  const type = request.headers.get('content-type') ?? '';
  // A page of another site can send text and forms without a preflight request, but not JSON.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal(415, 'usage', 'The body must be JSON.', ['Send it with `Content-Type: application/json`.']);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'invalid', 'The body is not JSON in UTF-8.', ['Send one JSON object.']);
  }
}

async function readBytes(body: ReadableStream<Uint8Array>, limit: number, ms: number): Promise<Uint8Array> {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Refusal(408, 'unavailable', 'The body did not arrive in time.', ['Send it again.'], CLOSE)),
      ms,
    );
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) return Buffer.concat(pieces);
      length += value.length;
      if (length > limit) throw tooLarge(limit);
      pieces.push(value);
    }
  } catch (thrown) {
    reader.cancel().catch(() => undefined);
    throw thrown instanceof Refusal
      ? thrown
      : new Refusal(400, 'invalid', 'The body is incomplete.', ['Send it again.'], CLOSE);
  } finally {
    clearTimeout(timer);
  }
}

/** The rest of the body is not read, so the connection cannot carry another request. */
const CLOSE = { connection: 'close' };

function tooLarge(limit: number): Refusal {
  return new Refusal(
    413,
    'invalid',
    `The body is larger than ${limit / 1024} KiB.`,
    ['Put large text into a file and record the file as an artifact.'],
    CLOSE,
  );
}
