import type { ModelDecision, ModelItem, ModelNote, ModelStep, RunModel } from '../../core/model/run-model.ts';
import type { Editor } from '../text/editor.ts';
import { type BodyEntry, decisionFields, emitEntry, emitField, headline, itemFields } from './body-entries.ts';
import { emitProse, type Section } from './body-log.ts';
import { flat, same } from './field-values.ts';
import type { Session } from './session-file.ts';
import { glyphs } from './transitions.ts';

const VALIDATION = 'Validation: ';

/** Updates the log to the run model: sections of phases, then notes, decisions and items. The log only grows. */
export function editLog(editor: Editor, session: Session, before: RunModel, model: RunModel): void {
  const known = new Set(before.notes.map(noteMark));
  // Notes that say the same are one line: each copy would be read as one more note.
  const notes = model.notes.filter((note) => {
    const isNew = note.text.trim() !== '' && !known.has(noteMark(note));
    known.add(noteMark(note));
    return isNew;
  });
  const tail: string[] = [];
  const validated = editSections(editor, session, before, model, notes, tail);
  const rest = notes.filter((note) => !validated.has(note));
  const { sections } = session.body;
  grow(editor, sections.get('notes'), 'Notes', rest.map(emitNote), '\n', tail);
  const decisions = match(before.decisions, model.decisions, (decision) => decision.decision);
  for (const [old, now] of decisions.changed)
    editEntry(editor, session.decisions.get(old), old, now, 'decision', decisionFields);
  grow(
    editor,
    sections.get('decisions'),
    'Decisions',
    decisions.added.map((one) => emitEntry(one, one.decision, decisionFields)),
    '\n\n',
    tail,
  );
  const items = match(before.items, model.items, (item) => item.text);
  for (const [old, now] of items.changed) editEntry(editor, session.items.get(old), old, now, 'text', itemFields);
  // Errors of a phase are in the front matter.
  const keys = new Set(model.steps.map((step) => step.key));
  const loose = items.added.filter((item) => item.kind !== 'error' || !keys.has(item.step ?? ''));
  const entries = loose.map((item) => emitEntry(item, item.text, itemFields));
  grow(editor, sections.get('items'), 'Items', entries, '\n\n', tail);
  if (tail.length === 0) return;
  const end = editor.text.trimEnd().length;
  editor.replace(end, editor.text.length, `\n\n${tail.join('\n\n')}\n`);
}

/** Pairs entries of the file with those of the run model: by id, else by text. Entries that only the file has stay. */
function match<T extends { id?: string | undefined; alias?: string | undefined }>(
  before: readonly T[],
  after: readonly T[],
  wordsOf: (entry: T) => string,
): { changed: [T, T][]; added: T[] } {
  const byName = new Map<string, T>();
  const byWords = new Map<string, T[]>();
  for (const entry of before) {
    if (entry.alias) byName.set(entry.alias, entry);
    const words = flat(wordsOf(entry));
    const others = byWords.get(words);
    if (others) others.push(entry);
    else byWords.set(words, [entry]);
  }
  const used = new Set<T>();
  const changed: [T, T][] = [];
  const added: T[] = [];
  for (const entry of after) {
    const named = byName.get(entry.alias ?? '') ?? byName.get(entry.id ?? '');
    const old =
      named ?? byWords.get(flat(wordsOf(entry)))?.find((one) => !used.has(one) && !(one.alias && entry.alias));
    if (old === undefined || used.has(old)) {
      added.push(entry);
      continue;
    }
    used.add(old);
    changed.push([old, entry]);
  }
  return { changed, added };
}

/** Returns the notes that were written as validation results. */
function editSections(
  editor: Editor,
  session: Session,
  before: RunModel,
  model: RunModel,
  notes: readonly ModelNote[],
  tail: string[],
): Set<ModelNote> {
  const used = new Set<ModelNote>();
  const results = new Map<string, ModelNote>();
  for (const note of notes) if (note.step && note.text.startsWith(VALIDATION)) results.set(note.step, note);
  const use = (step: ModelStep): void => {
    const note = results.get(step.key);
    if (note) used.add(note);
  };
  const old = new Map(before.steps.map((step) => [step.key, step]));
  for (const step of model.steps) {
    const was = old.get(step.key);
    const section = session.sections.get(step.key);
    const work = workOf(model, step.key);
    const result =
      work.validation === undefined ? results.get(step.key)?.text.slice(VALIDATION.length) : work.validation;
    const finished = step.status === 'completed' || step.status === 'failed';
    const moved = was ? was.status !== step.status : step.status !== 'pending';
    const summarised = step.summary !== undefined && !same(step.summary, was?.summary);
    // The log grows by attempt: the section of one that failed stays, and the next has its own.
    const isRetried = moved && section?.status === 'failed' && step.status !== 'failed';
    if (!section || isRetried) {
      if (!moved && !summarised && !(result && finished)) continue;
      use(step);
      // The result of the attempt before is not this one's.
      const own = isRetried && result === section?.validation?.text ? undefined : result;
      tail.push([`## ${heading(step)}`, ...blocks(step, work.by, finished, own)].join('\n\n'));
      continue;
    }
    if (moved || (section.status !== null && section.status !== step.status && was?.status !== step.status)) {
      editor.replace(section.mark.start, section.mark.end, ` ${glyphs[step.status]}`);
    }
    const [output] = section.outputs;
    if (summarised && output) editor.replace(output.start, output.end, emitProse(step.summary ?? ''));
    // Verified again within one attempt: the newest result counts.
    const stale =
      section.unvalidated ?? (/^(?:Pass|Fail): /.test(section.validation?.text ?? '') ? section.validation : null);
    if (result && stale && stale.text !== result) {
      use(step);
      editor.replace(stale.start, stale.end, emitProse(result));
    }
    const more: string[] = [];
    const report: string[] = [];
    if (summarised && !output) report.push(outputBlock(step, work.by));
    if (moved && finished && !section.hasFiles && (step.artifacts ?? []).length > 0) report.push(filesBlock(step));
    // The result comes last, also if it was there first.
    const isValidated = section.validation !== null || section.unvalidated !== null;
    if (isValidated && report.length > 0)
      editor.replace(section.mark.end, section.mark.end, `\n\n${report.join('\n\n')}`);
    else more.push(...report);
    if (result && !section.unvalidated && !section.validation) {
      use(step);
      more.push(validationBlock(result));
    } else if (moved && finished && !section.unvalidated && !section.validation) more.push(validationBlock(undefined));
    if (more.length > 0) editor.replace(section.end, section.end, `\n\n${more.join('\n\n')}`);
  }
  return used;
}

function heading(step: ModelStep): string {
  const phase = `Phase ${step.alias ?? step.key}`;
  // A phase without its own name is not named twice.
  const name = flat(step.title) === phase ? '' : `: ${flat(step.title)}`;
  return `${phase}${name} ${glyphs[step.status]}`;
}

/** Who did a step and how it was verified, as the operations give it. */
function workOf(model: RunModel, key: string): { by?: string; validation?: string } {
  return (model.kept?.['work'] as Record<string, { by?: string; validation?: string }> | undefined)?.[key] ?? {};
}

function blocks(step: ModelStep, by: string | undefined, finished: boolean, result: string | undefined): string[] {
  const parts: string[] = [];
  if (step.summary !== undefined && step.summary.trim() !== '') parts.push(outputBlock(step, by));
  if (finished) parts.push(filesBlock(step));
  if (result || finished) parts.push(validationBlock(result));
  return parts;
}

const outputBlock = (step: ModelStep, by: string | undefined): string =>
  `### ${flat(by ?? step.agents?.[0] ?? 'Agent')} Output\n\n${emitProse(step.summary ?? '')}`;

const validationBlock = (result: string | undefined): string =>
  `### Validation Result\n\n${result ? emitProse(result) : 'Not recorded.'}`;

function filesBlock(step: ModelStep): string {
  const row = (name: string, change: string) => {
    const paths = (step.artifacts ?? [])
      .filter((file) => file.change === change)
      .map(({ path }) => (/[\s,]/.test(path) ? `\`${path}\`` : path));
    return paths.length > 0 || change !== 'deleted' ? [`- ${name}: ${paths.join(', ') || 'none'}`] : [];
  };
  return [
    '### Files Changed',
    '',
    ...row('Created', 'created'),
    ...row('Modified', 'modified'),
    ...row('Deleted', 'deleted'),
  ].join('\n');
}

function emitNote(note: ModelNote): string {
  const safe = (words: string | undefined): words is string => words !== undefined && /^[^,()\n]+$/.test(words);
  const head = [
    note.kind,
    ...(safe(note.step) ? [`phase ${note.step}`] : []),
    ...(safe(note.by) ? [`by ${note.by}`] : []),
    ...(safe(note.at) ? [`at ${note.at}`] : []),
  ].join(', ');
  return `- (${head}) ${note.text.trim().replace(/\r?\n(?=[^\r\n])/g, '\n    ')}`;
}

const noteMark = (note: ModelNote): string => `${note.step ?? ''} ${flat(note.text)}`;

/** Adds entries to one of our sections, or a new section at the end of the log. */
function grow(
  editor: Editor,
  section: Section | undefined,
  title: string,
  entries: readonly string[],
  gap: string,
  tail: string[],
): void {
  if (entries.length === 0) return;
  if (section) editor.replace(section.end, section.end, entries.map((entry) => gap + entry).join(''));
  else tail.push(`## ${title}\n\n${entries.join(gap)}`);
}

function editEntry<T extends ModelDecision | ModelItem>(
  editor: Editor,
  entry: BodyEntry<T> | undefined,
  before: T,
  after: T,
  main: string,
  fields: typeof decisionFields,
): void {
  if (!entry) return;
  const [old, now] = [before, after] as unknown as Record<string, unknown>[];
  if (!old || !now) return;
  if (!same(String(old[main]), String(now[main]))) {
    const head = headline(String(now[main]));
    const line = editor.text.slice(entry.start).search(/\r?\n|$/);
    editor.replace(entry.start, entry.start + line, `### ${head}`);
    const place = entry.places.get(main);
    if (place)
      editor.replace(place.start, place.end, emitField({ label: 'Text', key: '', kind: 'text' }, now[main]) ?? '');
  }
  const added: string[] = [];
  for (const field of fields) {
    const value = now[field.key];
    if (value === undefined || same(JSON.stringify(value), JSON.stringify(old[field.key]))) continue;
    const line = emitField(field, value);
    const place = entry.places.get(field.key);
    if (line === null) continue;
    if (place) editor.replace(place.start, place.end, line);
    else added.push(line);
  }
  if (added.length === 0) return;
  const gap = entry.places.size === 0 ? '\n\n' : '\n';
  editor.replace(entry.end, entry.end, gap + added.join('\n'));
}
