import type { Files } from '../format.ts';

/** What gets an id of this format. */
export type AliasKind = 'message' | 'question' | 'task';

/**
 * The next id of a kind: one above the highest anywhere in the files, including archives and mentions, or among
 * `taken`. Gaps are not filled, so that an id never means two things.
 */
export function nextAlias(files: Files, kind: AliasKind, date: string, taken: Iterable<string> = []): string {
  return aliasMaker(files, taken)(kind, date);
}

/** The same for many ids: each call gives another, and the files are searched once per series. */
export function aliasMaker(files: Files, taken: Iterable<string> = []): (kind: AliasKind, date: string) => string {
  const names = [...taken];
  const highest = new Map<string, number>();
  return (kind, date) => {
    const { prefix, pattern } = shapeOf(kind, date);
    let last = highest.get(prefix);
    if (last === undefined) {
      last = 0;
      for (const text of [...files.values(), ...names]) {
        for (const match of text.matchAll(pattern)) last = Math.max(last, Number(match[1]));
      }
    }
    highest.set(prefix, last + 1);
    return prefix + String(last + 1).padStart(3, '0');
  };
}

function shapeOf(kind: AliasKind, date: string): { prefix: string; pattern: RegExp } {
  switch (kind) {
    case 'message': {
      const day = date.slice(0, 10).replaceAll('-', '');
      return { prefix: `MSG-${day}-`, pattern: new RegExp(`\\bMSG-${day.replace(/\D/g, '')}-(\\d{1,9})\\b`, 'g') };
    }
    case 'question':
      return { prefix: 'OQ-', pattern: /\bOQ-(\d{1,9})\b/g };
    case 'task':
      return { prefix: 'task-', pattern: /\btask-(\d{1,9})\b/g };
    default:
      return kind satisfies never;
  }
}
