import type { Format, FormatName } from './format.ts';
import { withHouseRules } from './house-rules.ts';

/** The list of all formats. Each is loaded when a file of its kind is read or written. */
export const formats: { readonly [N in FormatName]: () => Promise<Format> } = {
  apex: () => import('./apex/format.ts').then((module) => withHouseRules(module.apex)),
  codewalk: () => import('./codewalk/format.ts').then((module) => withHouseRules(module.codewalk)),
  gsd: () => import('./gsd/format.ts').then((module) => withHouseRules(module.gsd)),
  maestro: () => import('./maestro/format.ts').then((module) => withHouseRules(module.maestro)),
  snap: () => import('./snap/format.ts').then((module) => withHouseRules(module.snap)),
};

export const formatNames = Object.keys(formats) as FormatName[];
