import type { ModelDecision, ModelItem, ModelSession } from '../../core/model/run-model.ts';
import { CloseReason } from '../../core/words.ts';
import { renderChatEntry } from '../documents/snapshot.ts';
import { type FoundSnapshot, snapshotsInChat } from '../documents/snapshot-reading.ts';
import { label, slug } from './names.ts';
import { type Report, readPage } from './page.ts';

/** An agent's chat file with the snapshots of its sessions, in order. */
export interface Chat {
  agent: string;
  text: string;
  sound: boolean;
  snapshots: readonly FoundSnapshot[];
}

export function readChat(agent: string, text: string, report: Report): Chat {
  const { page, sound } = readPage(text, (code, level, line, message) => {
    // Chats are prose: a row of dots is not damage.
    if (code !== 'elided') report(code, level, line, message);
  });
  const found = snapshotsInChat(text);
  for (const { code, line, message } of found.flatMap(({ problems }) => problems)) {
    report(code, 'warning', Math.min(line, Math.max(1, page.lines.length)), message);
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

/**
 * Commitments and decisions in foreign snapshots. Ours are made from the journal, which the folder contains elsewhere;
 * reading them too would duplicate everything.
 */
export function foreignFacts({ agent, snapshots }: Chat): { decisions: ModelDecision[]; commitments: ModelItem[] } {
  const foreign = snapshots.filter((snapshot) => !snapshot.keys.has('journal_version'));
  const last = foreign.at(-1);
  const by = (snapshot: FoundSnapshot): string => label(snapshot.agent ?? agent) ?? agent;
  return {
    decisions: foreign.flatMap((snapshot) => {
      const at = label(snapshot.timestamp ?? undefined);
      const context = label(snapshot.title ?? undefined);
      return (snapshot.decisions ?? []).map((decision) => ({
        decision,
        status: 'active' as const,
        by: by(snapshot),
        ...(at === undefined ? {} : { at }),
        ...(context === undefined ? {} : { context }),
      }));
    }),
    commitments: (last?.commitments ?? [])
      .filter((text) => !/^(?:none|empty|nothing)\b/i.test(text))
      .map((text) => ({ kind: 'commitment' as const, text, status: 'open' as const, by: last ? by(last) : agent })),
  };
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
