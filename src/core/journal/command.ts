import type { RunModelPart } from '../model/run-model.ts';
import { keptId, valueId } from '../names.ts';
import type { ItemKind, Role } from '../words.ts';
import type { Artifact, EventBody, Owner, StepPlan, TreeMark } from './event.ts';
import type { StoredValue, ValueEntry } from './value.ts';

/**
 * Every command. A command is an intent; `decide` turns it into events or refuses it. A command without a step is about
 * the one step that the session holds.
 */
export type Command =
  | ({
      type: 'run.open';
      steps?: PlannedStep[] | undefined;
      /** The state file that the run is opened from. */
      account?: ReadRunModel | undefined;
    } & EventBody<'run.opened'>)
  | ({ type: 'run.amend' } & EventBody<'run.amended'>)
  | { type: 'run.abort'; reason: string }
  | { type: 'run.archive'; reason?: string | undefined }
  | { type: 'run.unarchive'; reason?: string | undefined }
  | { type: 'run.supervise'; evidence?: ReadonlyMap<string, readonly string[]> }
  | { type: 'plan.add'; steps: PlannedStep[] }
  | { type: 'plan.change'; step: string; patch: { [K in keyof StepPlan]?: StepPlan[K] | undefined } }
  | { type: 'plan.remove'; step: string }
  | {
      type: 'step.start';
      step: string;
      mark?: TreeMark | undefined;
      /** Why a person starts it although something is in the way. */
      anyway?: string | undefined;
      loaded?: readonly string[] | undefined;
    }
  | {
      type: 'step.checkpoint';
      step?: string | undefined;
      name: string;
      next?: string | undefined;
      built?: string | undefined;
      artifacts?: Artifact[] | undefined;
      mark?: TreeMark | undefined;
    }
  | {
      type: 'step.complete';
      step?: string | undefined;
      summary?: string | undefined;
      built?: string | undefined;
      artifacts?: Artifact[] | undefined;
      mark?: TreeMark | undefined;
    }
  | {
      type: 'step.fail';
      step?: string | undefined;
      errorType: NonNullable<EventBody<'item.raised'>['type']>;
      message: string;
      mark?: TreeMark | undefined;
    }
  | {
      type: 'step.retry';
      step: string;
      note?: string | undefined;
      /** Leave the step for the next session that starts it. */
      open?: boolean | undefined;
      mark?: TreeMark | undefined;
    }
  | { type: 'step.skip'; step: string; reason: string }
  | { type: 'step.reopen'; step: string; reason: string }
  | { type: 'step.confirm'; step: string }
  | { type: 'step.release'; step: string; reason?: string | undefined }
  | {
      type: 'step.verify';
      step: string;
      result: 'pass' | 'fail';
      note?: string | undefined;
      /** The command that was run; it makes the result verified. */
      probe?: { command: string; exitCode: number | null } | undefined;
    }
  | { type: 'gate.set'; step: string; open: boolean }
  | {
      type: 'session.start';
      agent?: string | undefined;
      role?: Role | undefined;
      leaseMs?: number | undefined;
      continues?: string | undefined;
      parent?: string | undefined;
      client?: EventBody<'session.started'>['client'];
      owner?: Owner | undefined;
      mark?: TreeMark | undefined;
      atRest?: boolean | undefined;
      movedFrom?: EventBody<'session.started'>['movedFrom'];
    }
  | ({ type: 'session.move' } & Pick<EventBody<'session.moved'>, 'session' | 'to'>)
  | ({ type: 'session.end' } & Omit<
      EventBody<'session.ended'>,
      'id' | 'reason' | 'evidence' | 'lastSeenAt' | 'unannounced'
    > & {
        reason: 'completed' | 'context-exhausted' | 'timeout' | 'maintainer-directed' | 'superseded';
      })
  /** Ends a session that was recovered from its client's transcript. */
  | ({ type: 'session.recover'; reason: 'completed' | 'timeout' | 'crashed' } & Pick<
      EventBody<'session.ended'>,
      'next' | 'why' | 'evidence' | 'lastSeenAt' | 'mark'
    >)
  | ({ type: 'turn.begin' } & Omit<EventBody<'turn.began'>, 'session'>)
  | ({ type: 'turn.end' } & Omit<EventBody<'turn.ended'>, 'session'>)
  | { type: 'claim.take'; files: string[]; reason?: string | undefined }
  | { type: 'claim.release'; id: string }
  | ({ type: 'decision.make' } & Omit<EventBody<'decision.made'>, 'id' | 'type' | 'by'> & {
        decisionType?: EventBody<'decision.made'>['type'];
      })
  | { type: 'decision.retract'; id: string; reason: string }
  | ({ type: 'item.raise'; kind: ItemKind; errorType?: EventBody<'item.raised'>['type'] } & Omit<
      EventBody<'item.raised'>,
      'id' | 'kind' | 'type' | 'by'
    >)
  | {
      type: 'item.settle';
      id: string;
      as: EventBody<'item.settled'>['as'];
      note?: string | undefined;
      followUp?: string[] | undefined;
    }
  | {
      type: 'note.add';
      text: string;
      kind: EventBody<'note.added'>['kind'];
      step?: string | undefined;
      asked?: boolean | undefined;
    }
  | { type: 'note.approve'; id: string }
  | {
      type: 'usage.add';
      input: number;
      output: number;
      /** The part of the input that was read from a cache. */
      cached?: number | undefined;
      model?: string | undefined;
      of?: string | undefined;
      step?: string | undefined;
    }
  | {
      type: 'effect.begin';
      name: string;
      class: EventBody<'effect.began'>['class'];
      key?: string | undefined;
      /** The key names one action for good: once it succeeded, it is not started again. */
      once?: boolean | undefined;
      owner?: Owner | undefined;
      background?: boolean | undefined;
      asks?: EventBody<'effect.began'>['asks'];
      /** An effect with this key whose outcome stays unknown: this one is another attempt. */
      replaces?: string | undefined;
      input?: string | undefined;
      attempt?: number | undefined;
      leaseMs?: number | undefined;
    }
  | {
      type: 'effect.end';
      id: string;
      outcome: EventBody<'effect.ended'>['outcome'];
      exitCode?: number | undefined;
      note?: string | undefined;
      seen?: boolean;
      result?: EventBody<'effect.ended'>['result'];
      /** The value that is the result, put together with the end. */
      entry?: ValueEntry | undefined;
      contents?: readonly StoredValue[] | undefined;
    }
  | { type: 'files.see'; artifacts: Artifact[]; read?: boolean | undefined; step?: string | undefined }
  | {
      type: 'message.send';
      to: string;
      messageType: EventBody<'message.sent'>['type'];
      priority: EventBody<'message.sent'>['priority'];
      subject: string;
      body: string;
      respondBy?: string | undefined;
      about?: string | undefined;
    }
  | {
      type: 'message.move';
      id: string;
      to: EventBody<'message.moved'>['to'];
      note: string;
      disposition?: EventBody<'message.moved'>['disposition'];
    }
  | { type: 'message.reply'; id: string; body: string }
  | { type: 'message.escalate' }
  | { type: 'worklog.compact'; entries: string[]; proof: string; version: number }
  | ({ type: 'snapshot.take' } & Pick<
      EventBody<'snapshot.taken'>,
      'next' | 'why' | 'fileNotes' | 'reason' | 'mark' | 'atRest'
    >)
  | {
      type: 'handoff.offer';
      to: string;
      from?: string | undefined;
      message?: string | undefined;
      /** Added to the message word for word. */
      attachment?: string | undefined;
      /** An existing snapshot; otherwise one is taken of the sender's session now. */
      snapshot?: string | undefined;
      mark?: TreeMark | undefined;
    }
  | { type: 'handoff.accept'; id: string }
  | { type: 'handoff.clarify'; id: string; question: string }
  | { type: 'handoff.decline'; id: string; reason: string }
  | { type: 'handoff.withdraw'; id: string; reason?: string | undefined }
  | { type: 'handoff.finish'; id: string; outcome: string }
  | { type: 'conflict.accept'; id: string; note?: string | undefined }
  | { type: 'mirror.add'; format: string; path: string }
  | { type: 'mirror.remove'; format: string; path: string }
  | ({ type: 'account.read' } & ReadRunModel)
  | {
      type: 'value.put';
      /** `expect` is the version of the value that is replaced; null where there must be none. */
      entries: readonly (ValueEntry & { expect?: number | null | undefined })[];
      contents: readonly StoredValue[];
      reached?: string | undefined;
    }
  | ({ type: 'value.remove' } & EventBody<'value.removed'>)
  | { type: 'recovery.make'; from: string; findings: string[] }
  | { type: 'text.erase'; versions: number[]; reason: string };

export type CommandType = Command['type'];
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;

/** A file as it was read. The rules assign ids; an entry with a known alias is that known thing. */
export type ReadRunModel = Omit<EventBody<'account.read'>, 'account'> & { account: RunModelPart };

export type PlannedStep = StepPlan & {
  key: string;
  alias?: string | undefined;
  done?: boolean | undefined;
  skipped?: boolean | undefined;
  /** The step of the plan that it goes in front of. */
  before?: string | undefined;
};

/** The names in a command that folded state may no longer hold; the engine fetches their rows before deciding. */
export function referencesOf(command: Command): string[] {
  switch (command.type) {
    case 'decision.make':
      return command.supersedes ? [command.supersedes] : [];
    case 'session.start':
      return [command.continues, command.parent].filter((reference) => reference !== undefined);
    case 'session.move':
      return [command.session];
    case 'handoff.offer':
      return command.from ? [command.from] : [];
    case 'effect.begin':
      return command.once && command.key ? [command.key] : [];
    case 'value.put':
      return command.entries.map(({ key }) => valueId(key));
    case 'value.remove':
      return valueNames(command);
    case 'account.read':
      return namesIn(command);
    case 'effect.end':
      return command.entry ? [command.id, valueId(command.entry.key)] : [command.id];
    case 'decision.retract':
    case 'item.settle':
    case 'note.approve':
    case 'claim.release':
    case 'message.move':
    case 'message.reply':
    case 'handoff.accept':
    case 'handoff.clarify':
    case 'handoff.decline':
    case 'handoff.withdraw':
    case 'handoff.finish':
      return [command.id];
    case 'worklog.compact':
      return command.entries;
    default:
      return [];
  }
}

/** The rows of values that are removed. */
export const valueNames = ({ keys, kept = [] }: EventBody<'value.removed'>): string[] => [
  ...keys.map(valueId),
  ...kept.map(({ key, version }) => keptId(key, version)),
];

/** The id of the row that keeps what a file has and we have no field for. */
export const foreignId = (format: string, path: string): string => `${format}:${path}`;

/** Ids and aliases of the rows that reading a file may change. */
export function namesIn({ format, path, account: model }: ReadRunModel): string[] {
  const { decisions = [], items = [], notes = [], sessions = [], messages = [], steps = [], files = [] } = model;
  const named = [...decisions, ...items, ...notes, ...sessions, ...messages].flatMap(({ id, alias }) => [id, alias]);
  const touched = [...files, ...steps.flatMap((step) => step.artifacts ?? [])].map((file) => file.place ?? file.path);
  return [foreignId(format, path), ...named, ...steps.map((step) => step.key), ...touched].filter(
    (name) => name !== undefined,
  );
}
