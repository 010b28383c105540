import { basename, dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../core/fault.ts';
import type { Event } from '../../core/journal/event.ts';
import { chainVerifier } from '../../core/journal/verify.ts';
import { mustBePerson } from '../../core/rules/rule-context.ts';
import { hashArtifact } from '../../workspace/files.ts';
import { isKnownHead } from '../../workspace/state/known-stores.ts';
import { defineOperation, described } from '../operation.ts';
import { damaged, type JournalHeader, readJournalFile } from './parts/file.ts';

export const journalImport = defineOperation({
  name: 'journal.import',
  summary: 'Import a run that was exported elsewhere; events that are already here are skipped.',
  scope: 'maintain',
  by: 'person',
  local: true,
  words: ['file'],
  counts: true,
  examples: ['holdfast journal import auth.jsonl', 'holdfast journal import auth.jsonl --store postgres://db/holdfast'],
  flags: { noValues: 'no-values' },
  input: v.object({
    file: described(v.string(), 'A file that `journal export` wrote.'),
    noValues: v.optional(described(v.boolean(), "Leave out the values of a program's state.")),
    again: v.optional(described(v.boolean(), 'Bring back a run that was dropped here.')),
  }),
  output: v.object({
    run: v.string(),
    events: v.number(),
    taken: v.number(),
    values: v.number(),
    version: v.number(),
  }),
  async run(context, { file: named, noValues = false, again }) {
    const { actor, evidence } = context.identity;
    mustBePerson(context.identity, 'import a run', `holdfast journal import ${named}`);
    const file = resolve(context.dir, named);
    // Read several times: nothing is imported before all of it is verified, and it may be larger than memory.
    const header = await verify(file);
    const { maintenance, now } = await context.engine();
    // What this machine knows as its own comes back as it was.
    const state = context.workspace()?.state;
    const isOwn = state ? isKnownHead(state, header.run, { version: header.events, hash: header.hash }) : false;
    const sha256 = (await hashArtifact(dirname(file), basename(file))).sha256 ?? 'unknown';
    const importer = isOwn ? undefined : { at: now(), actor, evidence, file: sha256 };
    const importing = await (await maintenance()).openImport(header.run, { importer, again });
    const shown = (doing: string, { version: done }: Event): void =>
      context.progress?.({ doing, done, total: header.events, at: header.run });
    await readJournalFile(file, {
      event(event) {
        shown('Comparing', event);
        return importing.compare(event);
      },
    });
    await readJournalFile(file, {
      event(event) {
        shown('Importing', event);
        return importing.add(event);
      },
      ...(noValues ? {} : { value: importing.addValue }),
    });
    const { added: taken, values, version, workspace } = await importing.finish();
    const here = context.workspace()?.ids;
    if (here !== undefined && !here.includes(workspace)) {
      context.warn(
        `${quoted(header.run)} belongs to another workspace: here it is found by \`--run ${header.run}\` only.`,
      );
    }
    return {
      data: { run: header.run, events: header.events, taken, values, version },
      changed: taken > 0 ? [{ path: `run.${header.run}`, before: version - taken, after: version }] : [],
    };
  },
  say: ({ run, events, taken, values, version }, pen) =>
    taken > 0
      ? `Imported ${taken} of ${events} events${values > 0 ? ` and ${values} values` : ''}; ${pen.bold(run)} is at event ${version}.`
      : `${pen.bold(run)} is at event ${version} and has all ${events} of them${values > 0 ? `; ${values} values were added` : ''}.`,
});

async function verify(file: string): Promise<JournalHeader> {
  const verifier = chainVerifier();
  let last: Event | undefined;
  const header = await readJournalFile(file, {
    event(event) {
      verifier.push(event);
      last = event;
    },
    // Checked while it is parsed.
    value: () => undefined,
  });
  const [problem] = verifier.finish();
  if (problem) {
    throw new Fault('corrupt', `${quoted(file)}: ${problem.message}`, {
      hints: ['Nothing was imported. Export it again from its source.'],
      data: { file, version: problem.version },
    });
  }
  if (last?.version !== header.events || last.hash !== header.hash) {
    throw damaged(file, header.events + 1, `it ends after ${last?.version ?? 0} of ${header.events} events`);
  }
  return header;
}
