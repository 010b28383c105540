import type { Format, FormatName } from './format.ts';

/** The one list of other tools' formats. Each is loaded when a file of its kind is to be read or written. */
export const formats = {
  apex: () => import('./apex/format.ts').then((module) => module.apex),
  maestro: () => import('./maestro/format.ts').then((module) => module.maestro),
} as { readonly [N in FormatName]: () => Promise<Format> };

export const formatNames = Object.keys(formats) as FormatName[];
