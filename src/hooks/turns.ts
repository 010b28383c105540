import type { Moment } from '../clients/moment.ts';
import type { ToolResult } from '../clients/tool-call.ts';
import type { Effect } from '../core/fold/state.ts';
import type { Prompt } from '../core/prompt/prompt.ts';
import { isUntitled, titleOf } from '../core/prompt/title.ts';
import { redact } from '../core/redact/redact.ts';
import { oneLine } from '../core/text.ts';
import { lastWordsAsk } from '../core/views/last-words.ts';
import type { TurnKind } from '../core/words.ts';
import { goalOf } from '../operations/run/parts/open-run.ts';
import { execute, type SessionContext } from '../operations/session/parts/session-context.ts';
import { treeMark } from '../operations/working-tree.ts';
import { keyOf } from './moment-key.ts';
import { endingOf } from './tool-use.ts';

/** A prompt begins a turn. Two hooks of one client may report it, and one client repeats it with every tool result. */
export async function beginTurn(within: SessionContext, moment: Moment, prompt: Prompt, kind: TurnKind): Promise<void> {
  const { text, images, saysMore } = prompt;
  const request = kind === 'continuation' && !saysMore ? null : goalOf(text);
  const turn = within.state.sessions.get(within.session.id)?.turn;
  const isRepeated = turn && turn.endedAt === null && request !== null && turn.request === request;
  if (isRepeated) return;
  await execute(
    within,
    {
      type: 'turn.begin',
      kind,
      ...(request === null ? {} : { request }),
      ...(images > 0 ? { images } : {}),
      mark: treeMark(within.context),
    },
    keyOf({ ...moment, kind: 'prompt' }, text),
  );
  if (request !== null && kind === 'request') await nameRun(within, moment, request);
}

/** The first request is the goal and gives the title; one that comes after the run was finished gives it another title. */
async function nameRun(within: SessionContext, moment: Moment, request: string): Promise<void> {
  const { run, requests } = within.state;
  if (!run || run.titledBy === 'person' || run.kind === 'planned') return;
  const goal = run.goal === null ? { goal: request } : {};
  const isNew =
    requests.current?.text === requests.latest?.text && requests.first?.version !== requests.latest?.version;
  const title = isNew || isUntitled(run.title) ? titleOf(request) : null;
  if (title === null && run.goal !== null) return;
  await execute(within, { type: 'run.amend', ...goal, ...(title === null ? {} : { title }) }, keyOf(moment, 'goal'));
}

/** The turn is over. No tool outlives it unless it was started in the background. */
export async function endTurn(
  within: SessionContext,
  lastMessage: string | null,
  commands: Commands = { running: null, endOf: null },
): Promise<void> {
  await endCommands(within, commands);
  const said = spokenWords(lastMessage);
  const background = commandsOf(within);
  await execute(
    within,
    {
      type: 'turn.end',
      outcome: 'done',
      ...(said === null ? {} : { said }),
      ...(said !== null && lastWordsAsk(said) ? { asks: true } : {}),
      ...(background.length > 0 ? { background: background.map(({ id }) => id) } : {}),
      mark: treeMark(within.context),
    },
    null,
  );
}

export async function failTurn(
  within: SessionContext,
  reason: 'rate-limit' | 'error',
  message: string,
): Promise<string> {
  const failure = { reason, message: oneLine(redact(message).text, 400) };
  await execute(within, { type: 'turn.end', outcome: 'failed', failure, mark: treeMark(within.context) }, null);
  return `${failureWords[reason]}: ${failure.message}`;
}

const failureWords = { 'rate-limit': 'Stopped by a rate limit', error: 'Stopped by an error' } as const;

/** What a client says of commands at the end of a turn. */
interface Commands {
  /** How many it lists as running in the background; null where it lists none. */
  running: number | null;
  /** How the command with this key ended, undefined while it runs; null where it says nothing. */
  endOf: ((key: string) => ToolResult | undefined) | null;
}

/** The commands of a session that have no end yet. */
const commandsOf = ({ state, session }: SessionContext): Effect[] =>
  [...state.effects.values()].filter((one) => one.session === session.id && one.key?.startsWith('tool:'));

/** A command without a reported end has ended with its turn; one in the background when the client lists none any more. */
async function endCommands(within: SessionContext, { running, endOf }: Commands): Promise<void> {
  for (const effect of commandsOf(within)) {
    if (endOf) {
      const result = endOf(effect.key ?? '');
      if (result) await execute(within, { type: 'effect.end', id: effect.id, seen: true, ...endingOf(result) }, null);
      continue;
    }
    if (effect.background && running !== 0) continue;
    const note = effect.background
      ? 'The client does not list it as running any more.'
      : 'The turn ended; no end of the command was reported.';
    await execute(within, { type: 'effect.end', id: effect.id, outcome: 'unknown', note, seen: true }, null);
  }
}

const SAID_CHARS = 4000;

/** The beginning and the end of long words: a question stands at the end. */
function spokenWords(message: string | null): string | null {
  const text = message === null ? '' : redact(message).text.trim();
  if (text.length <= SAID_CHARS) return text === '' ? null : text;
  return `${text.slice(0, SAID_CHARS / 2)} … ${text.slice(-SAID_CHARS / 2)}`;
}
