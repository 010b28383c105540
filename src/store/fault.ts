import { Fault } from '../core/fault.ts';

/** The fault of opening a database that a newer program wrote. */
export function newerSchema(where: { file: string } | { place: string }, version: number, known: number): Fault {
  const place = 'file' in where ? where.file : where.place;
  return new Fault(
    'newer_schema',
    `The journal ${place} was written by a newer Holdfast (schema ${version}, known here: ${known}).`,
    { hints: ['Update Holdfast; the journal was not changed.'], data: { ...where, version, known } },
  );
}

export function badCursor(cursor: string): Fault {
  return new Fault('invalid', `${JSON.stringify(cursor.slice(0, 80))} is not a cursor of this journal's feed.`, {
    hints: ['Start without a cursor, or from `now`.'],
  });
}
