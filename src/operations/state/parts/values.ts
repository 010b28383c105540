import { Fault, quoted } from '../../../core/fault.ts';
import type { Value } from '../../../core/fold/state.ts';
import type { StoredValue, ValueEntry } from '../../../core/journal/value.ts';
import { keptId, RESULTS, valueId } from '../../../core/names.ts';
import { redact } from '../../../core/redact/redact.ts';
import type { Done } from '../../../engine/execute.ts';
import { contentOf, MOST_VALUE_BYTES, storedValue, withoutBytes } from '../../../engine/values.ts';
import { execute, inRun } from '../../act.ts';
import type { Context } from '../../context.ts';
import { bytesOf } from './content.ts';

export interface PutEntry {
  key: string;
  value: unknown;
  /** The version that is replaced; null where the key must not be set. Left out, whatever is there is replaced. */
  expect?: number | null | undefined;
  /** `all` keeps the value that is replaced; otherwise its bytes go. */
  keep?: 'latest' | 'all' | undefined;
}

export interface PutResult {
  key: string;
  version: number;
  sha256: string;
  bytes: number;
}

/** What is read of a key. */
export interface ReadValue {
  value: unknown;
  type: 'json' | 'bytes';
  version: number;
  at: string;
  bytes: number;
}

/** The result of an effect has a key of its own. */
export const resultKey = (key: string): string => `${RESULTS}${key}`;

const DEFAULT_BYTES = 8 * 1024 * 1024;
const MOST_ENTRIES = 256;

/** Sets several keys at once: all of them or none. */
export async function putValues(
  given: Context,
  entries: readonly PutEntry[],
  reached?: string,
): Promise<Done & { run: string; put: PutResult[] }> {
  mustBeFew(entries, 'put');
  const reserved = entries.find(({ key }) => key.startsWith(RESULTS));
  if (reserved)
    throw new Fault(
      'invalid',
      `Keys that begin with ${quoted(RESULTS)} are results of effects: ${quoted(reserved.key)}.`,
      {
        hints: ['Choose another key.'],
      },
    );
  const context = await inRun(given);
  const ready = entries.map(({ key, value, expect, keep }) => {
    const { entry, content } = entryOf(context, key, value);
    return { entry: { ...entry, ...(keep === 'all' ? { keep } : {}), expect }, content };
  });
  // Not `act`: a value must come back as it was given, so that no secret is taken out of it.
  const done = await execute(context, context.run, {
    type: 'value.put',
    entries: ready.map(({ entry }) => entry),
    contents: ready.map(({ content }) => content),
    // Shown in briefs, unlike the values.
    ...(reached === undefined ? {} : { reached: context.isVerbatim ? reached : redact(reached).text }),
  });
  const event = done.events.find((one) => one.type === 'value.put');
  const put = (event?.body.entries ?? []).map(({ key, sha256, bytes }) => ({
    key,
    version: event?.version ?? 0,
    sha256,
    bytes,
  }));
  if (done.replayed) mustBeEqual(put, ready, context.identity.key ?? '');
  return { ...done, run: context.run, put };
}

function mustBeFew(all: readonly unknown[], verb: string): void {
  if (all.length > 0 && all.length <= MOST_ENTRIES) return;
  throw new Fault('invalid', `${all.length} values cannot be ${verb} at once; 1 to ${MOST_ENTRIES} can.`, {
    hints: ['Divide them over several calls.'],
  });
}

/** What an event says of a value, and the bytes that go beside it. */
export function entryOf(context: Context, key: string, value: unknown): { entry: ValueEntry; content: StoredValue } {
  const { type, content } = bytesOf(key, value);
  const most = Math.min(context.maxValueBytes ?? DEFAULT_BYTES, MOST_VALUE_BYTES);
  if (content.length > most)
    throw new Fault(
      'invalid',
      `The value ${quoted(key)} has ${content.length} bytes, and at most ${most} are stored.`,
      {
        hints: ['Divide it over several keys, or open the library with a larger `maxValueBytes` (at most 64 MiB).'],
        data: { key, bytes: content.length, most },
      },
    );
  const stored = storedValue(content);
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
  return { entry: { key, sha256: stored.sha256, bytes: content.length, type, nonce }, content: stored };
}

/** A key that was used before must have been used for the same values. */
function mustBeEqual(put: readonly PutResult[], ready: readonly { entry: ValueEntry }[], key: string): void {
  const same = ready.every(({ entry }) => put.some((one) => one.key === entry.key && one.sha256 === entry.sha256));
  if (same && put.length === ready.length) return;
  throw new Fault(
    'usage',
    `The idempotency key ${quoted(key)} was used before, with other values; nothing was recorded.`,
    {
      hints: ['A key stands for one command and its repetitions: use another key, or none.'],
      data: { key },
    },
  );
}

/** The value of a key, or an earlier one that was kept; null where there is none. */
export async function readValue(given: Context, key: string, version?: number): Promise<ReadValue | null> {
  const context = await inRun(given);
  const engine = await context.engine();
  const ids = version === undefined ? [valueId(key)] : [valueId(key), keptId(key, version)];
  // Between the look at the row and the read of the bytes another process may have replaced both.
  for (let attempt = 0; ; attempt++) {
    const rows = await engine.recall(context.run, ids);
    const values = rows.filter(({ kind }) => kind === 'value').map(({ doc }) => doc as Value);
    const value = values.find((one) => one.status !== 'removed' && (version === undefined || one.version === version));
    if (!value) return null;
    if (value.status === 'erased') throw withoutBytes(key, 'erased');
    const stored = await engine.value(context.run, value.sha256);
    if (stored === null && attempt < 20 && (await isReplaced(context, value))) continue;
    if (stored === null) throw withoutBytes(key, 'missing');
    return { ...decoded(value, stored), version: value.version, at: value.at, bytes: value.bytes };
  }
}

async function isReplaced(context: Context & { run: string }, { id, version }: Value): Promise<boolean> {
  const [row] = await (await context.engine()).recall(context.run, [id]);
  const now = row?.doc as Value | undefined;
  return now?.version !== version || now.status === 'removed';
}

function decoded({ key, type }: Value, stored: StoredValue): Pick<ReadValue, 'value' | 'type'> {
  const content = contentOf(stored);
  if (content === null)
    throw new Fault('corrupt', `The stored bytes of the value ${quoted(key)} are not those that were recorded.`, {
      hints: ['`holdfast doctor` says what is damaged; `holdfast journal import FILE` of an export has the bytes.'],
      data: { key, sha256: stored.sha256 },
    });
  // A copy: the bytes may be a view of a larger buffer.
  if (type === 'bytes') return { type, value: Uint8Array.from(content) };
  return { type, value: JSON.parse(new TextDecoder().decode(content)) };
}

/** The keys that are set, last set first. */
export async function listValues(
  given: Context,
  prefix: string,
  status: 'current' | 'kept',
  tag?: string,
): Promise<Value[]> {
  const context = await inRun(given);
  const engine = await context.engine();
  const found: Value[] = [];
  for (let before: number | undefined; ; ) {
    const filter = { kind: 'value', status, limit: PAGE, ...(before ? { before } : {}), ...(tag ? { tag } : {}) };
    const page = await engine.rows(context.run, filter);
    found.push(...page.map(({ doc }) => doc as Value).filter(({ key }) => key.startsWith(prefix)));
    before = page.at(-1)?.version;
    if (page.length < PAGE || before === undefined) return found;
  }
}

const PAGE = 1000;

/** Removes a key with its kept values, or one kept value. */
export async function removeValue(given: Context, key: string, version?: number): Promise<Done & { run: string }> {
  const context = await inRun(given);
  const kept = (await listValues(context, '', 'kept', `key:${key}`)).map((value) => ({ key, version: value.version }));
  const current = (await listValues(context, '', 'current', `key:${key}`))[0];
  const isCurrent = version === undefined || current?.version === version;
  const done = await execute(context, context.run, {
    type: 'value.remove',
    keys: isCurrent ? [key] : [],
    kept: version === undefined ? kept : kept.filter((one) => one.version === version),
  });
  return { ...done, run: context.run };
}

/** Removes what several keys are set to. */
export async function removeValues(given: Context, keys: readonly string[]): Promise<Done & { run: string }> {
  mustBeFew(keys, 'removed');
  const context = await inRun(given);
  const done = await execute(context, context.run, { type: 'value.remove', keys: [...keys] });
  return { ...done, run: context.run };
}
