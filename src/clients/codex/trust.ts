import { sha256 } from '../../core/sha256.ts';

/**
 * A hook as Codex identifies it: its settings hold a hash of each hook that the user trusted, under the hook's place in its
 * file. Holdfast only reads them; trusting a hook is up to the user.
 */
export interface CodexHook {
  event: string;
  /** Indexes in the lists of the hook file. */
  group: number;
  handler: number;
  matcher: string | undefined;
  handlerWords: Readonly<Record<string, unknown>>;
}

export function codexHash({ event, matcher, handlerWords }: CodexHook): string {
  const given = typeof handlerWords['timeout'] === 'number' ? handlerWords['timeout'] : undefined;
  const timeout = event === 'SessionEnd' ? Math.min(3, Math.max(1, given ?? 1)) : Math.max(1, given ?? 600);
  const { statusMessage, additionalContextLimit: limit } = handlerWords;
  const handler = {
    type: 'command',
    command: handlerWords['command'],
    timeout,
    async: handlerWords['async'] ?? false,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    ...(limit === undefined || limit === 2500 ? {} : { additionalContextLimit: limit }),
  };
  const identity = {
    event_name: snakeCase(event),
    ...(matcher === undefined || matcherless.has(event) ? {} : { matcher }),
    hooks: [handler],
  };
  return `sha256:${sha256(JSON.stringify(sorted(identity)))}`;
}

export function codexKey(hookFile: string, { event, group, handler }: CodexHook): string {
  return `${hookFile}:${snakeCase(event)}:${group}:${handler}`;
}

/** The hashes in the settings, by `codexKey`. */
export function trustedHashes(toml: string): Map<string, string> {
  const hashes = new Map<string, string>();
  let key: string | null = null;
  for (const line of toml.split(/\r?\n/)) {
    const header = /^\s*\[(.*)\]\s*(?:#.*)?$/.exec(line)?.[1]?.trim();
    if (header !== undefined) key = stateKey(header);
    const hash = /^\s*trusted_hash\s*=\s*["'](sha256:[0-9a-f]{64})["']/.exec(line)?.[1];
    if (key !== null && hash !== undefined) hashes.set(key, hash);
  }
  return hashes;
}

/** The last part of `hooks.state."…"`, which may have either kind of quotes. */
function stateKey(header: string): string | null {
  const quoted = /^hooks\s*\.\s*state\s*\.\s*(?:"(.*)"|'(.*)')$/.exec(header);
  if (!quoted) return null;
  if (quoted[2] !== undefined) return quoted[2];
  try {
    return JSON.parse(`"${quoted[1]}"`) as string;
  } catch {
    return null;
  }
}

const matcherless: ReadonlySet<string> = new Set(['UserPromptSubmit', 'Stop']);

const snakeCase = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]));
}
