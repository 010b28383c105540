import type { ModelDecision, ModelItem, ModelSession } from '../../core/model/run-model.ts';
import { CloseReason } from '../../core/words.ts';
import { renderChatEntry } from '../documents/snapshot.ts';
import { type FoundSnapshot, snapshotsInChat } from '../documents/snapshot-reading.ts';
import { label, sameWords, slug } from './names.ts';
import { type Report, readPage } from './page.ts';

/** An agent's chat file with the snapshots of its sessions, in order. */
export interface Chat {
  agent: string;
  text: string;
  sound: boolean;
  snapshots: readonly FoundSnapshot[];
}

export function readChat(agent: string, text: string, report: Report): Chat {
  const { page, sound } = readPage(text, report);
  const found = snapshotsInChat(text);
  for (const { code, line, message } of found.flatMap(({ problems }) => problems)) {
    report(code, Math.min(line, Math.max(1, page.lines.length)), message);
  }
  return { agent, text, sound, snapshots: found.flatMap(({ value }) => value ?? []) };
}

/** The sessions of the snapshots. A snapshot from the middle of a session says nothing about its end. */
export function sessionsIn({ agent, snapshots }: Chat): ModelSession[] {
  return snapshots.flatMap((snapshot) => {
    const alias = label(snapshot.session ?? undefined);
    if (alias === undefined || snapshot.sessionOpen) return [];
    const reason = slug(snapshot.closeReason ?? '');
    const endedAt = label(snapshot.endedAt ?? snapshot.timestamp ?? undefined);
    const next = snapshot.task?.next ?? undefined;
    return [
      {
        alias,
        agent: label(snapshot.agent ?? agent) ?? agent,
        status: snapshot.reconstructed
          ? 'crashed'
          : (CloseReason.options.find((one) => reason.startsWith(one)) ?? 'completed'),
        ...(endedAt === undefined ? {} : { endedAt }),
        ...(next === undefined || next === '' ? {} : { next }),
      },
    ];
  });
}

/** What a chat says beyond its sessions. */
export interface ChatFacts {
  decisions: ModelDecision[];
  commitments: ModelItem[];
  /** Why something was decided, by the words of the decision; also from our own snapshots, since the index has no reasons. */
  reasons: ReadonlyMap<string, string>;
  /** The files to read for the task of the last snapshot. */
  reading: { step: string; files: string[] } | null;
  /** What the last snapshot says comes next. */
  next: { text: string; at: string } | null;
}

/**
 * Commitments and decisions are taken from snapshots of other writers. Ours are made from the journal, which the folder
 * contains elsewhere; reading them too would duplicate everything.
 */
export function factsIn({ agent, snapshots }: Chat): ChatFacts {
  const foreign = snapshots.filter((snapshot) => !snapshot.keys.has('journal_version'));
  const last = foreign.at(-1);
  const newest = snapshots.at(-1);
  const by = (snapshot: FoundSnapshot): string => label(snapshot.agent ?? agent) ?? agent;
  const made = (snapshot: FoundSnapshot): ReturnType<typeof decisionIn>[] => (snapshot.decisions ?? []).map(decisionIn);
  const step = last === newest ? (last?.task?.step ?? null) : null;
  const files = (last?.reading ?? []).filter((file) => !file.mayBeGone).map(({ path }) => path);
  const next = newest?.task?.next;
  return {
    decisions: foreign.flatMap((snapshot) => {
      const at = label(snapshot.timestamp ?? undefined);
      const context = label(snapshot.title ?? undefined);
      return made(snapshot).map((decision) => ({
        ...decision,
        status: 'active' as const,
        by: by(snapshot),
        ...(at === undefined ? {} : { at }),
        ...(context === undefined ? {} : { context }),
      }));
    }),
    commitments: (last?.commitments ?? [])
      .filter((text) => !/^(?:none|empty|nothing)\b/i.test(text))
      .map((text) => ({ kind: 'commitment' as const, text, status: 'open' as const, by: last ? by(last) : agent })),
    reasons: new Map(
      snapshots.flatMap(made).flatMap(({ decision, reason }) => (reason ? [[sameWords(decision), reason]] : [])),
    ),
    reading: step !== null && files.length > 0 ? { step, files } : null,
    next: next && newest.timestamp ? { text: next, at: newest.timestamp } : null,
  };
}

/** `D-1: "Cotton wicks" Why: "They burn evenly"`, or free words with a reason behind a dash or a label. */
function decisionIn(text: string): { decision: string; reason?: string } {
  const ours = /^(?:"[^"]*" \()?[A-Z]+-[\w-]+\)?:? .*?"([^"]+)"(?: Why: "([^"]+)")?/.exec(text);
  const [, decision, reason] =
    ours ?? /^(.{3,}?)[.;,]?\s+(?:[—–-]+\s*)?(?:Why|Reason|Rationale|because):?\s+(.+)$/is.exec(text) ?? [];
  if (decision === undefined) return { decision: text };
  return reason === undefined ? { decision } : { decision, reason: reason.trim() };
}

/** A snapshot that ends a session or goes with a handoff, provided by the operations. */
export interface GivenSnapshot {
  id: string;
  isClosing: boolean;
  agent: string;
  session: string;
  sessionNumber: number;
  token?: string;
  /** Absent if a chat has it already. */
  text?: string;
}

export const headingOf = ({ sessionNumber, isClosing }: GivenSnapshot): string =>
  `Session ${sessionNumber} ${isClosing ? 'closing' : 'handoff'} state`;

export const newChat = (agent: string): string => `# Chat Log — ${agent}\n`;

/** The chat with missing snapshots appended; null when none is missing. */
export function addSnapshots(text: string, snapshots: readonly GivenSnapshot[]): string | null {
  const eol = /\r\n/.test(text.slice(0, 2000)) ? '\r\n' : '\n';
  const parts: string[] = [];
  for (const snapshot of snapshots) {
    const { token } = snapshot;
    if (
      snapshot.text === undefined ||
      token === undefined ||
      text.includes(token) ||
      parts.some((part) => part.includes(token))
    )
      continue;
    parts.push(`${eol}${renderChatEntry(snapshot.text, headingOf(snapshot)).replaceAll('\n', eol)}`);
  }
  if (parts.length === 0) return null;
  return text + (text === '' || text.endsWith('\n') ? '' : eol) + parts.join('');
}
