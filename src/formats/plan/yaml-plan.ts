import * as v from 'valibot';
import { ActorName, FilePath, Label, Sentence, StepKey } from '../../core/text.ts';
import { StepKind } from '../../core/words.ts';
import { emptyPage, type PageStep, type PlanPage } from './plan-page.ts';

const LISTS = ['steps', 'tasks', 'todos', 'items', 'phases', 'milestones', 'plan'] as const;
const CHILDREN = ['steps', 'tasks', 'subtasks', 'children'] as const;

/** One value, or a list of them. */
const some = <S extends v.GenericSchema<unknown, string>>(item: S) =>
  v.union([
    v.array(item),
    v.pipe(
      item,
      v.transform((one) => [one]),
    ),
  ]);
/** Numbers are natural keys, and a YAML parser turns them into numbers. */
const Key = v.pipe(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), StepKey);

/** The fields of a step: the names that are read, and what their value is. */
const fields = {
  key: [['key', 'id', 'number'], Key],
  title: [['title', 'name', 'task', 'step', 'content', 'text'], Sentence],
  kind: [['kind'], StepKind],
  after: [['after', 'depends_on', 'dependencies', 'needs', 'blocked_by'], some(Key)],
  wave: [['wave'], v.number()],
  agents: [['agents', 'agent'], some(ActorName)],
  parallel: [['parallel'], v.boolean()],
  context: [['context'], some(FilePath)],
  checkpoints: [['checkpoints'], some(Label)],
  gate: [['gate'], v.boolean()],
} as const satisfies Record<string, readonly [readonly string[], v.GenericSchema]>;
const STATES = ['status', 'state', 'done', 'completed'];
const DETAILS = ['detail', 'details', 'description', 'notes'];
const read = new Set<string>([
  ...Object.values(fields).flatMap(([names]) => names),
  ...STATES,
  ...DETAILS,
  ...CHILDREN,
  'activeForm',
]);

/** The plan in a YAML or JSON text; null if the text is neither a list nor a map with a list of steps. */
export async function parseYamlPlan(text: string): Promise<PlanPage | null> {
  const { isMap, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, version: '1.2' });
  const root = document.contents;
  const list = isMap(root) ? LISTS.find((name) => root.has(name)) : undefined;
  if (!isSeq(root) && list === undefined) return null;
  const page = emptyPage();
  page.problems = document.errors.map((error) => ({
    line: lines.linePos(error.pos[0]).line,
    message: error.message.split('\n')[0] ?? error.code,
  }));
  if (page.problems.length > 0) return page;
  const lineOf = (node: unknown): number => {
    const range = (node as { range?: readonly number[] } | null)?.range;
    return range ? lines.linePos(range[0] ?? 0).line : 1;
  };
  const plainValue = (node: unknown): unknown =>
    (node as { toJS?(owner: unknown, options: object): unknown }).toJS?.(document, { maxAliasCount: 100 });
  const taken = new Set<string>();
  const visit = (sequence: unknown, parent: string | null): void => {
    if (!isSeq(sequence)) {
      page.problems.push({ line: lineOf(sequence), message: 'A list of steps is needed here.' });
      return;
    }
    for (const [index, node] of sequence.items.entries()) {
      const value = plainValue(node);
      const step = stepOf(value, lineOf(node), page);
      if (step === null) continue;
      if (step.key === '') step.key = freeKey(parent, index, taken);
      taken.add(step.key);
      const children = isMap(node) ? CHILDREN.find((name) => node.has(name)) : undefined;
      page.steps.push({
        ...step,
        kind: step.kind ?? (children ? 'phase' : 'task'),
        ...(parent === null ? {} : { parent }),
      });
      if (children !== undefined && isMap(node)) visit(node.get(children, true), step.key);
    }
  };
  visit(isMap(root) && list !== undefined ? root.get(list, true) : root, null);
  const about = (...names: string[]): string | null =>
    names.map((name) => (isMap(root) ? root.get(name) : null)).find((value) => typeof value === 'string') ?? null;
  return { ...page, title: about('title', 'name', 'project'), goal: about('goal', 'objective', 'description') };
}

type Unkinded = Omit<PageStep, 'kind'> & { kind?: PageStep['kind'] };

/** A step with an empty key has none in the file. Null where a problem was found. */
function stepOf(value: unknown, line: number, page: PlanPage): Unkinded | null {
  const problem = (message: string): null => {
    page.problems.push({ line, message });
    return null;
  };
  if (typeof value === 'string' && value.trim() !== '')
    return { key: '', title: value.trim(), line, isKeyMade: true, detail: null };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problem('A step is a title, or a map with a title.');
  const entry = value as Record<string, unknown>;
  for (const name of Object.keys(entry)) if (!read.has(name)) page.ignored[name] = (page.ignored[name] ?? 0) + 1;
  const found: Record<string, unknown> = {};
  for (const [field, [names, schema]] of Object.entries(fields)) {
    const name = names.find((one) => entry[one] !== undefined && entry[one] !== null);
    if (name === undefined) continue;
    const parsed = v.safeParse(schema, entry[name]);
    if (!parsed.success) return problem(`${name}: ${parsed.issues[0].message}`);
    found[field] = parsed.output;
  }
  const described = DETAILS.map((name) => entry[name]).find((text) => typeof text === 'string');
  const [first, rest] = found['title'] === undefined ? firstSentence(described ?? '') : [null, described?.trim() ?? ''];
  const title = (found['title'] as string | undefined) ?? first;
  if (!title) return problem('title: a step needs a title (or name, task, content, description).');
  const state = stateOf(entry);
  return {
    ...found,
    key: (found['key'] as string | undefined) ?? '',
    title,
    ...(state === 'open' ? {} : { [state]: true }),
    line,
    isKeyMade: found['key'] === undefined,
    detail: rest === '' ? null : rest,
  };
}

function firstSentence(text: string): [first: string, rest: string] {
  const words = text.trim().replace(/\s+/g, ' ');
  const end = /[.!?](?=\s)/.exec(words)?.index;
  return end === undefined ? [words, ''] : [words.slice(0, end).trim(), words.slice(end + 1).trim()];
}

function stateOf(entry: Record<string, unknown>): 'open' | 'done' | 'skipped' {
  for (const name of STATES) {
    const value = entry[name];
    if (value === true) return 'done';
    if (typeof value !== 'string') continue;
    if (/^(?:done|completed?|finished|closed|x|yes|true)$/i.test(value.trim())) return 'done';
    if (/^(?:skipped|cancell?ed|wont_?fix|dropped)$/i.test(value.trim())) return 'skipped';
  }
  return 'open';
}

function freeKey(parent: string | null, index: number, taken: ReadonlySet<string>): string {
  const stem = parent === null ? 't' : `${parent}.`;
  let number = index + 1;
  while (taken.has(`${stem}${number}`)) number++;
  return `${stem}${number}`;
}
