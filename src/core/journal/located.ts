import type { Draft } from './event.ts';

/** The machine and the clone that an engine records from; null where they are not known. */
export interface Here {
  machine: string | null;
  clone: string | null;
}

/** Processes and files are named with where they are: elsewhere, a process has another number and a file other content. */
export function located(drafts: readonly Draft[], here: () => Here): Draft[] {
  return drafts.map((draft) => {
    const { owner, mark } = draft.body as Located;
    const isOpening = draft.type === 'run.opened';
    if (!owner && !mark && !isOpening) return draft;
    const { clone } = here();
    const ofClone = clone === null ? {} : { clone };
    const machine = owner ? here().machine : null;
    const ofMachine = machine === null ? {} : { machine };
    const body = {
      ...draft.body,
      ...(owner && { owner: { ...ofMachine, ...ofClone, ...owner } }),
      ...(mark && { mark: { ...ofClone, ...mark } }),
      ...(isOpening && ofClone),
    };
    return { ...draft, body } as Draft;
  });
}

interface Located {
  owner?: object | undefined;
  mark?: object | undefined;
}
