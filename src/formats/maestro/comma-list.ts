import type { Editor } from '../text/editor.ts';
import { at, type MapNode, type Node, type ScalarNode, wordsOf } from '../text/node.ts';

/** Lists as people write them by hand: in brackets, line by line, `a, b` or a single value. */

export interface Entry {
  words: string;
  start: number;
}

/** The names or ids under a key; a word for none gives an empty list. */
export function namesIn(node: Node | null): Entry[] {
  if (node?.type === 'list')
    return node.items.flatMap((item) => {
      const found = wordsOf(item);
      return found === null ? [] : [{ words: found, start: item.start }];
    });
  const whole = node ? wordsOf(node) : null;
  if (!node || whole === null || /^\s*(?:none|null|n\/a|-|—)?\s*$/i.test(whole)) return [];
  return parts(whole).map((words) => ({ words, start: node.start }));
}

/** The parts of a value that lists files on one line; null when it is one path, or a sentence. */
export function filesOnOneLine(node: Node | null): string[] | null {
  const whole = node?.type === 'scalar' && node.quote !== 'block' ? wordsOf(node) : null;
  if (whole === null || whole.length > 100_000 || !whole.includes(',')) return null;
  const found = parts(whole);
  return found.length > 1 && found.every((part) => /^[^\s()]+(?:\s+\([^()]*\))?$/.test(part)) ? found : null;
}

/** Splits at commas outside brackets. */
function parts(whole: string): string[] {
  const found: string[] = [];
  let [from, depth] = [0, 0];
  for (let index = 0; index <= whole.length; index++) {
    const character = whole[index];
    if (character === '(') depth++;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (character === undefined || (character === ',' && depth === 0)) {
      const part = whole.slice(from, index).trim();
      if (part !== '') found.push(part);
      from = index + 1;
    }
  }
  return found;
}

/** Sets a list under a key in its existing shape: one line stays one line, a list grows at its end. */
export function setList(
  editor: Editor,
  map: MapNode,
  key: string,
  values: readonly (string | number)[],
  after: readonly string[] = [],
): void {
  const there = at(map, key);
  if (there?.type === 'list') {
    const said = there.items.map((item) => wordsOf(item) ?? '');
    const grows = said.length > 0 && said.every((words, index) => words === String(values[index]));
    const stays = (index: number): boolean => values.some((value) => String(value) === said[index]);
    const left = said.filter((_, index) => stays(index));
    const shrinks = left.length === values.length && left.every((words, index) => words === String(values[index]));
    if (grows) editor.append(there, values.slice(said.length));
    else if (shrinks) there.items.forEach((item, index) => void (stays(index) || editor.remove(there, item)));
    else editor.set(map, key, values, after);
  } else if (there?.type === 'scalar' && there.value !== null && values.length > 0 && values.every(isBare))
    setLine(editor, map, key, there, values);
  else editor.set(map, key, values, after);
}

function setLine(
  editor: Editor,
  map: MapNode,
  key: string,
  there: ScalarNode,
  values: readonly (string | number)[],
): void {
  const [only] = values;
  const line = values.join(', ');
  // Plain text with commas needs no quotes outside brackets.
  if (there.quote === 'none' && !map.flow) editor.replace(there.start, there.end, line);
  else editor.set(map, key, values.length === 1 && typeof there.value === 'number' ? only : line);
}

const isBare = (value: string | number): boolean =>
  /^[\p{L}\p{N}_./][^:#\n"'[\]{}]*$/u.test(String(value)) && parts(String(value)).length === 1;
