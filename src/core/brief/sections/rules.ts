import { at, type Fixed, fixed, id, type Line, line, quote, quoteStart } from '../../line.ts';
import type { Rule } from '../facts.ts';
import { EVERYTHING, type Leftover, listed, type Section } from './section.ts';

/** Constraints, dead ends and decisions, in the order given; `moreDecisions` are only counted. */
export function ruleSection(rules: readonly Rule[], moreDecisions: number, now: string, share: number): Section {
  const lines = rules.map(
    (rule) =>
      (chars: number): Line =>
        ruleLine(rule, now, chars),
  );
  // Breaking a constraint, or deciding again what cannot be undone, costs more than anything else that is left out.
  const must = rules.findLastIndex((rule) => rule.is === 'constraint' || (rule.is === 'decision' && rule.irreversible));
  const section = listed('rules', share, lines, (kept) => {
    const left = rules.slice(kept);
    const count = (...kinds: Rule['is'][]): number => left.filter((rule) => kinds.includes(rule.is)).length;
    return [
      leftover(fixed('constraint'), EVERYTHING, count('constraint')),
      leftover(fixed('dead end'), EVERYTHING, count('dead-end')),
      leftover(fixed('decision'), fixed('`holdfast decisions`'), count('decision') + moreDecisions),
      leftover(fixed('plan'), EVERYTHING, count('approved-plan', 'proposed-plan')),
      leftover(fixed('result'), EVERYTHING, count('built')),
    ];
  });
  return { ...section, must: must + 1 };
}

const leftover = (noun: Fixed, command: Fixed, count: number): Leftover => ({ noun, command, count });

function ruleLine(rule: Rule, now: string, chars: number): Line {
  const text = quoteStart(rule.text, chars);
  switch (rule.is) {
    case 'constraint':
      return line`Constraint ${id(rule.id)} (${at(rule.at, now)}): ${text}`;
    case 'dead-end':
      return line`Dead end ${id(rule.id)}: ${text}`;
    case 'decision': {
      const final = rule.irreversible ? line` (irreversible)` : '';
      const because = rule.reason === '' ? '' : line`, because ${quoteStart(rule.reason, chars)}`;
      const clone = rule.clone === null ? '' : line` (other clone ${quote(rule.clone, 'name')})`;
      return line`Decided ${id(rule.id)}${final}: ${text}${because}${clone}.`;
    }
    case 'approved-plan':
      return line`Plan approved by the user (${at(rule.at, now)}): ${text}`;
    case 'proposed-plan':
      return line`Plan shown to the user (${at(rule.at, now)}): ${text}`;
    case 'built':
      return line`Built: ${text}`;
    default:
      return rule satisfies never;
  }
}
