/** Drops fields that are undefined, so that spreading a patch does not overwrite with nothing. */
export function defined<T extends object>(patch: T): Defined<T> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
