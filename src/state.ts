import * as v from 'valibot';
import type { CallOptions } from './call-options.ts';
import { Fault } from './core/fault.ts';
import { Label } from './core/text.ts';
import type { Context } from './operations/context.ts';
import { listValues, putValues, readValue, removeValue, removeValues } from './operations/state/parts/values.ts';

/** What was put under a key. */
export interface Put {
  key: string;
  /** For `expect` of the next put. */
  version: number;
  sha256: string;
  bytes: number;
}

export interface PutOptions extends CallOptions {
  /** The version that is replaced; null where the key must not be set. Fault `conflict` if it is another one. */
  expect?: number | null;
  /** `latest` (default): the bytes of the value that is replaced go. `all`: they stay, see `get` with `version`. */
  keep?: 'latest' | 'all';
}

export interface PutAllOptions extends CallOptions {
  /** Where the program is now, in a few words; briefs and the dashboard show it. Put no values into it. */
  reached?: string;
}

export interface Got<T> {
  value: T;
  version: number;
  at: string;
}

export interface Listed {
  key: string;
  version: number;
  at: string;
  bytes: number;
  type: 'json' | 'bytes';
}

/**
 * Whole program state: JSON values or bytes by key, in the run. What is put comes back exactly as it was given; nothing is
 * redacted or searched in it.
 */
export interface ProgramState {
  /** Sets a key to any JSON value or to bytes. Faults: `conflict`, `invalid` (not JSON, too large). */
  put(key: string, value: unknown, options?: PutOptions): Promise<Put>;
  /** Sets up to 256 keys at once: all of them or none. */
  putAll(
    entries: readonly { key: string; value: unknown; expect?: number | null; keep?: 'latest' | 'all' }[],
    options?: PutAllOptions,
  ): Promise<Put[]>;
  /** The value of a key, or an earlier one that was kept; null where it is not set. Faults: `corrupt`, `gone`. */
  get<T = unknown>(key: string, options?: { version?: number }): Promise<Got<T> | null>;
  /** The keys that are set, last set first; with `kept` those that were replaced and kept. */
  list(options?: { prefix?: string; kept?: boolean }): Promise<Listed[]>;
  /** Removes a key and its kept values, or only what `version` set; false where there was nothing. */
  remove(key: string, options?: CallOptions & { version?: number }): Promise<boolean>;
  /** Removes up to 256 keys at once: all of them or none. Kept values stay. */
  removeAll(keys: readonly string[], options?: CallOptions): Promise<void>;
}

/** `contextOf` gives the context of one call. */
export function programState(contextOf: (options?: CallOptions) => Promise<Context>): ProgramState {
  const putAll: ProgramState['putAll'] = async (entries, { reached, ...options } = {}) => {
    for (const { key } of entries) mustBeLabel('key', key);
    if (reached !== undefined) mustBeLabel('text of `reached`', reached);
    return (await putValues(await contextOf(options), entries, reached)).put;
  };
  return {
    async put(key, value, { expect, keep, ...options } = {}) {
      const [put] = await putAll(
        [{ key, value, ...(expect === undefined ? {} : { expect }), ...(keep ? { keep } : {}) }],
        options,
      );
      return put as Put;
    },
    putAll,
    async get<T>(key: string, { version }: { version?: number } = {}) {
      mustBeLabel('key', key);
      const found = await readValue(await contextOf(), key, version);
      return found && { value: found.value as T, version: found.version, at: found.at };
    },
    async list({ prefix = '', kept = false } = {}) {
      const found = await listValues(await contextOf(), prefix, kept ? 'kept' : 'current');
      return found.map(({ key, version, at, bytes, type }) => ({ key, version, at, bytes, type }));
    },
    async remove(key, { version, ...options } = {}) {
      mustBeLabel('key', key);
      const { events } = await removeValue(await contextOf(options), key, version);
      return events.some((event) => event.type === 'value.removed');
    },
    async removeAll(keys, options) {
      for (const key of keys) mustBeLabel('key', key);
      await removeValues(await contextOf(options), keys);
    },
  };
}

/** Programs in JavaScript pass anything. */
function mustBeLabel(what: string, text: unknown): void {
  const parsed = v.safeParse(Label, text);
  if (parsed.success) return;
  throw new Fault('invalid', `The ${what} ${parsed.issues[0].message}.`, {
    hints: ['It is one line of text with 1 to 200 characters, such as `cart` or `cp/7/messages`.'],
  });
}
