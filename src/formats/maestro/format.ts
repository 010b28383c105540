import * as v from 'valibot';
import type { GoneRule } from '../../core/model/merge.ts';
import { ModelDecision, ModelItem, ModelNote, ModelUsage } from '../../core/model/run-model.ts';
import type { Files, Format, Found, Parsed, Problem } from '../format.ts';
import { losesOf } from '../losses.ts';
import { archivedAs, detectSessions, homeOf, isArchived, sessionId, stateDir } from './paths.ts';
import { repairSession } from './repair.ts';
import { readSession } from './session-file.ts';
import { errorRows, phaseRows, runRows } from './table.ts';
import { editSession, newSession } from './write-session.ts';

/** Errors are history: one that was taken out of the file stays in the journal. */
const gone: GoneRule = (list) => (list === 'steps' ? 'ask' : 'hidden');

/**
 * Maestro's session file: front matter for programs, a log for people. `docs/formats/maestro.md` describes the keys,
 * the variants and how each is written.
 */
export const maestro: Format = {
  name: 'maestro',
  detect: detectSessions,
  parse: parseSession,
  render(model, place, previous, now) {
    const text = previous.get(place.main);
    if (text !== undefined) {
      const edited = editSession(place.main, text, isArchived(place.main), model, now);
      return edited === null ? new Map() : new Map([[place.main, edited]]);
    }
    const id = sessionId(model, now);
    const files = new Map([[place.main, newSession(place.main, isArchived(place.main), model, id, now)]]);
    for (const gate of keptGates(model.kept?.['maestro'])) {
      const path = `${stateDir(place.main) ?? ''}state/${gate.session_id}.design-gate.json`;
      if (!previous.has(path)) files.set(path, `${JSON.stringify(gate, null, 2)}\n`);
    }
    return files;
  },
  home: homeOf,
  oneAtATime: true,
  loses: losesOf(
    { run: runRows, steps: phaseRows, items: errorRows, decisions: [], notes: [], usage: [] },
    [
      ...['run.title', 'run.status', 'run.design', 'items.kind', 'items.status', 'items.step'],
      ...['key', 'alias', 'parent', 'after', 'summary', 'built', 'artifacts'].map((field) => `steps.${field}`),
      // The log holds decisions, notes and all other items.
      ...Object.keys(ModelDecision.entries).map((field) => `decisions.${field}`),
      ...Object.keys(ModelNote.entries).map((field) => `notes.${field}`),
      ...Object.keys(ModelItem.entries).map((field) => `items.${field}`),
      ...Object.keys(ModelUsage.entries).map((field) => `usage.${field}`),
    ],
    [
      ...['run.design.approvedBy', 'position.words', 'next'],
      ...['severity', 'affects', 'workaround', 'followUp', 'to', 'due', 'settledAt'].map(
        (field) => `items[kind=error].${field}`,
      ),
    ],
  ).concat('notes.alias'),
  writes: [
    '**/state/active-session.md',
    '**/state/archive/*.md',
    '**/state/*.md.bak',
    '**/state/archive/*.md.bak',
    '**/state/*.design-gate.json',
    '**/plans/**/*.md',
  ],
  gone,
  archivedAs,
  repair: repairSession,
};

const Gate = v.looseObject({
  session_id: v.pipe(v.string(), v.regex(/^[\w.-]{1,200}$/)),
  entered_at: v.nullish(v.string()),
  approved_at: v.nullish(v.string()),
  design_document_path: v.nullish(v.string()),
});
type Gate = v.InferOutput<typeof Gate>;

function parseSession(found: Found, files: Files): Parsed {
  const text = files.get(found.main);
  if (text === undefined) {
    const message = 'The session file is missing or is not text.';
    return {
      model: null,
      version: null,
      writable: false,
      problems: [{ code: 'missing', level: 'error', path: found.main, line: null, message }],
    };
  }
  const { model, version, writable, problems } = readSession(found.main, text, isArchived(found.main));
  if (model === null) {
    if (problems.length === 0)
      problems.push({
        code: 'not_a_session',
        level: 'error',
        path: found.main,
        line: 1,
        message: 'There is no session in this file.',
      });
    return { model, version, writable: false, problems };
  }
  const gates = readGates(found, files, model.run.alias, problems);
  if (gates.length === 0) return { model, version, writable, problems };
  const kept = { ...model.kept, maestro: { ...(model.kept?.['maestro'] as object | undefined), gates } };
  return { model: { ...model, kept }, version, writable, problems };
}

/** Approvals of designs. Maestro never removes them, so those of other sessions may be beside this one's. */
function readGates(found: Found, files: Files, id: string | undefined, problems: Problem[]): Gate[] {
  return found.files.flatMap((path) => {
    const text = files.get(path);
    if (text === undefined || !path.endsWith('.design-gate.json')) return [];
    const gate = readGate(text);
    const complain = (code: string, level: Problem['level'], message: string) =>
      problems.push({ code, level, path, line: 1, message });
    if (gate === null) complain('not_json', 'error', 'This design gate cannot be read.');
    else if (gate.session_id !== id)
      complain('stale_gate', 'warning', `This design gate belongs to another session, ${gate.session_id}.`);
    else if (!gate.approved_at)
      complain('design_not_approved', 'warning', 'The session exists, but its design was not approved.');
    return gate ? [gate] : [];
  });
}

function readGate(text: string): Gate | null {
  try {
    const parsed = v.safeParse(Gate, JSON.parse(text.replace(/^\ufeff/, '')));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

function keptGates(kept: unknown): Gate[] {
  const parsed = v.safeParse(v.object({ gates: v.array(Gate) }), kept);
  return parsed.success ? parsed.output.gates : [];
}
