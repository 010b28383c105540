import * as v from 'valibot';
import { type Evidence, isEvidence } from './core/evidence.ts';
import { nearest } from './core/fault.ts';
import { Label } from './core/text.ts';
import { inputFault } from './operations/operation.ts';
import type { Store } from './store/store.ts';

/** Programs in JavaScript pass anything: the options are checked like the input of an operation. */

const MAX_VALUE_BYTES = 64 * 1024 * 1024;

const evidence = v.custom<Evidence>(
  (given) => typeof given === 'string' && isEvidence(given),
  'must be `library`, `terminal` or `token:NAME`',
);
const store = v.custom<Store | string>(
  (given) => typeof given === 'string' || (typeof given === 'object' && given !== null && 'journal' in given),
  'must be an open store, an address or the path of a file',
);

const identityEntries = {
  agent: v.optional(v.string()),
  person: v.optional(v.string()),
  evidence: v.optional(evidence),
  session: v.optional(v.string()),
  run: v.optional(v.string()),
};

const Identity = v.strictObject({ ...identityEntries, exact: v.optional(v.boolean()) });
const Options = v.strictObject({
  ...identityEntries,
  dir: v.optional(v.string()),
  store: v.optional(store),
  verbatim: v.optional(v.boolean()),
  maxValueBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_VALUE_BYTES))),
  now: v.optional(v.function()),
});
const Call = v.strictObject({
  key: v.optional(Label),
  signal: v.optional(v.instance(AbortSignal)),
});

export const checkOptions = (given: object): void => check(Options, given, 'openHoldfast');
export const checkIdentity = (given: object): void => check(Identity, given, 'as');
export const checkCall = (given: object): void => check(Call, given, 'the options of a call');

function check(schema: v.StrictObjectSchema<v.ObjectEntries, undefined>, given: unknown, where: string): void {
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return;
  const known = Object.keys(schema.entries);
  const near = parsed.issues.flatMap((issue) => nearest(v.getDotPath(issue) ?? '', known));
  const isSession = parsed.issues.some((issue) => v.getDotPath(issue) === 'session');
  throw inputFault(parsed.issues, [
    ...(parsed.issues.some(({ type }) => type === 'strict_object') && near.length > 0
      ? [`Did you mean ${near.map((name) => `\`${name}\``).join(', ')}?`]
      : []),
    ...(isSession ? ['Pass its id: `hf.as({ session: started.session.id })`.'] : []),
    `Known in ${where}: ${known.join(', ')}.`,
  ]);
}
