import type * as v from 'valibot';
import type { OperationName, operations } from './operations/index.ts';

type Loaded<Name extends OperationName> = Awaited<ReturnType<(typeof operations)[Name]>>;

/** What the method of an operation takes, and what it answers. */
export type Input<Name extends OperationName> = v.InferInput<Loaded<Name>['input']>;
export type Output<Name extends OperationName> = v.InferOutput<Loaded<Name>['output']>;
