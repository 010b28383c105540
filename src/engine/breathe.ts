/** Between two pages of a long journal: what else this process has to do, such as giving up in time, comes first. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
