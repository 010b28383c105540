import type { Finding } from './check.ts';
import type { Request } from './model.ts';
import {
  endedWell,
  killDuring,
  longCommand,
  openScene,
  type Ready,
  type Recorded,
  type Scene,
  turnsIn,
} from './scene.ts';

interface Story {
  folder: string;
  first: Ready;
  /** The client that continues the work of the first. */
  next: Ready;
  note(finding: Omit<Finding, 'client'>): void;
}

const DECISION = 'Greet the harbour, not the world';
const DOING = 'Write the greeting';
const TODO = 'Ring the bell';
/** Returns the other hosts that were requested, and refused. */
export async function playStory({ folder, first, next, note }: Story): Promise<ReadonlySet<string>> {
  const scene = await openScene(folder);
  const check = (step: string, why: string | null): boolean => {
    note({ step, result: why === null ? 'pass' : 'FAIL', ...(why === null ? {} : { why }) });
    return why === null;
  };
  try {
    if (!check('holdfast install', scene.install(first))) return scene.model.refused;
    await work(scene, first, check, note);
    const hasTodos = !scene.model.skipped.has('todo');
    await compact(scene, first, check, note);
    const session = await cutOff(scene, first, check);
    if (!check(`holdfast install ${next.client.name} beside it`, scene.install(next))) return scene.model.refused;
    await goOn(scene, next, { session, hasTodos }, check);
  } finally {
    scene.close();
  }
  return scene.model.refused;
}

type Check = (step: string, why: string | null) => boolean;

/** Edits, a command, a to-do list and a decision; the first three are recorded by hooks alone. */
async function work(scene: Scene, ready: Ready, check: Check, note: Story['note']): Promise<void> {
  const decide = `holdfast decide --context Greeting --decision "${DECISION}" --reason "Ships read it"`;
  const talk = scene.talk(ready, 'Let there be a friendly greeting in greeting.txt.', [
    {
      want: {
        do: 'todo',
        entries: [
          { text: DOING, status: 'in_progress' },
          { text: TODO, status: 'pending' },
        ],
      },
    },
    { want: { do: 'write', path: 'greeting.txt', text: 'hello\nworld\n' } },
    { want: { do: 'edit', path: 'greeting.txt', from: 'world', to: 'harbour' } },
    { want: { do: 'command', command: 'cat greeting.txt' } },
    { want: { do: 'command', command: decide } },
    { say: 'The greeting is written.' },
  ]);
  check('answers without a user', endedWell(await talk.ended));
  const turns = turnsIn(talk.requests());
  const hasBrief = requestHas(turns, ['Holdfast record of']) === null;
  check('nothing is said where nothing is unfinished', hasBrief ? 'a request has a brief' : null);
  // Some clients first send only the instructions of a server, and its tools after a search.
  const offered = turns.some(({ text }) => /holdfast[_-]{1,2}checkpoint|- holdfast: Call `resume`/.test(text));
  check('MCP server reaches the model', offered ? null : 'no request names its tools or has its instructions');
  const events = scene.journal();
  check('edits are in the journal', recorded(events, 'files.seen', ['greeting.txt']));
  check('commands are in the journal', recorded(events, 'effect.ended', [], ['effect.began', 'cat greeting.txt']));
  const withoutTodos = 'it has no to-do list without a user';
  if (scene.model.skipped.has('todo'))
    note({ step: 'to-do list is the plan', result: 'not driven', why: withoutTodos });
  else check('to-do list is the plan', recorded(events, 'step.added', [DOING]));
  check('decision from its shell is of its session', recorded(events, 'decision.made', [DECISION, '"session":"S-1"']));
  check('the request begins a turn', recorded(events, 'turn.began', ['friendly greeting', '"request"']));
  check('its end is recorded', recorded(events, 'turn.ended', ['"done"']));
}

async function compact(scene: Scene, ready: Ready, check: Check, note: Story['note']): Promise<void> {
  const { compaction } = ready.client;
  const [prompt, turns] =
    'command' in compaction
      ? [compaction.command, [{ say: 'It is shorter now.' }]]
      : [
          'Look at it once more.',
          [
            { want: { do: 'command', command: 'cat README.md' }, inputTokens: compaction.fullTokens } as const,
            { say: 'It is as it should be.' },
          ],
        ];
  const talk = scene.talk(ready, prompt, turns, { continues: true });
  await talk.ended;
  const made = talk.requests();
  const at = made.findIndex(({ kind }) => kind === 'summary');
  if (at < 0) {
    note({ step: 'compaction re-injects', result: 'not driven', why: 'it did not ask for a summary' });
    return;
  }
  await scene.talk(ready, 'And now?', [{ say: 'Nothing more.' }], { continues: true }).ended;
  const later = talk.requests().slice(at);
  const since = made[at]?.at ?? '';
  const how = later.some(({ kind, text }) => kind === 'turn' && hasBriefSince(text, since, true))
    ? 'a continuation in the next request'
    : later.some(({ kind, text }) => kind === 'turn' && hasBriefSince(text, since, false))
      ? 'the brief with the next prompt'
      : // OpenCode takes it for the summary itself, just before that is asked for.
        made.some(({ kind, text }) => kind === 'summary' && text.includes('the work of this session, after compaction'))
        ? 'a continuation in the request for the summary'
        : null;
  if (how === null) check('compaction re-injects', `no brief since ${since} is in the requests after it`);
  else note({ step: 'compaction re-injects', result: 'pass', why: how });
}

/** The session that was cut off; null if the command never began. */
async function cutOff(scene: Scene, ready: Ready, check: Check): Promise<string | null> {
  const turns = [{ want: { do: 'command', command: longCommand('bell') } as const }, { say: 'It rang.' }];
  const talk = scene.talk(ready, 'Ring the bell.', turns, { continues: true });
  const pid = await killDuring(talk, scene, 'bell');
  if (!check('kill -9 in the middle of a command', pid ? null : 'the command never began')) return null;
  // Nothing ran since: the next client is the one that detects the crash.
  const effect = scene.journal().findLast(({ type, text }) => type === 'effect.began' && text.includes('bell.pid'));
  check('the command that began is in the journal', effect ? null : 'there is no effect.began with bell.pid');
  return effect?.session ?? null;
}

async function goOn(
  scene: Scene,
  ready: Ready,
  { session, hasTodos }: { session: string | null; hasTodos: boolean },
  check: Check,
): Promise<void> {
  const talk = scene.talk(ready, 'Go on, please.', [{ say: 'I see where it stands.' }]);
  const { name } = ready.client;
  check(`${name} answers in its place`, endedWell(await talk.ended));
  const events = scene.journal();
  check('its session is marked as crashed', recorded(events, 'session.ended', ['"crashed"', `"id":"${session}"`]));
  // Not every client reports the end of a session; one whose turn was over still counts as ended.
  const crashed = events.filter(({ type, text }) => type === 'session.ended' && text.includes('"crashed"'));
  check('no other session is', crashed.length <= 1 ? null : crashed.map(({ text }) => text).join(' '));
  const snapshot = ['"reconstructed":true', `"session":"${session}"`];
  check('its snapshot is reconstructed', recorded(events, 'snapshot.taken', snapshot));
  const { uncertain } = scene.holdfast('resume') as { uncertain: { name: string }[] };
  const names = uncertain.map((one) => one.name);
  check('its command is UNCERTAIN', names.some((one) => one.includes('bell.pid')) ? null : `it is ${names.join('; ')}`);
  const turns = turnsIn(talk.requests());
  check(`${name} gets the position`, requestHas(turns, ['Holdfast record of', hasTodos ? DOING : 'friendly greeting']));
  check(`${name} gets the decision`, requestHas(turns, [DECISION]));
  check(`${name} gets what is uncertain`, requestHas(turns, ['Uncertain: X-', 'bell.pid']));
  const { runs } = scene.holdfast('runs') as { runs: unknown[] };
  check('it is the same run', runs.length === 1 ? null : `there are ${runs.length} runs`);
}

/** A brief has its time, because a request may contain older ones. */
function hasBriefSince(text: string, since: string, isContinuation: boolean): boolean {
  const heads = isContinuation
    ? text.matchAll(/Holdfast record of (\S+(?: \d\d:\d\d)?) UTC: the work of this session, after compaction/g)
    : text.matchAll(/Holdfast record of (\S+(?: \d\d:\d\d)?) UTC/g);
  // Either form of a time, to the minute.
  return [...heads].some(([, at = '']) => at.replace(' ', 'T').slice(0, 16) >= since.slice(0, 16));
}

/** Null when one of the requests has all of the words. */
function requestHas(requests: readonly Request[], words: readonly string[]): string | null {
  if (requests.some(({ text }) => words.every((word) => text.includes(word)))) return null;
  const missing = words.filter((word) => !requests.some(({ text }) => text.includes(word)));
  return `none of ${requests.length} requests has ${(missing.length > 0 ? missing : words).join(' and ')}`;
}

/** Null when an event of the type has all of the words; `other` is another event that must be there. */
function recorded(
  events: readonly Recorded[],
  type: string,
  words: readonly string[],
  other?: readonly [string, string],
): string | null {
  const has = (wanted: string, all: readonly string[]): boolean =>
    events.some((event) => event.type === wanted && all.every((word) => event.text.includes(word)));
  if (!has(type, words)) return `there is no ${[type, ...words].join(' with ')}`;
  return other === undefined || has(other[0], [other[1]]) ? null : `there is no ${other.join(' with ')}`;
}
