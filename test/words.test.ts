import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOTS = ['package.json', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].concat(
  ['src', 'web', 'docs', 'skills', 'plugins', 'launcher', 'bench', 'demo', 'scripts', 'test/long'],
);

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
  ['Begin, and go on', 'Start here'],
  ['Leave the work, and hand it over', 'Handoff'],
  ['Show that a session is alive', "Renew a session's lease"],
  ['Let nobody in', 'Revoke a token'],
  ['Let a person or an agent in', 'Create an access token'],
  ['who is let in', 'List tokens and when each was last used'],
  ["Say what agents' hooks may record", 'Switch recording off or on, or change what is recorded'],
  ["what an agent's client tells", 'Entry point for client hooks'],
  ['who has no Holdfast installed', 'teammates without Holdfast are not affected'],
  ['Take in what others wrote', 'Sync mirrors in both directions'],
  ['Put a finished run away', 'Archive a finished run'],
  ['Take the words of a record', 'Erase the text of an entry permanently'],
  ['Leave a step out', 'Skip a step'],
  ['Say something on a message', 'Reply to a message'],
  ['Show a message whole', 'Show a message and its replies'],
  ['Take it not yourself', 'Reopen without taking it'],
  ['(?:key|context) is needed', '`start` needs a step'],
  ['\\(and \\d+ more\\)', 'all problems at once'],
  ['Invalid value: Expected', '--budget must be at least 100, not 10'],
  ['completed is an end', '`completed` is final'],
  ['What the hooks start does not run', 'The hook command fails'],
  ['left \\S+ mid-stream', 'stopped in the middle of'],
  ['Made from the journal and written', 'Generated from the journal; edits are overwritten'],
  ['All 1 steps', 'The only step'],
  ['never said to have ended', 'outcome unknown: check before repeating'],
  ['Expected unchanged when', 'new since S-1 started, not recorded'],
  ['0 cannot be told', 'all checks passed'],
  ['Null for what is no', 'Returns null unless'],
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
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs|cjs|js|sh|css|html|json|md|c)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
