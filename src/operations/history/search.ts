import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { joined, line, id as ownId, word } from '../../core/line.ts';
import { oneLine } from '../../core/text.ts';
import { currentRun } from '../act.ts';
import { limit } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';

export const search = defineOperation({
  name: 'search',
  summary: 'Find decisions, notes, items, mail, steps and sessions by their words.',
  scope: 'read',
  words: ['words'],
  flags: { allRuns: 'all-runs' },
  input: v.object({
    words: described(v.array(v.string()), 'All of these must occur.'),
    allRuns: v.optional(described(v.boolean(), 'In every run of this workspace.')),
    limit: limit(20),
  }),
  output: v.object({
    results: v.array(
      v.looseObject({ run: v.string(), kind: v.string(), id: v.string(), status: v.string(), text: v.string() }),
    ),
  }),
  async run(context, { words, allRuns, limit: wanted = 20 }) {
    const terms = words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== '');
    if (terms.length === 0)
      throw new Fault('usage', '`search` needs a word to find.', { hints: ['`holdfast search WORDS`'] });
    const engine = await context.engine();
    const workspace = context.workspace()?.ids;
    const runs = allRuns
      ? (await engine.heads(workspace === undefined ? {} : { workspace })).map((head) => head.run)
      : [await currentRun(context)];
    const found = await engine.search(runs, terms, wanted);
    return {
      data: {
        results: found.map(({ run, kind, id, status, at, version, doc }) => ({
          run,
          kind,
          id,
          status,
          at,
          version,
          text: excerpt(doc),
          doc,
        })),
      },
    };
  },
  say: ({ results }, pen) =>
    results.length === 0
      ? line`Nothing was found.`
      : joined(
          results.map(({ id, kind, status, text }) => {
            const facts = line`${word(kind)}, ${status === '' ? '' : word(status)}`;
            const name = NAMED.has(kind) ? pen.quote(id, 'path') : ownId(id);
            return line`${pen.bold(name)} ${pen.dim(facts)} ${pen.quote(text, 'title')}`;
          }),
          '\n',
        ),
});

/** Rows whose id is a key, a path or a name that someone chose. */
const NAMED: ReadonlySet<string> = new Set(['step', 'result', 'file', 'usage', 'foreign', 'run']);

/** The text of a row, in one line. */
function excerpt(doc: unknown): string {
  const row = doc as Record<string, unknown>;
  const parts = [
    'title',
    'decision',
    'text',
    'subject',
    'name',
    'summary',
    'built',
    'message',
    'next',
    'path',
    'reason',
    'agent',
  ]
    .map((field) => row[field])
    .filter((value) => typeof value === 'string');
  return oneLine(parts.join(' · '), 300);
}
