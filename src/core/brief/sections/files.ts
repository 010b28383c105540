import { counted, fixed, grouped, joined, type Line, line, quotePath } from '../../line.ts';
import type { FileFact, FileFacts, FileLines } from '../facts.ts';
import { leftOut, type Section } from './section.ts';

/** The files that the run changed, as they are now. Each file is a unit; those of one kind share a sentence. */
export function fileSection({ files, total, commits, othersDirty }: FileFacts, share: number): Section {
  return {
    name: 'files',
    share,
    count: files.length,
    show(chars) {
      const kept = files.slice(0, chars.length);
      const of = (is: FileFact['is']): FileFact[] => kept.filter((file) => file.is === is);
      const left = leftOut([{ noun: fixed('file'), command: fixed('`git status`'), count: total - kept.length }]);
      const now = [
        ...sentence(line`Changed, not committed: `, of('changed').map(withLines), '; '),
        ...sentence(line`Changed: `, of('named').map(path), ', '),
        ...sentence(line`Changed while it worked, not by a recorded edit: `, of('unrecorded').map(withLines), '; '),
        ...of('as-before').map((file) => line`${path(file)} is as before now.`),
        ...of('changed-again').map((file) => line`${path(file)} was changed again since, not by this run.`),
        ...(othersDirty > 0 ? [others(othersDirty)] : []),
      ];
      const committed = sentence(
        line`Committed in ${counted(commits, fixed('commit'))}: `,
        of('committed').map(path),
        ', ',
      );
      const lines = [...(now.length > 0 ? [joined(now, ' ')] : []), ...committed];
      const last = lines.pop();
      return [...lines, ...(last || left.length > 0 ? [joined([...(last ? [last] : []), ...left], ' ')] : [])];
    },
  };
}

const path = (file: FileFact): Line => line`${quotePath(file.path)}`;

const withLines = (file: FileFact): Line => line`${path(file)}${file.lines ? lineWords(file.lines) : ''}`;

function lineWords(lines: FileLines): Line {
  switch (lines.is) {
    case 'edited':
      return line` +${lines.added} -${lines.deleted}`;
    case 'new':
      return lines.lines === null ? line` new` : line` new, ${counted(lines.lines, fixed('line'))}`;
    case 'deleted':
      return line` deleted`;
    default:
      return lines satisfies never;
  }
}

function sentence(label: Line, entries: readonly Line[], separator: '; ' | ', '): Line[] {
  return entries.length > 0 ? [line`${label}${joined(entries, separator)}.`] : [];
}

const others = (count: number): Line =>
  count === 1
    ? line`1 other uncommitted file is not of this run.`
    : line`${count} other uncommitted files are not of this run.`;

/** What to read before continuing a planned run, with its size. */
export function readingSection(reading: readonly { path: string; tokens: number }[], share: number): Section {
  return {
    name: 'reading',
    share,
    count: reading.length,
    show(chars) {
      const kept = reading.slice(0, chars.length);
      const left = leftOut([
        { noun: fixed('file'), command: fixed('`holdfast resume --json`'), count: reading.length - kept.length },
      ]);
      const files = kept.map((file) => line`${quotePath(file.path)} ~${grouped(file.tokens)} tokens`);
      return files.length + left.length > 0 ? [joined([...sentence(line`Read: `, files, '; '), ...left], ' ')] : [];
    },
  };
}
