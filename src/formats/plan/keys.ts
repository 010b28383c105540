import type { Marked } from './marks.ts';
import type { PagePart, PageStep } from './plan-page.ts';

/** A step as a page shows it, before it has a key. */
export interface Node {
  marks: Marked;
  line: number;
  from: 'heading' | 'item';
  details: string[];
  children: Node[];
}

/** Gives every step a key: the one written beside it, else one by its place. */
export function keyed(nodes: readonly Node[]): { steps: PageStep[]; unknown: PagePart[] } {
  const taken = new Set<string>();
  const keys = new Map<Node, string>();
  const made = new Set<Node>();
  const last = new Map<string, number>();
  const walk = (
    list: readonly Node[],
    visit: (node: Node, above: Node | null) => void,
    above: Node | null = null,
  ): void => {
    for (const node of list) {
      visit(node, above);
      walk(node.children, visit, node);
    }
  };
  const take = (node: Node, key: string): void => {
    taken.add(key);
    keys.set(node, key);
  };
  walk(nodes, (node) => {
    const { key } = node.marks;
    if (key !== null && !taken.has(key)) take(node, key);
  });
  walk(nodes, (node, above) => {
    if (keys.has(node)) return;
    made.add(node);
    const parent = above === null ? null : (keys.get(above) ?? null);
    const stem = parent === null ? (node.from === 'heading' ? 'p' : 't') : `${parent}.`;
    const written = placeOf(node.marks.number, stem);
    if (written !== null && !taken.has(written)) return take(node, written);
    let number = (last.get(stem) ?? 0) + 1;
    while (taken.has(`${stem}${number}`)) number++;
    last.set(stem, number);
    take(node, `${stem}${number}`);
  });
  const byNumber = new Map<string, string>();
  for (const [node, key] of keys) if (node.marks.number !== null) byNumber.set(node.marks.number, key);
  const steps: PageStep[] = [];
  const unknown: PagePart[] = [];
  walk(nodes, (node, above) => {
    const { marks, line, details, children } = node;
    const find = (name: string): string | undefined =>
      [name, byNumber.get(name) ?? '', `p${name}`, `t${name}`].find((key) => taken.has(key));
    for (const name of marks.after.filter((one) => find(one) === undefined))
      unknown.push({ heading: `"after ${name}" in line ${line}`, as: 'left', text: '', paths: [] });
    const after = [...new Set(marks.after.map(find).filter((key) => key !== undefined))];
    steps.push({
      key: keys.get(node) ?? '',
      title: marks.title,
      kind: node.from === 'heading' ? 'phase' : 'task',
      ...(above ? { parent: keys.get(above) ?? null } : {}),
      ...(after.length > 0 ? { after } : {}),
      ...(marks.parallel ? { parallel: true } : {}),
      ...(children.length === 0 && marks.state !== 'open' ? { [marks.state]: true } : {}),
      line,
      isKeyMade: made.has(node),
      detail: details.length === 0 ? null : details.join('\n'),
    });
  });
  return { steps: steps.filter(({ title }) => title !== ''), unknown };
}

/** `1.1` below `p1` is `p1.1`; a number that belongs elsewhere sets no place. */
function placeOf(number: string | null, stem: string): string | null {
  if (number === null) return null;
  const whole = `p${number}`;
  if (whole.startsWith(stem) && !whole.slice(stem.length).includes('.')) return whole;
  return /^\d+$/.test(number) && stem !== 'p' ? `${stem}${number}` : null;
}
