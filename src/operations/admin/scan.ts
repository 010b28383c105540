import * as v from 'valibot';
import { currentRun } from '../act.ts';
import { defineOperation } from '../operation.ts';

const Finding = v.object({
  run: v.string(),
  version: v.number(),
  type: v.string(),
  kinds: v.array(v.string()),
  /** False where the secret is in a name, path or key: erasing keeps those. */
  erasable: v.boolean(),
});

export const scan = defineOperation({
  name: 'scan',
  summary: 'Look for secrets in what was recorded.',
  scope: 'read',
  examples: ['holdfast scan', 'holdfast erase --found --reason "secrets of before the upgrade"'],
  input: v.object({}),
  output: v.object({ findings: v.array(Finding), runs: v.number(), events: v.number() }),
  counts: true,
  async run(context) {
    const engine = await context.engine();
    const maintenance = await engine.maintenance();
    const workspace = context.workspace()?.ids;
    const named = context.run === undefined ? undefined : await currentRun(context);
    const heads = await engine.heads(named ? { run: named } : workspace === undefined ? {} : { workspace });
    const findings: v.InferOutput<typeof Finding>[] = [];
    let events = 0;
    for (const [index, { run, version }] of heads.entries()) {
      context.progress?.({ doing: 'Scanning', done: index, total: heads.length, at: run });
      events += version;
      for (const { left, ...found } of await maintenance.findSecrets(run))
        findings.push({ run, ...found, erasable: left.length === 0 });
    }
    return { data: { findings, runs: heads.length, events } };
  },
  say({ findings, events }, pen) {
    if (findings.length === 0) return `Nothing in ${events} events has the form of a secret that the rules know.`;
    const lines = findings.map(
      ({ run, version, type, kinds, erasable }) =>
        `  ${pen.bold(`${run} ${version}`)}  ${type}: ${kinds.join(', ')}${erasable ? '' : ' (partly in a name or path, which erasing keeps)'}`,
    );
    const what = findings.length === 1 ? '1 event has' : `${findings.length} events have`;
    return [
      `${what} text in the form of a secret:`,
      ...lines,
      'A person erases them with `holdfast erase --found --reason TEXT`, one run at a time (`--run`). Change the secrets themselves first.',
    ].join('\n');
  },
});
