import { Refusal } from './answer.ts';
import type { SlotLimits } from './slots.ts';

export interface Limits {
  /** The largest body, in bytes. */
  bodyBytes: number;
  /** The longest time a body may take to arrive. */
  bodyMs: number;
  /** How deep objects and lists may be nested. */
  jsonDepth: number;
  feeds: SlotLimits;
  /** Calls and streams of the Model Context Protocol. */
  mcpStreams: SlotLimits;
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
  jsonDepth: 64,
  feeds: { perToken: 8, total: 500, reserved: 10 },
  mcpStreams: { perToken: 64, total: 500, reserved: 10 },
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

/** Reads the body as JSON within the limits of size, time and depth. */
export async function readJson(request: Request, { bodyBytes, bodyMs, jsonDepth }: Limits): Promise<unknown> {
  if (Number(request.headers.get('content-length') ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  const bytes = request.body === null ? new Uint8Array() : await readBytes(request.body, bodyBytes, bodyMs);
  if (bytes.length === 0) return {};
  const type = request.headers.get('content-type') ?? '';
  // A page of another site can send text and forms without a preflight request, but not JSON.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal(415, 'usage', 'The body must be JSON.', ['Send it with `Content-Type: application/json`.']);
  }
  if (isDeeper(bytes, jsonDepth)) {
    throw new Refusal(400, 'invalid', `The body is nested deeper than ${jsonDepth} levels.`, ['Send flatter JSON.']);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'invalid', 'The body is not JSON in UTF-8.', ['Send one JSON object.']);
  }
}

/** Looks before parsing: what handles the value later may call itself once per level. */
function isDeeper(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index];
    if (isText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return false;
}

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

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
