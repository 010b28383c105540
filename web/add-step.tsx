import { useEffect, useRef, useState } from 'preact/hooks';
import type { Refused } from './api.ts';
import { Fault } from './parts.tsx';
import { asRefused, perform } from './state.ts';

interface AddStepProps {
  run: string;
  /** Null adds it at the top of the plan's tree. */
  parent: string | null;
  isOpen: boolean;
  open: (is: boolean) => void;
}

/** What was typed and not added, by its place. */
const drafts = new Map<string, string>();

export function AddStep({ run, parent, isOpen, open }: AddStepProps) {
  const place = `${run} ${parent ?? ''}`;
  const [title, setTitle] = useState(drafts.get(place) ?? '');
  const [fault, setFault] = useState<Refused | null>(null);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isOpen) box.current?.focus();
  }, [isOpen]);
  const type = (text: string): void => {
    setTitle(text);
    drafts.set(place, text);
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await perform('plan.add', { title: title.trim(), ...(parent === null ? {} : { parent }) }, run, 'Added.');
      setFault(null);
      type('');
      box.current?.focus();
    } catch (thrown) {
      setFault(asRefused(thrown));
    }
  };
  if (!isOpen) {
    return (
      <button
        type="button"
        class="add-step"
        data-key={parent === null ? 'add' : undefined}
        aria-label={parent === null ? 'Add step' : `Add step to ${parent}`}
        onClick={() => open(true)}
      >
        + Add step
      </button>
    );
  }
  return (
    <form
      class="add-form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') open(false);
      }}
    >
      <input
        ref={box}
        aria-label={parent === null ? 'Title of the new step' : `Title of the new step of ${parent}`}
        placeholder="What is to be done"
        dir="auto"
        autoComplete="off"
        value={title}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <button type="submit" class="button button-main" disabled={title.trim() === ''}>
        Add step
      </button>
      <button type="button" class="button button-quiet" onClick={() => open(false)}>
        Cancel
      </button>
      {fault && <Fault fault={fault} />}
    </form>
  );
}
