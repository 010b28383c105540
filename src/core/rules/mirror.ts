import { notFound } from '../fault.ts';
import type { CommandOf } from '../journal/command.ts';
import type { Draft } from '../journal/event.ts';
import { draft, type RuleContext } from './rule-context.ts';

export function addMirror(context: RuleContext, { format, path }: CommandOf<'mirror.add'>): Draft[] {
  return context.state.mirrors.has(`${format}:${path}`) ? [] : [draft('mirror.added', { format, path })];
}

export function removeMirror(context: RuleContext, { format, path }: CommandOf<'mirror.remove'>): Draft[] {
  if (context.state.mirrors.has(`${format}:${path}`)) return [draft('mirror.removed', { format, path })];
  const known = [...context.state.mirrors.values()].map((mirror) => mirror.path);
  throw notFound('mirror', path, known, 'See them with `holdfast mirror list`.');
}
