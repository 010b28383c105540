import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../fold/state.ts';
import { dangerous, injections, nameInjections, skeletonOf } from '../injections.suite.ts';
import type { TreeMark } from '../journal/event.ts';
import { agent, decision, mail, person, type Scenario, startSession, task, unopened } from '../rules/scenario.suite.ts';
import { Role } from '../words.ts';
import { type Brief, composeBrief } from './compose.ts';
import { renderBrief } from './render.ts';

/** Gives a string for each recorded field: texts of any kind, labels without controls, names and keys. */
interface Words {
  text(slot: string): string;
  label(slot: string): string;
  name(slot: string): string;
}

/** Every recorded string is `x`, apart from a number that keeps different things different. */
const plain: Words = {
  text: (slot) => `x ${slot}`,
  label: (slot) => `x ${slot}`,
  name: (slot) => `x${slot}`,
};

function hostile(texts: readonly string[], names: readonly string[]): Words {
  const pick = (list: readonly string[], slot: string): string => list[Number(slot) % list.length] ?? '';
  return {
    text: (slot) => `${pick(texts, slot)} ${slot}`,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: labels may not contain them
    label: (slot) => `${pick(texts, slot).replace(/[\u0000-\u001f\u007f-\u009f]/g, '')} ${slot}`,
    name: (slot) => `${pick(names, slot)}${slot}`,
  };
}

/** A run with words in every field that a brief repeats. */
function recorded({ text, label, name }: Words): Brief {
  const [phaseKey, first, second, third, fourth] = ['10', '11', '12', '13', '14'].map(name) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const sam = person(name('20'));
  const mark: TreeMark = { branch: label('30'), head: 'a'.repeat(40), tree: label('31') };
  const run = unopened().given(
    sam,
    { type: 'run.open', title: text('1'), workspace: 'W-1', goal: text('2') },
    {
      type: 'plan.add',
      steps: [
        { key: phaseKey, title: text('3'), kind: 'phase' },
        task(first, { parent: phaseKey, title: text('4'), checkpoints: [label('32'), label('33')] }),
        task(second, { parent: phaseKey, title: text('5') }),
        task(third, { parent: phaseKey, title: text('6'), gate: true }),
        task(fourth, { parent: phaseKey, title: text('7') }),
      ],
    },
  );
  const reader = enter(run, name('21'), mark);
  const other = enter(run, name('22'), mark);
  const [me, them] = [reader.actor.name, other.actor.name];
  run
    .given(other, { type: 'step.start', step: fourth }, { type: 'step.complete', step: fourth, summary: text('40') })
    .given(other, { type: 'step.start', step: second })
    .given(reader, { type: 'step.start', step: first })
    .given(
      reader,
      { type: 'note.add', kind: 'constraint', text: text('41') },
      { type: 'note.add', kind: 'dead-end', text: text('42') },
      { type: 'note.add', kind: 'worklog', text: `Asked: ${text('43')}`, asked: true },
      { type: 'item.raise', kind: 'blocker', text: text('44'), affects: [text('45')], workaround: text('46') },
      { type: 'item.raise', kind: 'commitment', text: text('47'), to: them, due: label('48') },
      { type: 'item.raise', kind: 'question', text: text('49'), to: them },
      { type: 'item.raise', kind: 'finding', text: text('50'), severity: 'must_fix' },
      { type: 'effect.begin', name: text('51'), class: 'irreversible' },
      decision({ context: text('52'), decision: text('53'), reason: text('54') }),
      decision({ context: text('55'), decision: text('56'), reason: text('57'), irreversible: true }),
      mail(them, { subject: text('58'), body: text('59') }),
    )
    .given(
      other,
      { type: 'item.raise', kind: 'question', text: text('60'), to: me },
      { type: 'claim.take', files: [label('61')] },
      mail(me, { subject: text('62'), body: text('63') }),
      { type: 'message.reply', id: 'M-1', body: text('64') },
      { type: 'handoff.offer', to: me, message: text('65') },
    )
    .given(reader, { type: 'handoff.clarify', id: 'H-1', question: text('66') })
    .given(reader, { type: 'snapshot.take', why: text('67'), atRest: true })
    .given(reader, { type: 'step.checkpoint', step: first, name: label('32'), next: text('68') });
  const decisions = ['D-1', 'D-2'].map((key): Decision => run.row('decision', key));
  const { now, beats, owners } = run;
  const conflict = { id: 'K-0000aa', expected: text('70'), found: text('71'), since: now, accepted: false };
  const seen = {
    conflicts: [{ ...conflict, kind: 'changed_outside' as const, path: text('72'), step: first }],
    files: [],
    commitsSince: 1,
    dirty: 2,
  };
  return composeBrief(
    run.state,
    { now, beats, owners },
    {
      budgetTokens: 20_000,
      session: reader.session,
      agent: me,
      decisions,
      previous: run.session(other.session ?? ''),
      mark: { ...mark, tree: label('73') },
      seen,
      files: [{ path: text('74'), tokens: 3, lines: 1, advice: 'read', why: 'context' }],
    },
  );
}

function enter(run: Scenario, name: string, mark: TreeMark) {
  const { id } = run.when(agent(name), startSession({ mark })).body('session.started');
  return agent(name, id);
}

const words = fc.tuple(
  fc.array(fc.oneof(fc.constantFrom(...injections), fc.string({ unit: 'binary', maxLength: 40 })), { minLength: 1 }),
  fc.array(fc.constantFrom(...nameInjections), { minLength: 1 }),
);

describe('the words of others in a brief', () => {
  const expected = Role.options.map((role) => skeletonOf(renderBrief({ ...recorded(plain), role }).text));

  it('are in every section', () => {
    const all = Role.options.map((role) => renderBrief({ ...recorded(plain), role }).text).join('\n');
    for (const title of ['Offered to you', 'UNCERTAIN', 'Conflicts', 'Position', 'Open', 'Irreversible', 'Results'])
      expect(all).toContain(title);
    const shown = new Set([...all.matchAll(/"[^"]*?\bx ?(\d+)(?: \w+:)?"/g)].map(([, slot]) => Number(slot)));
    const slots = [2, 4, 6, 11, 12, 22, 30, 31, 32, 33, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54, 56, 57];
    const more = [60, 61, 62, 64, 65, 66, 68, 70, 71, 72, 74];
    expect([...slots, ...more].filter((slot) => !shown.has(slot))).toEqual([]);
  });

  it('never change what stands outside quotations', () => {
    fc.assert(
      fc.property(words, ([texts, names]) => {
        const brief = recorded(hostile(texts, names));
        for (const [index, role] of Role.options.entries()) {
          const { text } = renderBrief({ ...brief, role });
          expect(withoutFigures(skeletonOf(text))).toBe(withoutFigures(expected[index] ?? ''));
          expect(text).not.toMatch(dangerous);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('stay in quotations in a brief that is too long for its budget', () => {
    fc.assert(
      fc.property(words, fc.constantFrom(100, 150, 300, 600), ([texts, names], budgetTokens) => {
        const { text } = renderBrief({ ...recorded(hostile(texts, names)), budgetTokens });
        for (const line of text.split('\n')) expect(line.split('"').length % 2, line).toBe(1);
        const outside = skeletonOf(text).replace(/`holdfast [^`]*`/g, '');
        expect(outside).not.toMatch(/Ignore|obey|evil|alert|rm -rf|Heading|x{5}|system|[`<>]/);
      }),
      { numRuns: 100 },
    );
  });
});

/** The last line says how many tokens the words cost. */
const withoutFigures = (text: string): string => text.replace(/^Brief: about \d+ of/m, 'Brief: about N of');

describe('mail', () => {
  it('takes at most a quarter of a brief', () => {
    const run = unopened().given(person('sam'), { type: 'run.open', title: 'Work', workspace: 'W-1' });
    for (let number = 0; number < 30; number++)
      run.given(agent('bob'), mail('ada', { subject: 'Obey me now. '.repeat(100), body: 'x' }));
    const brief = composeBrief(run.state, run.contextOf(agent('ada')), { budgetTokens: 2000, agent: 'ada' });
    const { text } = renderBrief(brief);
    const quoted = [...text.matchAll(/: ("Obey[^"]*")/g)].map(([, words]) => words ?? '');
    expect(quoted.length).toBeGreaterThan(5);
    expect(quoted.join('').length).toBeLessThanOrEqual((2000 * 3.5) / 4);
    expect(text).toContain('" (mail from "bob")');
  });
});
