import { resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import { chainVerifier } from '../../core/journal/verify.ts';
import type { Engine } from '../../engine/engine.ts';
import { createLines } from '../../workspace/write.ts';
import { currentRun } from '../act.ts';
import { defineOperation, described } from '../operation.ts';
import { FORMAT_WITHOUT_VALUES, JOURNAL_FORMAT, valueLine } from './parts/file.ts';

export const journalExport = defineOperation({
  name: 'journal.export',
  summary: 'Export a run as JSON lines, for `journal import` elsewhere with its chain intact.',
  scope: 'read',
  local: true,
  examples: ['holdfast journal export --out auth.jsonl', 'holdfast journal export --run auth > auth.jsonl'],
  flags: { noValues: 'no-values' },
  input: v.object({
    out: v.optional(described(v.string(), 'The file to write; standard output by default.')),
    noValues: v.optional(described(v.boolean(), "Leave the values of a program's state out; they are not redacted.")),
  }),
  output: v.object({
    run: v.string(),
    events: v.number(),
    values: v.number(),
    hash: v.string(),
    out: v.nullable(v.string()),
    text: v.nullable(v.string()),
  }),
  async run(context, { out, noValues = false }) {
    const run = await currentRun(context);
    const engine = await context.engine();
    if (out === undefined) {
      const lines: string[] = [];
      const head = await exportRun(engine, run, !noValues, (line) => lines.push(line));
      return { data: { run, ...head, out: null, text: lines.join('\n') } };
    }
    const file = resolve(context.dir, out);
    const head = await writeFile(file, (write) => exportRun(engine, run, !noValues, write));
    return { data: { run, ...head, out: file, text: null } };
  },
  say: ({ run, events, values, out, text }, pen) =>
    text ?? `Wrote ${events} events ${values > 0 ? `and ${values} values ` : ''}of ${pen.bold(run)} to ${out}.`,
});

/** Exports up to the version at the start, and only if the chain verifies: damage is not passed on. */
async function exportRun(engine: Engine, run: string, withValues: boolean, write: (line: string) => void) {
  const [head] = await engine.heads({ run });
  const { version: events = 0, hash = '' } = head ?? {};
  const [any] = withValues ? await engine.savedRows(run, { kind: 'value', limit: 1 }) : [];
  // Only a file with values needs a program that knows them.
  const format = any ? JOURNAL_FORMAT : FORMAT_WITHOUT_VALUES;
  write(JSON.stringify({ holdfast: 'journal', format, run, events, hash }));
  const written = new Set<string>();
  const verifier = chainVerifier();
  let last = { version: 0, hash: '' };
  for await (const page of engine.eventPages(run, { upTo: events })) {
    for (const event of page) {
      verifier.push(event);
      write(JSON.stringify(event));
      last = event;
      if (!any || event.type !== 'value.put') continue;
      for (const { sha256 } of event.body.entries) {
        const value = written.has(sha256) ? null : await engine.value(run, sha256);
        if (value === null) continue;
        written.add(sha256);
        write(valueLine(value));
      }
    }
  }
  const isCut = last.version !== events || last.hash !== hash;
  const [problem] = verifier.finish();
  if (isCut || problem) {
    throw new Fault(
      'corrupt',
      problem?.message ?? `The journal of ${quoted(run)} ends at event ${last.version} of ${events}.`,
      {
        hints: ['Nothing was exported. `holdfast doctor` shows what is damaged.'],
        data: { run },
      },
    );
  }
  return { events, values: written.size, hash };
}

async function writeFile<T>(file: string, work: (write: (line: string) => void) => Promise<T>): Promise<T> {
  try {
    const done = await createLines(file, work);
    if (done === null) throw alreadyThere(file);
    return done;
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault('unavailable', `The file ${quoted(file)} cannot be written: ${(cause as Error).message}.`, {
      hints: ['Choose another with `--out FILE`.'],
      cause,
    });
  }
}

function alreadyThere(file: string): Fault {
  return new Fault('illegal', `${quoted(file)} already exists, and an export replaces nothing.`, {
    hints: ['Choose a new file with `--out FILE`, or print it: `holdfast journal export > FILE`.'],
    data: { path: file },
  });
}
