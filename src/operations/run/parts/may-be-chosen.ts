import type { Head } from '../../../store/journal.ts';

/** An imported run, and one of a copied folder, is used only when it is named; from then on it is a run like any other. */
export function mayBeChosen({ position }: Pick<Head, 'position'>): boolean {
  return !position.isUntouched && position.importing === undefined;
}
