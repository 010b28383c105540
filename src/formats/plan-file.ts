import * as v from 'valibot';
import type { PlannedStep } from '../core/journal/command.ts';
import { ActorName, FilePath, Label, Sentence, StepKey } from '../core/text.ts';
import { StepKind } from '../core/words.ts';

export interface Problem {
  code: string;
  line: number;
  message: string;
}

export interface Parsed<T> {
  value: T;
  problems: Problem[];
}

/** Reads a plan: YAML with `steps`, or Markdown with headings and check-lists. */
export async function parsePlanFile(name: string, text: string): Promise<Parsed<PlannedStep[]>> {
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  return /\.(ya?ml|json)$/i.test(name) ? parseYamlPlan(plain) : parseMarkdownPlan(plain);
}

const list = <S extends v.GenericSchema<unknown, string>>(item: S) =>
  v.optional(
    v.union([
      v.array(item),
      v.pipe(
        item,
        v.transform((one) => [one]),
      ),
    ]),
  );

/** Numbers are natural keys, and a YAML parser turns them into numbers. */
const Key = v.pipe(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), StepKey);

const PlanEntry = v.object({
  key: Key,
  title: Sentence,
  kind: v.optional(StepKind),
  after: v.optional(
    v.union([
      v.array(Key),
      v.pipe(
        Key,
        v.transform((one) => [one]),
      ),
    ]),
  ),
  wave: v.optional(v.number()),
  agents: list(ActorName),
  parallel: v.optional(v.boolean()),
  context: list(FilePath),
  checkpoints: list(Label),
  gate: v.optional(v.boolean()),
  done: v.optional(v.boolean()),
  steps: v.optional(v.array(v.unknown())),
});

async function parseYamlPlan(text: string): Promise<Parsed<PlannedStep[]>> {
  const { isMap, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, version: '1.2' });
  const problems: Problem[] = document.errors.map((error) => ({
    code: 'yaml',
    line: lines.linePos(error.pos[0]).line,
    message: error.message.split('\n')[0] ?? error.code,
  }));
  const value: PlannedStep[] = [];
  if (problems.length > 0) return { value, problems };
  const lineOf = (node: unknown): number => {
    const range = (node as { range?: readonly number[] } | null)?.range;
    return range ? lines.linePos(range[0] ?? 0).line : 1;
  };
  const root = isMap(document.contents) ? document.contents.get('steps', true) : document.contents;
  const visit = (sequence: unknown, parent: string | null): void => {
    if (!isSeq(sequence)) {
      problems.push({ code: 'no_steps', line: lineOf(sequence), message: 'A list of steps is needed here.' });
      return;
    }
    for (const node of sequence.items) {
      const parsed = v.safeParse(PlanEntry, isMap(node) ? node.toJS(document, { maxAliasCount: 100 }) : node);
      if (!parsed.success) {
        const [issue] = parsed.issues;
        problems.push({
          code: 'step',
          line: lineOf(node),
          message: `${v.getDotPath(issue) ?? 'A step'}: ${issue.message}`,
        });
        continue;
      }
      const { steps, kind, ...entry } = parsed.output;
      value.push({ ...entry, kind: kind ?? (steps ? 'phase' : 'task'), ...(parent === null ? {} : { parent }) });
      if (steps && isMap(node)) visit(node.get('steps', true), entry.key);
    }
  };
  visit(root, null);
  return { value, problems };
}

/** Headings below the title are phases; check-list items are their tasks, indented ones subtasks. */
function parseMarkdownPlan(text: string): Parsed<PlannedStep[]> {
  const value: PlannedStep[] = [];
  const problems: Problem[] = [];
  const lines = text.split('\n');
  const headings = lines.filter((line) => /^#{1,6}\s+\S/.test(line)).map((line) => line.indexOf(' '));
  const top = Math.min(...headings);
  // A single heading of the highest level is the title of the page.
  const title = headings.filter((level) => level === top).length === 1 && headings.length > 1 ? top : 0;
  const parents: { indent: number; key: string }[] = [];
  let phase: { key: string; tasks: number } | null = null;
  let phases = 0;
  let loose = 0;
  let fence: string | null = null;
  for (const [index, line] of lines.entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark) fence = fence === null ? mark : line.trim().startsWith(fence) ? null : fence;
    if (fence !== null) continue;
    const heading = /^(#{1,6})\s+(.*\S)/.exec(line);
    if (heading) {
      parents.length = 0;
      if (heading[1]?.length === title) continue;
      phases += 1;
      phase = { key: `p${phases}`, tasks: 0 };
      value.push({ key: phase.key, title: clean(heading[2] ?? ''), kind: 'phase' });
      continue;
    }
    const task = /^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.*\S)/.exec(line);
    if (!task) continue;
    const indent = (task[1] ?? '').replaceAll('\t', '    ').length;
    while ((parents.at(-1)?.indent ?? -1) >= indent) parents.pop();
    const above = parents.at(-1)?.key ?? phase?.key;
    const number = phase ? ++phase.tasks : ++loose;
    const key = phase ? `${phase.key}.${number}` : `t${number}`;
    const words = clean(task[3] ?? '');
    if (words === '') problems.push({ code: 'empty', line: index + 1, message: 'A task without a title.' });
    else
      value.push({
        key,
        title: words,
        kind: 'task',
        ...(above ? { parent: above } : {}),
        ...(task[2] === ' ' ? {} : { done: true }),
      });
    parents.push({ indent, key });
  }
  const used = new Set(value.map((step) => step.parent));
  // A heading without tasks is prose, unless the whole page is headings.
  const tasks = value.some((step) => step.kind === 'task');
  return { value: value.filter((step) => step.kind === 'task' || !tasks || used.has(step.key)), problems };
}

const clean = (words: string): string =>
  words
    .replace(/\s+#+$/, '')
    .replace(/\*\*|__/g, '')
    .trim();
