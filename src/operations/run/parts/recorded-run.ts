import * as v from 'valibot';
import type { Run } from '../../../core/fold/state.ts';
import { shaped } from '../../operation.ts';

/** A run as the journal has it. */
export const RecordedRun = shaped<Run>({ id: v.string(), title: v.string(), status: v.string() });
