import type { Foreign } from '../../../core/fold/touch.ts';
import { oneLine } from '../../../core/text.ts';
import type { FormatName } from '../../../formats/format.ts';
import { formatNames } from '../../../formats/index.ts';
import type { Context } from '../../context.ts';
import { formatNamed, readMirror } from './mirrors.ts';

/** A line of another tool's file, found by its words. */
export interface FoundLine {
  path: string;
  /** From 1. */
  line: number;
  text: string;
}

/** Larger files are documents, not state. */
const MOST_CHARS = 2_000_000;
const TEXT_CHARS = 300;

/**
 * The lines of a run's adopted and mirrored files that have all the words, each as the beginning of a word. They may hold
 * what has no place in the journal.
 */
export async function searchFiles(context: Context, run: string, words: readonly string[]): Promise<FoundLine[]> {
  const tree = context.workspace()?.tree;
  if (tree === undefined) return [];
  const engine = await context.engine();
  const rows = await engine.rows(run, { kind: 'foreign', limit: 100 });
  const sources = [...(await engine.load(run)).mirrors.values(), ...rows.map((row) => row.doc as Foreign)].filter(
    ({ format }) => formatNames.includes(format as FormatName),
  );
  const wanted = words.map((word) => plain(word));
  const lines = new Map<string, FoundLine>();
  for (const { format, path } of sources) {
    const { files } = readMirror(tree, await formatNamed(format), path);
    for (const [file, text] of files) {
      if (text.length > MOST_CHARS) continue;
      for (const [at, line] of text.split(/\r?\n/).entries()) {
        const own = ` ${plain(line)}`;
        if (wanted.every((word) => own.includes(` ${word}`)))
          lines.set(`${file}:${at + 1}`, { path: file, line: at + 1, text: oneLine(line, TEXT_CHARS) });
      }
    }
  }
  return [...lines.values()];
}

/** In lower case, with single spaces between words. */
export const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
