import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Input, OperationName, Refused } from './api.ts';
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
  submit: string;
  run(values: Readonly<Record<string, string>>): Promise<unknown>;
}

export interface Field {
  name: string;
  label: string;
  kind: 'line' | 'text' | 'choice';
  choices?: readonly { value: string; label: string }[];
  optional?: boolean;
  initial?: string;
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

export function ActionDialog() {
  const action = asked.value;
  const box = useRef<HTMLDialogElement>(null);
  const [fault, setFault] = useState<Refused | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    setFault(null);
    if (action && !box.current?.open) box.current?.showModal();
  }, [action]);
  const close = (): void => {
    box.current?.close();
    asked.value = null;
  };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const values = Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim()]));
    setBusy(true);
    try {
      await action?.run(values);
      close();
    } catch (thrown) {
      setFault(asRefused(thrown));
    }
    setBusy(false);
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
      {action && (
        <form onSubmit={submit} key={action.title}>
          <h2 id="dialog-title">{action.title}</h2>
          {action.about && (
            <blockquote>
              <Line text={action.about} chars={400} />
            </blockquote>
          )}
          {action.explain && <p class="dim">{action.explain}</p>}
          {action.fields.map((field) => (
            <FieldInput key={field.name} field={field} />
          ))}
          {fault && <Fault fault={fault} />}
          <div class="dialog-buttons">
            <button type="button" class="button button-quiet" onClick={close}>
              Cancel
            </button>
            <button type="submit" class="button button-main" disabled={busy}>
              {action.submit}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}

function FieldInput({ field }: { field: Field }) {
  const { name, label, kind, choices = [], optional = false, initial = '' } = field;
  const id = `field-${name}`;
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <span class="dim"> (optional)</span>}
      </label>
      {kind === 'choice' ? (
        <select id={id} name={name}>
          {choices.map(({ value, label: words }) => (
            <option key={value} value={value} selected={value === initial}>
              {words}
            </option>
          ))}
        </select>
      ) : kind === 'text' ? (
        <textarea id={id} name={name} rows={4} required={!optional} dir="auto" defaultValue={initial} />
      ) : (
        <input id={id} name={name} required={!optional} dir="auto" autoComplete="off" defaultValue={initial} />
      )}
    </div>
  );
}
