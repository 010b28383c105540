import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Input, OperationName, Refused } from './api.ts';
import { copyText } from './copy.tsx';
import { Fault } from './parts.tsx';
import { asRefused, mayMaintain, mayWrite, perform } from './state.ts';
import { Line } from './words.tsx';

/** Something a person can do, with the fields of its form. */
export interface Action {
  title: string;
  /** The text it is about, written by others. */
  about?: string;
  explain?: string;
  fields: readonly Field[];
  /** The verb and what it is done to: `Skip p3.7`. */
  submit: string;
  /** It cannot be taken back. */
  isGrave?: boolean;
  /** The command that does the same. */
  command: string;
  run(values: Readonly<Record<string, string>>): Promise<unknown>;
}

export interface Field {
  name: string;
  label: string;
  kind: 'line' | 'text' | 'choice';
  choices?: readonly { value: string; label: string }[];
  optional?: boolean;
}

const asked = signal<Action | null>(null);

export function ask(action: Action): void {
  asked.value = action;
}

/** Opens the form of an action; disabled, with the reason, if the token does not allow it. */
export function ActionButton({
  label,
  about,
  action,
  scope = 'write',
  quiet = false,
}: {
  label: string;
  /** What it acts on, for screen readers. */
  about: string;
  action: () => Action;
  scope?: 'write' | 'maintain';
  quiet?: boolean;
}) {
  const may = scope === 'maintain' ? mayMaintain.value : mayWrite.value;
  return (
    <button
      type="button"
      class={quiet ? 'button button-quiet' : 'button'}
      disabled={!may}
      title={may ? undefined : `Your token does not allow this: it needs the scope ${scope}.`}
      aria-label={`${label}: ${about}`}
      data-command={action().command}
      onClick={() => ask(action())}
    >
      {label}
    </button>
  );
}

/** Submits the form's values as the input of an operation. */
export function calls<Name extends OperationName>(
  name: Name,
  run: string,
  done: string,
  input: (values: Readonly<Record<string, string>>) => Input<Name>,
): Action['run'] {
  return (values) => perform(name, input(values), run, done);
}

/** What was typed into a form that was closed without sending it. */
const drafts = new Map<string, Record<string, string>>();

export function ActionDialog() {
  const action = asked.value;
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (action && !box.current?.open) box.current?.showModal();
  }, [action]);
  const close = (): void => {
    box.current?.close();
    asked.value = null;
  };
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-labelledby="dialog-title"
      onClose={() => {
        asked.value = null;
      }}
    >
      {action && <ActionForm key={action.title} action={action} close={close} />}
    </dialog>
  );
}

function ActionForm({ action, close }: { action: Action; close: () => void }) {
  const [values, setValues] = useState<Record<string, string>>(drafts.get(action.title) ?? {});
  const [fault, setFault] = useState<Refused | null>(null);
  const [busy, setBusy] = useState(false);
  const isComplete = action.fields.every((field) => field.optional || values[field.name]?.trim());
  const change = (name: string, value: string): void => {
    const next = { ...values, [name]: value };
    setValues(next);
    drafts.set(action.title, next);
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!isComplete) return;
    setBusy(true);
    try {
      await action.run(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()])));
      drafts.delete(action.title);
      close();
    } catch (thrown) {
      setFault(asRefused(thrown));
    }
    setBusy(false);
  };
  return (
    <form onSubmit={submit}>
      <h2 id="dialog-title">{action.title}</h2>
      {action.about && (
        <blockquote>
          <Line text={action.about} chars={400} />
        </blockquote>
      )}
      {action.explain && <p class="dim">{action.explain}</p>}
      {action.fields.map((field) => (
        <FieldInput key={field.name} field={field} value={values[field.name] ?? ''} change={change} />
      ))}
      {fault && <Fault fault={fault} />}
      <div class="dialog-buttons">
        <button
          type="button"
          class="link dialog-command"
          title={action.command}
          onClick={() => void copyText(action.command)}
        >
          Copy as a command
        </button>
        <button type="button" class="button button-quiet" onClick={close}>
          Cancel
        </button>
        <button
          type="submit"
          class={action.isGrave ? 'button button-grave' : 'button button-main'}
          disabled={busy || !isComplete}
        >
          {action.submit}
        </button>
      </div>
    </form>
  );
}

function FieldInput({
  field,
  value,
  change,
}: {
  field: Field;
  value: string;
  change: (name: string, value: string) => void;
}) {
  const { name, label, kind, choices = [], optional = false } = field;
  const id = `field-${name}`;
  if (kind === 'choice') {
    return (
      <fieldset class="field choices">
        <legend>{label}</legend>
        {choices.map(({ value: one, label: words }) => (
          <label key={one} class="choice">
            <input type="radio" name={name} value={one} checked={value === one} onChange={() => change(name, one)} />
            {words}
          </label>
        ))}
      </fieldset>
    );
  }
  const shared = {
    id,
    name,
    value,
    dir: 'auto',
    required: !optional,
    onInput: (event: { currentTarget: { value: string } }) => change(name, event.currentTarget.value),
  } as const;
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <span class="dim"> (optional)</span>}
      </label>
      {kind === 'text' ? <textarea {...shared} rows={4} /> : <input {...shared} autoComplete="off" />}
    </div>
  );
}
