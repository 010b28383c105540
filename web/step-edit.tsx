import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { oneLine } from '../src/core/text.ts';
import type { Input, Refused } from './api.ts';
import { Fault } from './parts.tsx';
import type { StepLine } from './run.ts';
import { asRefused, mayWrite, perform, useAnswer } from './state.ts';
import { Line } from './words.tsx';

type Patch = Omit<Input<'plan.set'>, 'key'>;

/** Saves a change of the plan, and keeps the refusal for the field it belongs to. */
function useSave(run: string, key: string) {
  const [fault, setFault] = useState<Refused | null>(null);
  const save = async (patch: Patch): Promise<boolean> => {
    try {
      await perform('plan.set', { key, ...patch }, run, `${key} is changed.`);
      setFault(null);
      return true;
    } catch (thrown) {
      setFault(asRefused(thrown));
      return false;
    }
  };
  return { save, fault };
}

/** The title, edited in place. */
export function StepTitle({ run, step }: { run: string; step: StepLine }) {
  const [typed, setTyped] = useState<string | null>(null);
  const { save, fault } = useSave(run, step.key);
  if (typed === null) {
    return (
      <h2 class="detail-title">
        <Line text={step.title} chars={400} />
        {mayWrite.value && (
          <button
            type="button"
            class="link"
            aria-label={`Edit the title of ${step.key}`}
            onClick={() => setTyped(step.title)}
          >
            edit
          </button>
        )}
      </h2>
    );
  }
  return (
    <form
      class="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save({ title: typed.trim() }).then((isSaved) => isSaved && setTyped(null));
      }}
    >
      <h2 class="hidden">{step.title}</h2>
      <input
        aria-label={`Title of ${step.key}`}
        dir="auto"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button type="submit" class="button button-main" disabled={typed.trim() === ''}>
        Save title
      </button>
      <button type="button" class="button button-quiet" onClick={() => setTyped(null)}>
        Cancel
      </button>
      {fault && <Fault fault={fault} />}
    </form>
  );
}

/** Where the step is in the plan and what it waits for. */
export function StepEdit({ run, step }: { run: string; step: StepLine }) {
  const { data } = useAnswer('status', {}, run);
  if (!mayWrite.value || !data) return null;
  const steps = data.steps.filter(({ key }) => key !== step.key);
  const below = new Set([step.key]);
  for (const one of data.steps) if (one.parent !== null && below.has(one.parent)) below.add(one.key);
  const parents = steps.filter((one) => !below.has(one.key) && (one.kind === 'phase' || isParent(one, data.steps)));
  return (
    <section class="part">
      <h3>Place in the plan</h3>
      <div class="edit-grid">
        <ParentField run={run} step={step} parents={parents} />
        <ListField
          run={run}
          step={step}
          label="After"
          hint="keys of steps"
          value={step.after}
          patch={(after) => ({ after })}
        />
        <ListField
          run={run}
          step={step}
          label="Agents"
          hint="names"
          value={step.agents}
          patch={(agents) => ({ agents })}
        />
        <GateField run={run} step={step} />
      </div>
    </section>
  );
}

const isParent = ({ key }: StepLine, steps: readonly StepLine[]): boolean => steps.some(({ parent }) => parent === key);

function Labelled({
  id,
  label,
  children,
  fault,
}: {
  id: string;
  label: string;
  children: ComponentChildren;
  fault: Refused | null;
}) {
  return (
    <Fragment>
      <label for={id}>{label}</label>
      <div class="edit-value">
        {children}
        {fault && <Fault fault={fault} />}
      </div>
    </Fragment>
  );
}

function ParentField({ run, step, parents }: { run: string; step: StepLine; parents: readonly StepLine[] }) {
  const { save, fault } = useSave(run, step.key);
  return (
    <Labelled id="edit-parent" label="Part of" fault={fault}>
      <select
        id="edit-parent"
        value={step.parent ?? ''}
        onChange={(event) => void save({ parent: event.currentTarget.value })}
      >
        {step.parent === null && <option value="">the plan itself</option>}
        {parents.map(({ key, title }) => (
          <option key={key} value={key}>
            {key} {oneLine(title, 60)}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

interface ListProps {
  run: string;
  step: StepLine;
  label: string;
  hint: string;
  value: readonly string[];
  patch: (list: string[]) => Patch;
}

function ListField({ run, step, label, hint, value, patch }: ListProps) {
  const { save, fault } = useSave(run, step.key);
  const recorded = value.join(', ');
  const [typed, setTyped] = useState(recorded);
  const id = `edit-${label.toLowerCase()}`;
  const list = typed.split(/[\s,]+/).filter(Boolean);
  return (
    <Labelled id={id} label={label} fault={fault}>
      <form
        class="edit-line"
        onSubmit={(event) => {
          event.preventDefault();
          void save(patch(list));
        }}
      >
        <input
          id={id}
          placeholder={`${hint}, with commas`}
          autoComplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button
          type="submit"
          class="button"
          disabled={list.join(', ') === recorded}
          aria-label={`Save ${label.toLowerCase()}`}
        >
          Save
        </button>
      </form>
    </Labelled>
  );
}

function GateField({ run, step }: { run: string; step: StepLine }) {
  const { save, fault } = useSave(run, step.key);
  return (
    <Labelled id="edit-gate" label="Gate" fault={fault}>
      <label class="toggle">
        <input
          id="edit-gate"
          type="checkbox"
          checked={step.gate !== null}
          onChange={(event) => void save({ gate: event.currentTarget.checked })}
        />
        A person opens it before it starts
      </label>
    </Labelled>
  );
}
