import type { Foreign } from '../../../core/fold/touch.ts';
import { hasTerm, type SearchQuery } from '../../../core/search/query.ts';
import { type Candidate, type Ranked, rank, recruit } from '../../../core/search/rank.ts';
import { indexTerms } from '../../../core/search/words.ts';
import type { FormatName } from '../../../formats/format.ts';
import { formatNames } from '../../../formats/index.ts';
import type { Context } from '../../context.ts';
import { readBase } from './mirror-base.ts';
import { formatNamed, readMirror } from './mirrors.ts';

/** A passage of another tool's file, with the line of it that has most of the words, from 1; 0 where the file is not here. */
export interface FoundPassage extends Candidate {
  kind: 'line';
  text: string;
  doc: { path: string; line: number; text: string };
}

/** Larger files are documents, not state. */
const MOST_CHARS = 2_000_000;
const PASSAGE_CHARS = 4000;

/**
 * The passages of a run's adopted and mirrored files that answer a query best. This is the only way into them: what a
 * format knows is a record too, and what it does not know is nowhere else. A file that is gone or lies outside the tree
 * is searched as it was last read, and where there is only the journal, by what was kept of it.
 */
export async function searchFiles(
  context: Context,
  run: string,
  query: SearchQuery,
  limit: number,
): Promise<Ranked<FoundPassage>[]> {
  const workspace = context.workspace();
  const engine = await context.engine();
  // Two lookups for each run: the state of many runs would take long to load.
  const kinds = [{ kind: 'mirror', status: 'kept' } as const, { kind: 'foreign' } as const];
  const rows = await Promise.all(kinds.map((filter) => engine.rows(run, { ...filter, limit: 100 })));
  const sources = rows
    .flat()
    .map(({ doc }) => doc as Foreign)
    .filter(({ format }) => formatNames.includes(format as FormatName));
  const texts = new Map<string, string>();
  for (const { format, path } of sources) {
    if (!workspace) break;
    const { files } = readMirror(workspace.tree, await formatNamed(format), path);
    for (const [file, text] of [...(readBase(workspace, { format, path }, files) ?? []), ...files])
      texts.set(file, text);
  }
  const known = { run, kind: 'line' as const, status: '', at: context.now(), version: 0 };
  const passages = [...texts]
    .filter(([, text]) => text.length <= MOST_CHARS)
    .flatMap(([path, text]) => passagesIn(path, text))
    .concat(sources.flatMap((one) => (texts.has(one.path) ? [] : keptIn(one))))
    .map((doc) => ({ ...known, id: doc.path, text: doc.text, doc }));
  const found = recruit(passages, query, { offset: 0, limit });
  const all = query.terms.map(({ stem }) => stem);
  const ranked =
    query.order === 'time'
      ? found.rows.map((row) => ({ row, score: 0, matched: all }))
      : rank(found.rows, query, found.counts);
  return ranked.map((one) => {
    const doc = withLine(one.row.doc, query);
    return { ...one, row: { ...one.row, id: doc.line === 0 ? doc.path : `${doc.path}:${doc.line}`, doc } };
  });
}

/** A paragraph or a list entry of a page with the lines it is wrapped to; elsewhere each line. */
function passagesIn(path: string, text: string): FoundPassage['doc'][] {
  const passages: FoundPassage['doc'][] = [];
  let isOpen = false;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const words = written.trim();
    const last = passages.at(-1);
    const continues =
      isOpen && path.endsWith('.md') && /^[\p{L}\p{N}(`*"“]/u.test(words) && !/^\*\*|^\d+[.)]\s/.test(words);
    if (continues && last && last.text.length < PASSAGE_CHARS) last.text += `\n${words}`;
    else if (words !== '') passages.push({ path, line: index + 1, text: words.slice(0, PASSAGE_CHARS) });
    isOpen = words !== '' && !/^(?:#{1,6}\s|```|---|\|)/.test(words);
  }
  return passages;
}

/** What no field holds, as a service without the working tree has it; entries of our own have a hyphen in their name. */
function keptIn({ path, kept = {} }: Foreign): FoundPassage['doc'][] {
  const foreign = Object.entries(kept).filter(([name]) => !name.includes('-'));
  const lines = JSON.stringify(Object.fromEntries(foreign), null, 1).split('\n');
  return lines.map((line) => ({ path, line: 0, text: line.trim().slice(0, PASSAGE_CHARS) }));
}

function withLine(doc: FoundPassage['doc'], { terms }: SearchQuery): FoundPassage['doc'] {
  if (doc.line === 0) return doc;
  const counts = doc.text.split('\n').map((line) => {
    const own = indexTerms(line);
    return terms.filter((term) => hasTerm(own, term)).length;
  });
  return { ...doc, line: doc.line + counts.indexOf(Math.max(...counts)) };
}
