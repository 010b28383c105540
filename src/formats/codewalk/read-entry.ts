import { isMap, type Node, type YAMLMap } from 'yaml';
import { type ModelDecision, type ModelItem, ModelSession } from '../../core/model/run-model.ts';
import { isName } from '../../core/text.ts';
import { labelOf } from '../label.ts';
import { itemsOf, listOf, nodeOf, wordsOf } from './yaml-page.ts';

export function readDecision(node: YAMLMap): ModelDecision | null {
  const word = (key: string) => wordsOf(nodeOf(node, key)) ?? undefined;
  const decision = word('decision') ?? word('choice');
  if (decision === undefined) return null;
  const status = word('status');
  const reversible = word('reversible');
  return {
    ...optional('alias', labelOf(word('id'))),
    ...optional('context', word('context')),
    decision,
    ...optional('reason', word('reason') ?? word('rationale')),
    ...filled('alternatives', listOf(nodeOf(node, 'alternatives_considered'))),
    ...(reversible === 'false' ? { irreversible: true } : {}),
    ...optional('at', word('date')?.slice(0, 200)),
    status: status === 'superseded' || status === 'retracted' ? status : 'active',
  };
}

export function readBlocker(node: YAMLMap): ModelItem | null {
  const word = (key: string) => wordsOf(nodeOf(node, key)) ?? undefined;
  const text = word('description') ?? word('title');
  if (text === undefined) return null;
  const status = word('status')?.toLowerCase();
  const resolution = word('resolution');
  return {
    ...optional('alias', labelOf(word('id'))),
    kind: 'blocker',
    text,
    status:
      status === 'bypassed'
        ? 'bypassed'
        : status === 'resolved' || (status === undefined && resolution)
          ? 'resolved'
          : 'active',
    ...filled('affects', listOf(nodeOf(node, 'affects'))),
    ...optional('workaround', word('workaround')),
    ...filled('followUp', taskKeys(nodeOf(node, 'workaround_tasks'))),
    ...optional('raisedAt', (word('identified_at') ?? word('blocked_since'))?.slice(0, 200)),
    ...optional('settledAt', word('resolved_at')?.slice(0, 200)),
    ...optional('resolution', resolution),
  };
}

/** The keys of entries such as `- task-abc: "Apply final styles"`. */
function taskKeys(node: Node | null): string[] {
  return itemsOf(node)
    .map((item) => (isMap(item) ? wordsOf(item.items[0]?.key as Node) : wordsOf(item)) ?? '')
    .filter((key) => isName(key, '._-', 64));
}

export function readSession(node: YAMLMap): ModelSession | null {
  const word = (key: string) => wordsOf(nodeOf(node, key)) ?? undefined;
  const alias = labelOf(word('id'));
  const started = word('started');
  if (alias === undefined && started === undefined && word('agent') === undefined) return null;
  const said = ModelSession.entries.status.options.find((status) => status === word('status')?.toLowerCase());
  const reason = word('handoff_reason');
  const usage = Number(word('context_usage')?.replace('%', ''));
  const share = word('context_usage')?.includes('%') || usage > 1 ? usage : usage * 100;
  const notes = listOf(nodeOf(node, 'notes'));
  const resumed = /^Resuming from (\S{1,100}?)(?: crash)?\.?$/i.exec(notes.length === 1 ? (notes[0] as string) : '');
  return {
    ...optional('alias', alias),
    ...optional('agent', word('agent')?.slice(0, 200)),
    status: said ?? (reason && /context/i.test(reason) ? 'context-exhausted' : word('ended') ? 'completed' : 'active'),
    ...optional('startedAt', started?.slice(0, 200)),
    ...optional('endedAt', word('ended')?.slice(0, 200)),
    ...optional('continues', labelOf(resumed?.[1])),
    ...filled('completed', listOf(nodeOf(node, 'completed'))),
    ...optional('workingOn', word('working_on')),
    ...filled('notes', resumed ? [] : notes),
    ...filled('issues', listOf(nodeOf(node, 'issues'))),
    ...(share >= 0 && share <= 100 ? { contextUsage: share } : {}),
    ...optional('why', reason),
  };
}

export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function filled<K extends string>(key: K, value: string[]): { [P in K]?: string[] } {
  return value.length === 0 ? {} : ({ [key]: value } as { [P in K]?: string[] });
}
