import { Fault, quoted } from '../core/fault.ts';

/** What a person may type for a command, and the words it stands for. What follows is passed on. */
const aliases = new Map<string, readonly string[]>(
  Object.entries({
    done: ['complete'],
    ready: ['next'],
    list: ['plan', 'show'],
    ls: ['plan', 'show'],
    tasks: ['plan', 'show'],
    todo: ['plan', 'show'],
    add: ['plan', 'add'],
    import: ['plan', 'import'],
    block: ['raise', 'blocker'],
    ask: ['raise', 'question'],
    ui: ['serve', '--open'],
    dashboard: ['serve', '--open'],
    web: ['serve', '--open'],
    switch: ['use'],
    history: ['log'],
    continue: ['resume'],
    ps: ['sessions'],
  }),
);

/** For completions. */
export const aliasNames: readonly string[] = [...aliases.keys(), 'resolve', 'answer'];

/** What a noun shows when no verb follows. */
const nouns = new Map<string, readonly string[]>(
  Object.entries({
    plan: ['plan', 'show'],
    mail: ['mail', 'inbox'],
    session: ['sessions'],
    token: ['token', 'list'],
    mirror: ['mirror', 'list'],
    handoff: ['handoff', 'list'],
    brief: ['brief', 'show'],
    effect: ['status', '--only', 'effects'],
    claim: ['status', '--only', 'claims'],
  }),
);

/** Words that people try, for things that several commands do. None of them is done without being named. */
const explained = new Map<string, readonly string[]>(
  Object.entries({
    undo: removals(),
    rm: removals(),
    delete: removals(),
    pause: [
      '`holdfast capture off` stops recording in this repository.',
      '`holdfast session end` ends your session; its steps stay in progress.',
    ],
    finish: [
      '`holdfast done STEP` finishes a step.',
      '`holdfast session end` ends your session; its steps stay in progress.',
    ],
  }),
);

function removals(): string[] {
  return [
    '`holdfast release STEP` puts a step that is in progress back to pending.',
    '`holdfast reopen STEP "why"` opens a finished or skipped step again.',
    '`holdfast retract D-3` takes back a decision.',
    '`holdfast plan remove STEP` removes a pending step.',
    '`holdfast help drop` says how a person removes a whole run.',
  ];
}

/** The words of a command line in the words of the commands; `rest` is what stands behind the command's own words. */
export function withoutAliases(words: readonly string[], rest: readonly string[]): { words: string[]; rest: string[] } {
  const [first = '', ...others] = words;
  const after = [...others, ...rest];
  const hints = explained.get(first);
  if (hints) throw new Fault('usage', `There is no command ${quoted(first)}.`, { hints });
  if (first === 'resolve' || first === 'answer') return settled(first, after);
  const stands = aliases.get(first) ?? (others.length === 0 && isBare(first, rest) ? nouns.get(first) : undefined);
  if (!stands) return { words: [...words], rest: [...rest] };
  const [command = '', second, ...more] = stands;
  const isFlag = second?.startsWith('-');
  return second === undefined || isFlag
    ? { words: [command], rest: [...stands.slice(1), ...after] }
    : { words: [command, second], rest: [...more, ...after] };
}

/** No word follows that could be the verb; flags may, unless the noun is a command that takes them. */
function isBare(noun: string, rest: readonly string[]): boolean {
  if (rest.includes('--help') || rest.includes('-h')) return false;
  if (noun === 'handoff' || noun === 'claim') return rest.every((word) => word === '--json');
  return rest[0] === undefined || rest[0].startsWith('-');
}

/** `resolve B-3 ["how"]` and `answer Q-1 "text"`. */
function settled(verb: string, [id, text, ...rest]: readonly string[]): { words: string[]; rest: string[] } {
  if (id === undefined || id.startsWith('-')) {
    const example =
      verb === 'answer' ? 'holdfast answer Q-1 "Yes, drop it."' : 'holdfast resolve B-1 "The key arrived."';
    throw new Fault('usage', `\`${verb}\` needs the id of an open item.`, {
      hints: [`Example: \`${example}\``, 'See what is open: `holdfast items`'],
    });
  }
  const hasText = text !== undefined && !text.startsWith('-');
  if (verb === 'answer' && !hasText) {
    throw new Fault('usage', '`answer` needs a text.', {
      hints: [`Example: \`holdfast answer ${id} "Yes, drop it."\``],
    });
  }
  const note = hasText ? ['--note', text] : text === undefined ? [] : [text];
  return { words: ['settle'], rest: [id, 'resolved', ...note, ...rest] };
}
