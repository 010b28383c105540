import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].concat([
  'src',
  'web',
  'docs',
  'skills',
  'plugins',
  'launcher',
  'bench',
  'demo',
  'scripts',
  'test/long',
]);

/** Words that made the project read like a translation, each with what to write instead. */
const INSTEAD: readonly [form: string, write: string][] = [
  ['anew', 'again, rebuild, rewrite'],
  ['sitting', 'session'],
  ['whoever', 'the thing that is meant: the next session, the receiver'],
  ['somebody', 'someone, or the thing that is meant'],
  ['anybody', 'anyone'],
  ['besides', 'in addition to'],
  ['heed(?:s|ed|ing)?', 'respect'],
  ['mend(?:s|ed|ing)?', 'fix, repair'],
  ['goes on', 'continues, runs on'],
  ['gets on', 'continues'],
  ['puts away', 'archives'],
  ['takes in', 'reads, records, imports'],
  ['of itself', 'automatically'],
  ['is told', 'gets, is notified, is reported'],
  ['(?<!there )is no(?= (?!longer|such|more)[a-z])', 'is not a'],
];

/** Sentences of earlier versions that nobody would say, and what stands there now. */
const PHRASES: readonly [was: string, is: string][] = [
  ['keeps the place of multi-step agent work', 'remembers where your coding agent was'],
  ['At work on a step', 'Steps'],
  ['What must be known', 'Decisions and open items'],
  ['Look back', 'History'],
  ['Put away', 'Archive'],
  ['Set up, and keep in order', 'Setup and maintenance'],
  ['How long silence is no crash', 'Minutes of silence before a session counts as gone'],
  ['Wire Holdfast into', 'Set up Holdfast in a client'],
  ['Put together what a session', 'Rebuild a session that was cut off from its transcript'],
  ['Take in a plan file', 'Import a plan'],
  ['Keep a file in step no longer', 'Stop mirroring a file'],
  ['Hold snapshots against', 'Check snapshots against files and journal'],
  ['Give a run up', 'Abandon a run'],
  ['Settle something open', 'Close an open item'],
  ['an action on the world', 'a side effect such as a deploy'],
  ['Whom it is for', 'Recipient'],
  ['Until when', 'Due date'],
  ['How to get on meanwhile', 'Workaround'],
  ['The agent you are', 'Act as this agent'],
  ['is one word too many', 'does not take'],
  ['Say which one is meant', 'Choose one'],
  ['it writes no more', 'has ended and cannot record anything'],
  ['its gate is behind it', 'has already passed its gate'],
  ['nothing more is recorded in it', 'is read-only'],
  ['would wait for itself', 'Circular dependency'],
  ['Go on with it by', 'Continue with'],
  ['its end was not told', 'no end reported'],
  ['without a word', 'silently'],
  ['begins anew', 'starts a new run'],
  ['Archived too', 'Show archived'],
  ['wait for a person', 'need you'],
  ['Say how it ended', 'Record outcome'],
  ['It cannot be told', 'Unknown'],
  ['Your words', 'Message'],
  ['it was none', 'Withdrawn: not an issue'],
  ['Nobody is at work', 'No active session'],
  ['What it should know first', 'Message to the receiver'],
  ['To the runs', 'Back to runs'],
  ['in every dialect that occurs', 'in every variant found in real repositories'],
];

/** Where one of them has to stay: the text from there on, and why. */
const ALLOWED: readonly { text: string; because: string }[] = [
  { text: 'is told apart', because: 'the usual phrase for distinguishing two things' },
  { text: "of itself', [task", because: 'a parent of itself is one' },
];

const forms = [...INSTEAD, ...PHRASES.map(([was, is]) => [was, is] as const)];
const UNWANTED = new RegExp(
  `(?<![\\p{L}])(?:${forms.map(([form]) => `(${form.replaceAll(' ', '[\\s/*]+')})`).join('|')})(?![\\p{L}])`,
  'giu',
);

describe('the words of code, messages, the dashboard and documents', () => {
  it('are plain English', () => {
    expect(ROOTS.flatMap(filesIn).flatMap((file) => unwantedIn(file, readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('are found wherever they are, also across a line end', () => {
    expect(unwantedIn('a.ts', '// Made anew.\n/** Whoever comes is\n * told. It is no object. */')).toEqual([
      'a.ts:1: "anew", write: again, rebuild, rewrite',
      'a.ts:2: "Whoever", write: the thing that is meant: the next session, the receiver',
      'a.ts:2: "is told", write: gets, is notified, is reported',
      'a.ts:3: "is no", write: is not a',
    ]);
    expect(unwantedIn('a.md', 'Nobody is at work. Its end was\nnot told.')).toEqual([
      'a.md:1: "Nobody is at work", write: No active session',
      'a.md:1: "Its end was not told", write: no end reported',
    ]);
    const fine = 'A copy is told apart by its name; there is no run, and it is no longer here: transitting, amended.';
    expect(unwantedIn('a.ts', fine)).toEqual([]);
  });

  it('of the changelog are under the headings that a changelog has, in their order', () => {
    const order = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
    const [top = '', ...versions] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
    expect(top).toMatch(/^# Changelog\n/);
    for (const version of versions) {
      expect(version.split('\n')[0]).toMatch(/^(Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d)$/);
      const headings = [...version.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading);
      expect(headings).toEqual(order.filter((heading) => headings.includes(heading)));
    }
  });
});

function unwantedIn(file: string, text: string): string[] {
  return [...text.matchAll(UNWANTED)].flatMap((match) => {
    const { 0: found, index } = match;
    const from = oneSpace(text.slice(index, index + 80));
    if (ALLOWED.some((allowed) => from.startsWith(allowed.text))) return [];
    const [, write] = forms[match.slice(1).findIndex((group) => group !== undefined)] ?? [];
    const line = text.slice(0, index).split('\n').length;
    return [`${file}:${line}: "${oneSpace(found).trim()}", write: ${write}`];
  });
}

/** A phrase may continue in the next line of a comment. */
function oneSpace(text: string): string {
  return text.replace(/[\s/*]+/g, ' ');
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs|cjs|js|sh|css|html|md|c)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
