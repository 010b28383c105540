import { keyed, type Node } from './keys.ts';
import { readDependency, readMarks } from './marks.ts';
import { type Block, outline } from './outline.ts';
import { emptyPage, type PagePart, type PlanPage } from './plan-page.ts';
import { readHeading, type SectionKind } from './section-kind.ts';

type Item = Extract<Block, { kind: 'item' }>;

interface Section {
  kind: SectionKind | null;
  title: string;
  number: string | null;
  level: number;
  line: number;
  /** Inside a section of what is out of scope. */
  isOutside: boolean;
  blocks: Exclude<Block, { kind: 'heading' }>[];
  children: Section[];
}

/** Which items and headings of a page are steps. The first rule that finds any is the one that counts. */
interface Rule {
  isItem(item: Item, section: Section): boolean;
  /** A heading that is a step itself; its steps are below it. */
  isHeading(section: Section): boolean;
}

export function parseMarkdownPlan(text: string): PlanPage {
  const page = emptyPage();
  const blocks = outline(text);
  const { root, title } = sectionsOf(blocks);
  page.title = title;
  const of = (kind: Block['kind']): number => blocks.filter((block) => block.kind === kind).length;
  page.seen = { headings: of('heading'), paragraphs: of('text'), items: of('item') };
  const rule = rules.map((make) => make(root)).find((made) => made !== null);
  if (!rule) return page;
  const nodes = nodesOf(root, rule);
  const { steps, unknown } = keyed(nodes);
  page.steps = steps;
  page.rest = [...restOf(root, rule, title), ...unknown];
  const goal = page.rest.find((part) => part.as === 'goal');
  page.goal = goal?.text ?? null;
  // One section is the goal; the others of its kind are notes.
  for (const part of page.rest) if (part.as === 'goal' && part !== goal) part.as = 'note';
  return page;
}

function sectionsOf(blocks: readonly Block[]): { root: Section; title: string | null } {
  const headings = blocks.filter((block) => block.kind === 'heading');
  const top = Math.min(...headings.map(({ level }) => level));
  const highest = headings.filter(({ level }) => level === top);
  const [only] = highest;
  // A single heading of the highest level is the title of the page.
  const titled = only && highest.length === 1 && (top === 1 || headings.length > 1) ? only : null;
  const root = sectionAt('', 0, 0, false);
  const open = [root];
  for (const block of blocks) {
    if (block === titled) continue;
    if (block.kind !== 'heading') {
      open.at(-1)?.blocks.push(block);
      continue;
    }
    while ((open.at(-1)?.level ?? 0) >= block.level && open.length > 1) open.pop();
    const above = open.at(-1) ?? root;
    const section = sectionAt(block.text, block.level, block.line, above.isOutside);
    above.children.push(section);
    open.push(section);
  }
  return { root, title: titled?.text.replace(/^(?:implementation )?plan:\s*/i, '') ?? null };
}

function sectionAt(heading: string, level: number, line: number, isOutside: boolean): Section {
  const read = readHeading(heading);
  return { ...read, level, line, isOutside: isOutside || read.kind === 'outside', blocks: [], children: [] };
}

const rules: readonly ((root: Section) => Rule | null)[] = [checkBoxes, numberedHeadings, stepSections, onlyList];

function checkBoxes(root: Section): Rule | null {
  const isItem = ({ box }: Item, { isOutside }: Section): boolean => box !== null && !isOutside;
  const hasStep = (section: Section): boolean => some(section, (one) => itemsOf(one).some((item) => isItem(item, one)));
  if (!hasStep(root)) return null;
  return { isItem, isHeading: (section) => section.kind !== 'steps' && hasStep(section) };
}

/** `Phase 1`, `Task 1.2`. Below a phase without tasks its list has them. */
function numberedHeadings(root: Section): Rule | null {
  const isHeading = ({ kind, isOutside }: Section): boolean => !isOutside && (kind === 'phase' || kind === 'task');
  if (!some(root, isHeading)) return null;
  const listed = new Set(
    all(root)
      .filter((section) => section.kind === 'phase' && !section.children.some((child) => some(child, isHeading)))
      .flatMap((section) => all(section).flatMap(mainList)),
  );
  return { isItem: (item) => listed.has(item), isHeading };
}

/** The numbered list of a section called `Steps`, `Plan` and the like, or its bullets. */
function stepSections(root: Section): Rule | null {
  const sections = all(root).filter(({ kind, isOutside }) => kind === 'steps' && !isOutside);
  const listed = new Set(sections.flatMap((section) => all(section).filter(isOpen).flatMap(mainList)));
  if (listed.size === 0) return null;
  const hasStep = (section: Section): boolean => some(section, (one) => itemsOf(one).some((item) => listed.has(item)));
  return {
    isItem: (item) => listed.has(item),
    isHeading: (section) => section.kind === null && hasStep(section) && !some(section, ({ kind }) => kind === 'steps'),
  };
}

function onlyList(root: Section): Rule | null {
  const lists = all(root).filter(isOpen).flatMap(orderedLists);
  const [only] = lists;
  if (!only || lists.length > 1) return null;
  const listed = new Set(only);
  return { isItem: (item) => listed.has(item), isHeading: () => false };
}

const isOpen = ({ kind, isOutside }: Section): boolean => !isOutside && (kind === null || kind === 'steps');

/** The numbered items of a section with what is nested in them, or, without any, its bullets. */
function mainList(section: Section): Item[] {
  const items = itemsOf(section);
  const ordered = items.filter((item) => item.ordered);
  return ordered.length > 0 ? ordered : items;
}

/** Numbered lists; text or a bullet that is not nested ends one. */
function orderedLists({ blocks }: Section): Item[][] {
  const lists: Item[][] = [];
  let current: Item[] | null = null;
  for (const block of blocks) {
    const isNested = current !== null && block.indent > (current[0]?.indent ?? 0);
    if (block.kind === 'item' && block.ordered) {
      if (current === null) {
        current = [];
        lists.push(current);
      }
      current.push(block);
    } else if (!isNested) current = null;
  }
  return lists;
}

function nodesOf(section: Section, rule: Rule): Node[] {
  const nodes: Node[] = [];
  const open: { indent: number; node: Node }[] = [];
  for (const block of section.blocks) {
    while ((open.at(-1)?.indent ?? -1) >= block.indent) open.pop();
    const above = open.at(-1)?.node;
    if (block.kind === 'item' && rule.isItem(block, section)) {
      const node = newNode(block.text, block.line, 'item', block.box);
      (above?.children ?? nodes).push(node);
      open.push({ indent: block.indent, node });
    } else if (above) addDetail(above, block.text);
  }
  for (const child of section.children) {
    if (!rule.isHeading(child)) {
      nodes.push(...nodesOf(child, rule));
      continue;
    }
    const node = newNode(child.title, child.line, child.kind === 'task' ? 'item' : 'heading', null);
    node.marks.number ??= child.number;
    node.children = nodesOf(child, rule);
    if (node.children.length === 0) for (const block of allBlocks(child)) addDetail(node, block.text);
    nodes.push(node);
  }
  return nodes;
}

const newNode = (words: string, line: number, from: Node['from'], box: Item['box']): Node => ({
  marks: readMarks(words, box),
  line,
  from,
  details: [],
  children: [],
});

function addDetail(node: Node, text: string): void {
  const after = readDependency(text);
  if (after) node.marks.after.push(...after);
  else node.details.push(text);
}

/** The sections without a step in them. */
function restOf(section: Section, rule: Rule, title: string | null): PagePart[] {
  return section.children.flatMap((child) => {
    const hasStep = some(child, (one) => rule.isHeading(one) || itemsOf(one).some((item) => rule.isItem(item, one)));
    if (hasStep) return restOf(child, rule, title);
    const text = textOf(child);
    if (text === '') return [];
    return [{ heading: child.title, as: partOf(child), text, paths: child.kind === 'reading' ? pathsIn(text) : [] }];
  });
}

function partOf({ kind, isOutside }: Section): PagePart['as'] {
  if (isOutside) return 'constraint';
  return kind === 'goal' || kind === 'reading' || kind === 'note' ? kind : 'left';
}

function textOf(section: Section): string {
  const own = section.blocks.map((block) => (block.kind === 'item' ? `- ${block.text}` : block.text));
  const below = section.children.map((child) => `${child.title}: ${textOf(child)}`);
  return [...own, ...below].join('\n').trim();
}

/** Words that look like a path: in code marks, or with a folder or an ending. */
function pathsIn(text: string): string[] {
  const words = text.match(/`[^`\n]+`|[\w@.-]+(?:\/[\w@.-]+)+|[\w-]+\.\w{1,5}\b/g) ?? [];
  return [...new Set(words.map((word) => word.replaceAll('`', '').replace(/:\d+(?:-\d+)?$/, '')))];
}

const all = (section: Section): Section[] => [section, ...section.children.flatMap(all)];
const some = (section: Section, test: (one: Section) => boolean): boolean => all(section).some(test);
const itemsOf = ({ blocks }: Section): Item[] => blocks.filter((block) => block.kind === 'item');
const allBlocks = (section: Section): Section['blocks'] => all(section).flatMap(({ blocks }) => blocks);
