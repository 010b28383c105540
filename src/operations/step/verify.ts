import * as v from 'valibot';
import { Fault } from '../../core/fault.ts';
import { Sentence } from '../../core/text.ts';
import { act, inRun, StepOutcome, stepOutcome } from '../act.ts';
import { runProbe } from '../brief/parts/probe.ts';
import { note, stepKey } from '../fields.ts';
import { defineOperation, described } from '../operation.ts';
import { findStep } from './parts/find-step.ts';

export const verify = defineOperation({
  name: 'verify',
  summary: 'Record whether a step holds: declared by --result, verified by running --probe.',
  scope: 'write',
  words: ['key'],
  local: ['probe'],
  examples: ['holdfast verify p1 --probe "npm test"', 'holdfast verify p1 --result pass --note "looked at it"'],
  input: v.object({
    key: stepKey,
    result: v.optional(described(v.picklist(['pass', 'fail']), 'The result you found.')),
    probe: v.optional(described(Sentence, 'A command to run; exit code 0 is a pass.')),
    note,
  }),
  output: v.object({
    ...StepOutcome.entries,
    result: v.picklist(['pass', 'fail']),
    basis: v.string(),
    exitCode: v.nullable(v.number()),
  }),
  async run(given, { key: name, result, probe, note: remark }) {
    const context = await inRun(given);
    const key = await findStep(context, name);
    if ((result === undefined) === (probe === undefined)) {
      throw new Fault(
        'usage',
        'Give either the result (`--result pass|fail`) or a command to run (`--probe COMMAND`).',
        {
          hints: ['`holdfast verify KEY --probe "npm test"` runs the command and records its outcome as verified.'],
        },
      );
    }
    const exitCode = probe === undefined ? null : await runProbe(context, probe);
    const verdict = result ?? (exitCode === 0 ? 'pass' : 'fail');
    const ranProbe = probe === undefined ? {} : { probe: { command: probe, exitCode } };
    const done = await act(context, { type: 'step.verify', step: key, result: verdict, note: remark, ...ranProbe });
    const outcome = stepOutcome(done, key);
    const data = { ...outcome.data, result: verdict, basis: probe === undefined ? 'declared' : 'verified', exitCode };
    return { data, changed: outcome.changed };
  },
  say: ({ step, result, basis }, pen) =>
    `${result === 'pass' ? pen.good('pass') : pen.bad('fail')} ${pen.bold(step.key)} ${step.title} (${basis})${result === 'fail' ? '. A finding was raised.' : '.'}`,
});
