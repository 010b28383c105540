import type { RunModel } from '../../core/model/run-model.ts';
import { stamp } from './field-values.ts';
import { gateBefore, impliedGates } from './gates.ts';
import { writeJson } from './json.ts';
import { CURRENT_VERSION } from './migrate.ts';
import { decisionIds, newDecision, newStep } from './new-entries.ts';
import { derivedStatus, type Kept } from './read.ts';
import { DECISION_KEYS, DEFAULT_BRANCH, DEFAULT_REGION, defaultReview } from './template.ts';
import { activeValues, belongsInLog, currentStep, gateEntry, isOpenMustFix } from './write.ts';

/** A new file in the newest form, with keys in the template's order. */
export function newState(model: RunModel, project: string, now: string): string {
  const kept = (model.kept?.['apex'] ?? {}) as Kept;
  const { iac_tool, region, review_audit, ...others } = kept.top ?? {};
  const values = activeValues(model.decisions);
  const tool = (iac_tool as string | undefined) ?? values.get('iac_tool') ?? '';
  const idFor = decisionIds(model.decisions.map(({ alias }) => alias));
  const gates = explicitGates(model);
  const state = {
    schema_version: CURRENT_VERSION,
    project,
    ...(model.run.title === project ? {} : { title: model.run.title }),
    ...(model.run.status === derivedStatus(model.steps) ? {} : { workflow_status: model.run.status }),
    iac_tool: tool,
    region: region ?? values.get('region') ?? DEFAULT_REGION,
    branch: model.run.branch ?? DEFAULT_BRANCH,
    updated: stamp(model.run.updatedAt ?? now),
    current_step: currentStep(model.steps) ?? 0,
    // A region that was not chosen is not written as a decision, unlike in the template.
    decisions: { ...Object.fromEntries(DECISION_KEYS.map((key) => [key, ''])), ...Object.fromEntries(values) },
    open_findings: model.items.filter(isOpenMustFix).map(({ text }) => text),
    decision_log: model.decisions
      .filter(belongsInLog)
      .map((decision) => newDecision(decision, 'A', idFor(decision.alias), false)),
    review_audit: review_audit ?? defaultReview(),
    steps: new Map(model.steps.map((step) => [step.key, newStep(step, tool, kept)])),
    ...(Object.keys(gates).length > 0 ? { gates } : {}),
    ...others,
  };
  return `${writeJson(state, '  ')}\n`;
}

/** Whether an approval does not follow from the steps. */
function explicitGates(model: RunModel): Record<string, unknown> {
  const implied = impliedGates(model.steps);
  const gates: Record<string, unknown> = {};
  for (const { key, gate } of model.steps) {
    if (!gate) continue;
    const name = gateBefore(key);
    const follows = implied.get(name)?.state === gate.state && gate.by === undefined && gate.at === undefined;
    if (!follows && (gate.state === 'open' || !(name in gates))) gates[name] = gateEntry(gate);
  }
  return gates;
}
