import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import type { Handoff, Session } from '../../core/fold/state.ts';
import { joined, type Line, line, id as ownId } from '../../core/line.ts';
import { ActorName, Text } from '../../core/text.ts';
import { runProgram } from '../../workspace/program.ts';
import { shownPath } from '../../workspace/workspace.ts';
import { act, currentRun, currentState } from '../act.ts';
import type { Context } from '../context.ts';
import { label } from '../fields.ts';
import { attachmentFields, renderAttachment } from '../mail/parts/attachment.ts';
import { defineOperation, described, type Pen, shaped } from '../operation.ts';
import { type SnapshotTaken, snapshotIn, snapshotPath } from '../snapshot/parts/file.ts';
import { treeMark } from '../working-tree.ts';

const Launched = v.object({
  start: v.array(v.string()),
  headless: v.array(v.string()),
  resume: v.nullable(v.array(v.string())),
  /** The command as a line of shell. */
  line: v.string(),
  exitCode: v.nullable(v.number()),
});

export const handoff = defineOperation({
  name: 'handoff',
  summary: 'Offer your work to another agent: a snapshot, a message and the right to write, once it accepts.',
  scope: 'write',
  words: ['to', 'message'],
  local: ['start', 'payload'],
  examples: [
    'holdfast handoff codex "the router is next"',
    'holdfast handoff --to codex --payload router.diff --agent claude',
    'holdfast handoff --to codex --from S-12 --launch',
  ],
  input: v.object({
    to: described(ActorName, 'The agent that should continue.'),
    from: v.optional(
      described(label, 'The session whose work it is; a person may offer the work of a session that is gone.'),
    ),
    message: v.optional(described(Text, 'Message to the receiver.')),
    payload: attachmentFields.payload,
    payloadText: attachmentFields.payloadText,
    launch: v.optional(described(v.boolean(), 'Print the command that starts the receiving client on it.')),
    start: v.optional(described(v.boolean(), 'Run that command without a person in the conversation.')),
  }),
  output: v.object({
    id: v.string(),
    to: v.string(),
    from: v.string(),
    steps: v.array(v.string()),
    snapshot: v.nullable(
      shaped<Pick<SnapshotTaken, 'id' | 'path'> & Partial<SnapshotTaken>>({
        id: v.string(),
        path: v.nullable(v.string()),
      }),
    ),
    message: v.nullable(v.string()),
    launch: v.nullable(Launched),
    run: v.string(),
    version: v.number(),
  }),
  async run(context, { to, from, message, launch, start, payload, payloadText }) {
    if (from === undefined) await mustBeSession(context, to);
    if (launch || start) await (await import('./parts/launch.ts')).mustKnowClient(to);
    const earlier = from === undefined ? null : await lastSnapshotOf(context, from);
    const about = { subject: `handoff to ${to}`, type: 'handoff-ready' } as const;
    const rendered = await renderAttachment(context, { payload, payloadText }, about);
    const done = await act(context, {
      type: 'handoff.offer',
      to,
      from,
      message,
      attachment: rendered ?? undefined,
      snapshot: earlier?.id,
      mark: treeMark(context),
    });
    const offered = done.events.findLast((event) => event.type === 'handoff.offered');
    const sent = done.events.findLast((event) => event.type === 'message.sent');
    const body = offered?.type === 'handoff.offered' ? offered.body : null;
    const id = body?.id ?? '';
    const launched = launch || start ? await launchReceiver(context, done.run, id, to, body?.from ?? '', start) : null;
    return {
      data: {
        id,
        to,
        from: body?.from ?? '',
        steps: body?.steps ?? [],
        snapshot: earlier ?? snapshotIn(context, done.events),
        message: sent?.type === 'message.sent' ? sent.body.id : null,
        launch: launched,
        run: done.run,
        version: done.state.version,
      },
      changed: done.changed,
    };
  },
  say: ({ id, to, from, steps, snapshot, message, launch }, pen) =>
    sayOffer({ id, to, from, steps, snapshot, message, launch }, pen),
});

/** A person has no work of their own to offer: they name the session whose work it is. */
async function mustBeSession(context: Context, to: string): Promise<void> {
  if (context.identity.actor.kind !== 'person') return;
  const { steps } = await currentState(context);
  const held = [...steps.values()].filter(
    ({ status, lastSession }) => status === 'in_progress' && lastSession !== null,
  );
  throw new Fault('usage', '`handoff` needs --from: the session whose work is handed over.', {
    hints:
      held.length > 0
        ? held
            .slice(0, 6)
            .map(
              ({ key, lastSession, lastAgent }) =>
                `\`holdfast handoff ${to} --from ${lastSession}\`  ${lastAgent ?? ''} in ${key}`,
            )
        : ['No session holds a step. `holdfast sessions` lists them all.'],
  });
}

interface OfferMade {
  id: string;
  to: string;
  from: string;
  steps: readonly string[];
  snapshot: { id: string; path: string | null } | null;
  message: string | null;
  launch: { line: string; resume: readonly string[] | null } | null;
}

function sayOffer({ id, from, steps, snapshot, message, launch, ...offer }: OfferMade, pen: Pen): Line {
  const to = pen.quote(offer.to, 'name');
  const what = steps.length > 0 ? line` (${joined(steps.map((key) => pen.quote(key, 'name')))})` : '';
  const path = snapshot?.path ? line`: ${pen.quote(snapshot.path, 'path')}` : '';
  return joined(
    [
      line`${pen.bold(ownId(id))} offers the work of ${ownId(from)}${what} to ${to}. It stays with ${ownId(from)} until ${to} accepts.`,
      ...(snapshot ? [line`Snapshot ${ownId(snapshot.id)}${path}`] : []),
      ...(message ? [line`Message ${ownId(message)} informs ${to}.`] : []),
      ...(launch ? [line`Start ${to} with:  ${pen.whole(launch.line)}`] : []),
      ...(launch?.resume ? [line`Or continue its own conversation:  ${pen.whole(launch.resume.join(' '))}`] : []),
    ],
    '\n',
  );
}

/** The last snapshot of a session that has ended; of one that is active a new snapshot is taken. */
async function lastSnapshotOf(
  context: Context,
  reference: string,
): Promise<{ id: string; path: string | null } | null> {
  const run = await currentRun(context);
  const engine = await context.engine();
  const state = await engine.load(run);
  const row = (await engine.recall(run, [reference])).find((one) => one.kind === 'session');
  const session = row?.doc as Session | undefined;
  if (!session || state.sessions.has(session.id)) return null;
  const tag = `agent:${session.agent}`;
  for (let before: number | undefined; ; ) {
    const page = await engine.rows(run, {
      kind: 'snapshot',
      tag,
      limit: 50,
      ...(before === undefined ? {} : { before }),
    });
    const found = page.map((one) => one.doc as { id: string; session: string; agent: string; sequence: number });
    const own = found.find((one) => one.session === session.id);
    if (own) {
      const workspace = context.workspace();
      const path = workspace ? shownPath(workspace, snapshotPath(workspace.folder, run, own)) : null;
      return { id: own.id, path };
    }
    const last = page.at(-1);
    if (!last || page.length < 50) return null;
    before = last.version;
  }
}

async function launchReceiver(
  context: Context,
  run: string,
  id: Handoff['id'],
  to: string,
  from: string,
  start: boolean | undefined,
): Promise<v.InferOutput<typeof Launched>> {
  const { launchCommands, shellLine } = await import('./parts/launch.ts');
  const engine = await context.engine();
  const state = await engine.load(run);
  const recalled = (await engine.recall(run, [from])).find((one) => one.kind === 'session')?.doc as Session | undefined;
  const session = state.sessions.get(from) ?? recalled;
  const before = { client: session?.client?.name ?? session?.agent ?? null, id: session?.client?.id ?? null };
  const commands = await launchCommands(to, id, before);
  const exitCode = start ? await runClient(context, commands.headless) : null;
  return { ...commands, line: shellLine(commands.start), exitCode };
}

/** Reports the client's exit code and does not judge it. */
async function runClient(context: Context, words: readonly string[]): Promise<number | null> {
  try {
    return await runProgram(words, context.dir, context.workspace()?.tree ?? context.dir);
  } catch (thrown) {
    context.warn(`${words[0]} could not be started: ${(thrown as Error).message}. The offer stays open.`);
    return null;
  }
}
